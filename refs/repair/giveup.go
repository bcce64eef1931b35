package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// recursive reports whether the lost object is a commit or a directory, so that everything below it is lost too.
func (l Loss) recursive() bool {
	levels := 6 // path components of a file
	if len(l.Path) > 0 && l.Path[0] == "streams" {
		levels = 7
	}
	return len(l.Path) < levels
}

// GiveUp continues without lost objects; call [FixRepositories] first. Each lane of this device in memory.git that
// lacks a commit or a directory restarts as one commit without a parent. It contains the intact objects of the lane,
// the records for which keep returns true, the growth points that they name, and the streams up to those points. The
// argument has of keep reports whether content is intact. Branches of any device without a readable commit are no
// longer expected. GiveUp deletes nothing, but a later sweep deletes what has become unreachable. With dryRun it only
// returns the fixes that it would make.
func GiveUp(ctx context.Context, r *refs.Repo, dryRun bool, lost []Loss,
	keep func(r refs.Record, has func(objects.Hash) bool) bool) ([]Fix, error) {
	x := &repair{fixer: fixer{store: r.Dir(), dryRun: dryRun}, r: r, Part: r.Parts()[0], ctx: ctx}
	var lanes []refs.Lane
	for _, l := range lost {
		if l.recursive() && !l.Patches() && l.Lane.Device == r.Device().ID && l.Lane.Project != refs.Home &&
			!slices.Contains(lanes, l.Lane) {
			lanes = append(lanes, l.Lane)
		}
	}
	for _, l := range lanes {
		if err := x.restart(l, keep); err != nil {
			return x.fixes, err
		}
	}
	gone, err := x.lostBranches()
	if err != nil {
		return x.fixes, err
	}
	for _, name := range gone {
		if !dryRun {
			if err := r.Git().Unregister(name); err != nil {
				return x.fixes, err
			}
		}
		x.add(Fix{Where: refs.MemoryDir + "/" + name, What: "the branch is missing", Done: "given up"})
	}
	return x.fixes, nil
}

// lostBranches returns the names of known branches that do not exist any more.
func (x *repair) lostBranches() (gone []string, err error) {
	known, err := x.Git.RegisteredRefs()
	if err != nil {
		return nil, err
	}
	branches, err := x.Git.VerifyRefs(func(string, string, error) {})
	if err != nil {
		return nil, err
	}
	for _, name := range known {
		if _, _, ok := lane.SplitRef(name); ok && !contains(branches, name) {
			gone = append(gone, name)
		}
	}
	return gone, nil
}

// restart restarts a lane with its intact files. A nil keep keeps all records.
func (x *repair) restart(l refs.Lane, keep func(refs.Record, func(objects.Hash) bool) bool) error {
	done := "restarted with its intact files"
	if !x.dryRun {
		kept, err := x.restartLane(l, keep)
		if err != nil {
			return fmt.Errorf("restart %s: %w", l.Ref(), err)
		}
		done = fmt.Sprintf("restarted with its %d intact files", kept)
	}
	x.add(Fix{Where: x.Part.Dir + "/" + l.Ref(), What: "objects of it are lost", Done: done})
	return nil
}

// An intactFiles contains the intact files of a lane.
type intactFiles struct {
	lamport  uint64
	device   bool                    // it contains the device record
	files    map[string]pack.ID      // files of no other kind, by path
	records  map[string]file         // by path
	points   map[string]file         // by name
	segments map[string]map[int]file // by stream and number
}

type file struct {
	path   []string
	id     pack.ID
	point  lane.Point
	record refs.Record
}

// collectIntact collects the intact files of all commits of a lane.
func (x *repair) collectIntact(l refs.Lane) (*intactFiles, error) {
	s := &intactFiles{files: map[string]pack.ID{}, records: map[string]file{}, points: map[string]file{},
		segments: map[string]map[int]file{}}
	return s, x.walkIntact(l, s.add)
}

func (s *intactFiles) add(path []string, id pack.ID, b []byte) {
	switch {
	case path[0] == "points":
		p := file{path: path, id: id}
		if json.Unmarshal(b, &p.point) == nil {
			s.points[strings.Join(path[1:], "")] = p
		}
	case path[0] == "streams" && len(path) == 7:
		n, err := strconv.Atoi(path[6])
		if name := strings.Join(path[1:5], ""); err == nil {
			if s.segments[name] == nil {
				s.segments[name] = map[int]file{}
			}
			s.segments[name][n] = file{path: path, id: id}
		}
	case path[0] == "records":
		h, err := lane.PathHash(path)
		if err != nil {
			return
		}
		r, err := lane.CheckRecord(b, h)
		if err != nil {
			return // damaged, so it is one of the losses
		}
		s.records[strings.Join(path, "/")] = file{path: path, id: id, record: r}
		s.device = s.device || r.Kind == "device"
		s.lamport = max(s.lamport, r.Lamport)
	default:
		s.files[strings.Join(path, "/")] = id
	}
}

// has reports whether content is intact.
func (s *intactFiles) has(h objects.Hash) bool {
	p, ok := s.points[h.String()]
	_, plain := s.files[strings.Join(lane.ObjectPath(h), "/")]
	return plain || ok && s.complete(p.point)
}

// complete reports whether all segments of a growth point are intact.
func (s *intactFiles) complete(p lane.Point) bool {
	in := s.segments[p.Stream.String()]
	for i := range p.Segments {
		if _, ok := in[i]; !ok {
			return false
		}
	}
	return p.Segments > 0
}

// fill adds the useful files to a new lane and returns their number. Segments past the last named growth point are
// left out: they would conflict with the next capture of their session.
func (s *intactFiles) fill(root *lane.Dir, g *gitstore.Repo,
	keep func(refs.Record, func(objects.Hash) bool) bool) (kept int, err error) {
	use := maps.Clone(s.files)
	named := map[string]bool{}
	for path, p := range s.records {
		if keep == nil || keep(p.record, s.has) {
			use[path] = p.id
			for _, name := range objects.NamesIn(string(p.record.Body)) {
				named[name] = true
			}
		}
	}
	needed := map[objects.Hash]int{} // segments by stream
	for name, p := range s.points {
		if named[name] && s.complete(p.point) {
			use[strings.Join(p.path, "/")] = p.id
			needed[p.point.Stream] = max(needed[p.point.Stream], p.point.Segments)
		}
	}
	for h, n := range needed {
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
