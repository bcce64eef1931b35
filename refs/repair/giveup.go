package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// Wide reports whether a loss is more than a file: a commit or a directory, past which nothing can be found.
func (l Loss) Wide() bool {
	levels := 6 // of a file
	if len(l.Path) > 0 && l.Path[0] == "streams" {
		levels = 7
	}
	return len(l.Path) < levels
}

// GiveUp goes on without what is lost for good. Each lane of this device in memory.git of which a commit or a
// directory is lost begins anew, as one commit without a parent: with the objects of it that are good, the
// records that keep returns true for, the growth points that they name, and streams as far as those reach. What
// is left of content keep is told by has. A branch of which no commit is left is not missed any more, whoever's
// it was. Nothing is deleted here, but what nothing leads to goes in time. With dryRun it says what it would
// do. What can be brought back must have been before.
func GiveUp(ctx context.Context, r *refs.Repo, dryRun bool, lost []Loss,
	keep func(r refs.Record, has func(objects.Hash) bool) bool) ([]Mending, error) {
	x := &repair{mender: mender{store: r.Dir(), dryRun: dryRun}, r: r, Part: r.Parts()[0], ctx: ctx}
	var lanes []refs.Lane
	for _, l := range lost {
		if l.Wide() && !l.Patches() && l.Lane.Device == r.Device().ID && l.Lane.Project != refs.Home &&
			!slices.Contains(lanes, l.Lane) {
			lanes = append(lanes, l.Lane)
		}
	}
	for _, l := range lanes {
		if err := x.anew(l, keep); err != nil {
			return x.did, err
		}
	}
	gone, err := x.goneBranches()
	if err != nil {
		return x.did, err
	}
	for _, name := range gone {
		if !dryRun {
			if err := r.Git().Unknow(name); err != nil {
				return x.did, err
			}
		}
		x.note(Mending{Where: refs.MemoryDir + "/" + name, What: "the branch is gone", Done: "it is not missed any more"})
	}
	return x.did, nil
}

// goneBranches returns the names of branches that were here, and of which nothing is.
func (x *repair) goneBranches() (gone []string, err error) {
	known, err := x.Git.Known()
	if err != nil {
		return nil, err
	}
	branches, err := x.Git.VerifyRefs(func(string, string, error) {})
	if err != nil {
		return nil, err
	}
	for _, name := range known {
		if _, _, ok := lane.Split(name); ok && !slices.ContainsFunc(branches, func(r gitstore.Ref) bool {
			return r.Name == name
		}) {
			gone = append(gone, name)
		}
	}
	return gone, nil
}

// anew lets a lane begin anew with what is good in it.
func (x *repair) anew(l refs.Lane, keep func(refs.Record, func(objects.Hash) bool) bool) error {
	done := "begun anew with what is good in it"
	if !x.dryRun {
		kept, err := x.reroot(l, keep)
		if err != nil {
			return fmt.Errorf("restart %s: %w", l.Ref(), err)
		}
		done = fmt.Sprintf("begun anew with the %d files of it that are good", kept)
	}
	x.note(Mending{Where: x.Part.Dir + "/" + l.Ref(), What: "something of it is lost", Done: done})
	return nil
}

// A salvage is what is good in a lane.
type salvage struct {
	lamport  uint64
	device   bool                      // a record of the device is among it
	files    map[string]pack.ID        // all that is not below, by path
	records  map[string]placed         // by path
	points   map[string]placed         // by name
	segments map[string]map[int]placed // by stream and number
}

type placed struct {
	path   []string
	id     pack.ID
	point  lane.Point
	record refs.Record
}

// salvage collects all that is good in the commits of a lane, the newest first.
func (x *repair) salvage(l refs.Lane) (*salvage, error) {
	s := &salvage{files: map[string]pack.ID{}, records: map[string]placed{}, points: map[string]placed{},
		segments: map[string]map[int]placed{}}
	return s, x.eachGood(l, func(path []string, id pack.ID, b []byte) error {
		s.take(path, id, b)
		return nil
	})
}

// hashes returns what a record names things by.
func hashes(body []byte) []string { return hashGrammar().FindAllString(string(body), -1) }

var hashGrammar = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9a-f]{64}`) })

func (s *salvage) take(path []string, id pack.ID, b []byte) {
	switch {
	case path[0] == "points":
		p := placed{path: path, id: id}
		if json.Unmarshal(b, &p.point) == nil {
			s.points[strings.Join(path[1:], "")] = p
		}
	case path[0] == "streams" && len(path) == 7:
		n, err := strconv.Atoi(path[6])
		if name := strings.Join(path[1:5], ""); err == nil {
			if s.segments[name] == nil {
				s.segments[name] = map[int]placed{}
			}
			s.segments[name][n] = placed{path: path, id: id}
		}
	case path[0] == "records":
		h, err := objects.ParseHash(strings.TrimSuffix(strings.Join(path[1:], ""), ".json"))
		if err != nil {
			return
		}
		r, err := lane.CheckRecord(b, h)
		if err != nil {
			return // it is damaged, and among what is lost
		}
		s.records[strings.Join(path, "/")] = placed{path: path, id: id, record: r}
		s.device = s.device || r.Kind == "device"
		s.lamport = max(s.lamport, r.Lamport)
	default:
		s.files[strings.Join(path, "/")] = id
	}
}

// has reports whether content is there, whole.
func (s *salvage) has(h objects.Hash) bool {
	p, ok := s.points[h.String()]
	_, plain := s.files[strings.Join(lane.ObjectPath(h), "/")]
	return plain || ok && s.whole(p.point)
}

// whole reports whether all segments of a growth point are there.
func (s *salvage) whole(p lane.Point) bool {
	in := s.segments[p.Stream.String()]
	for i := range p.Segments {
		if _, ok := in[i]; !ok {
			return false
		}
	}
	return p.Segments > 0
}

// fill puts into a new lane what is of use: a stream that no growth point names would be in the way of its
// session when that is captured again. It returns how many files that is.
func (s *salvage) fill(root *lane.Dir, g *gitstore.Repo,
	keep func(refs.Record, func(objects.Hash) bool) bool) (kept int, err error) {
	use := maps.Clone(s.files)
	named := map[string]bool{}
	for path, p := range s.records {
		if keep == nil || keep(p.record, s.has) {
			use[path] = p.id
			for _, name := range hashes(p.record.Body) {
				named[name] = true
			}
		}
	}
	reach := map[objects.Hash]int{}
	for name, p := range s.points {
		if named[name] && s.whole(p.point) {
			use[strings.Join(p.path, "/")] = p.id
			reach[p.point.Stream] = max(reach[p.point.Stream], p.point.Segments)
		}
	}
	for h, n := range reach {
		for _, p := range s.segments[h.String()] {
			if path := strings.Join(p.path, "/"); path < strings.Join(lane.SegmentPath(h, n), "/") {
				use[path] = p.id
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(use)) {
		if _, err := root.Set(g, use[path], strings.Split(path, "/")...); err != nil {
			return 0, err
		}
	}
	return len(use), nil
}
