package derive

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/repair"
)

// A LossExplainer determines from the readable records which data lost objects contained.
type LossExplainer struct {
	M        Ops
	Projects map[refs.Project]*ProjectRecords
	Streams  map[string]bool // already reported, by lane and name
	Out      []LostData
}

// ProjectRecords contains the readable records of a project.
type ProjectRecords struct {
	name      string
	records   []refs.Record
	Snapshots []records.Snapshot
	ids       []objects.Hash // of the records of Snapshots
	devices   []string       // of the records of Snapshots
}

// Project returns the readable records of a project, loaded once.
func (x *LossExplainer) Project(p refs.Project) *ProjectRecords {
	if r, ok := x.Projects[p]; ok {
		return r
	}
	r := &ProjectRecords{name: string(p), records: repair.ReadableRecords(x.M.Refs, p)}
	if p == refs.Home {
		r.name = "this device's own"
	}
	for _, rec := range r.records {
		switch rec.Kind {
		case records.KindProject:
			var b records.ProjectBody
			if json.Unmarshal(rec.Body, &b) == nil {
				r.name = b.Name
			}
		case records.KindSession:
			var s records.Snapshot
			if json.Unmarshal(rec.Body, &s) == nil {
				r.Snapshots, r.ids, r.devices = append(r.Snapshots, s), append(r.ids, rec.ID), append(r.devices, rec.Device)
			}
		}
	}
	x.Projects[p] = r
	return r
}

// Loss appends a description of a loss to Out.
func (x *LossExplainer) Loss(l repair.Loss) {
	p := x.Project(l.Lane.Project)
	lost := LostData{Project: p.name, Session: l.Session, What: DescribeLoss(l)}
	if l.Commit != "" {
		lost.What += fmt.Sprintf(", of the commit %q", l.Commit)
	}
	whole := ""
	if len(l.Path) > 0 {
		whole = strings.TrimSuffix(strings.Join(l.Path[1:], ""), ".json")
	}
	h, err := objects.ParseHash(whole)
	switch {
	case len(l.Path) == 7 && l.Path[0] == "streams":
		if x.stream(p, l, strings.Join(l.Path[1:5], "")) {
			return
		}
	case len(l.Path) > 1 && len(l.Path) < 7 && l.Path[0] == "streams" && !l.Old:
		if x.streamsIn(p, l, strings.Join(l.Path[1:], "")) {
			return
		}
	case err != nil || len(l.Path) == 0:
	case l.Path[0] == "patches":
		x.patch(p, h, &lost)
	case l.Path[0] == "objects":
		p.object(whole, &lost)
	case l.Path[0] == "points":
		for _, s := range p.Snapshots {
			if s.Original == h {
				lost.Session, lost.What = s.Session, fmt.Sprintf("the name of the session as it was at message %d", s.Scan.Values)
			}
		}
	}
	x.Out = append(x.Out, lost)
}

// stream reports the messages of a session from the first lost segment on. Later segments cannot be read: each is
// compressed with the preceding one as dictionary.
func (x *LossExplainer) stream(p *ProjectRecords, l repair.Loss, digits string) bool {
	name, err := objects.ParseHash(digits)
	if err != nil || x.Streams[l.Lane.Ref()+digits] {
		return err == nil
	}
	x.Streams[l.Lane.Ref()+digits] = true
	for i := len(p.Snapshots) - 1; i >= 0; i-- {
		s := p.Snapshots[i]
		if k := slices.IndexFunc(s.Files, func(f records.FileRef) bool { return stream.Whole(f.Hash) == name }); k >= 0 {
			x.Out = append(x.Out, LostData{Project: p.name, Session: s.Session, What: "the file " + s.Files[k].Name})
			return true
		}
		if stream.Name(s.Session, s.Generation) != name {
			continue
		}
		sc := transcript.NewScanner(transcript.Carry{}, func(b []byte) [32]byte { return objects.Sum(b) })
		// the stream ends where the damage begins
		_, _ = repair.ReadableStream(x.M.Refs, l.Lane, name).WriteTo(struct{ io.Writer }{sc})
		read := sc.Summary().Carry.Values
		x.Out = append(x.Out, LostData{p.name, s.Session, read + 1, max(s.Scan.Values, read+1),
			"the transcript from there on"})
		return true
	}
	return false
}

// streamsIn reports the streams of a lost directory: those whose names start with the digits.
func (x *LossExplainer) streamsIn(p *ProjectRecords, l repair.Loss, digits string) (found bool) {
	digits, _, _ = strings.Cut(digits, "s") // a directory within a stream
	for _, s := range p.Snapshots {
		names := []objects.Hash{stream.Name(s.Session, s.Generation)}
		for _, f := range s.Files {
			names = append(names, stream.Whole(f.Hash))
		}
		for _, h := range names {
			if name := h.String(); strings.HasPrefix(name, digits) {
				path := append([]string{"streams"}, name[:1], name[1:2], name[2:3], name[3:], "s0000", "000000")
				found = x.stream(p, repair.Loss{Lane: l.Lane, Path: path}, name) || found
			}
		}
	}
	return found
}

// patch describes a lost patch.
func (x *LossExplainer) patch(p *ProjectRecords, h objects.Hash, lost *LostData) {
	for i, s := range p.Snapshots {
		if p.ids[i] == h {
			lost.Session, lost.To = s.Session, s.Scan.Values
			lost.From = 1 + p.before(i)
			lost.What = "the exact bytes of redacted secrets; the clean transcript is not affected"
			return
		}
		for _, f := range s.Files {
			if secrets.FilePatchID(p.ids[i], f.Name) == h {
				lost.Session, lost.What = s.Session, "the exact bytes of secrets redacted from the file "+f.Name
				return
			}
		}
	}
}

// before returns the number of messages of the snapshot before the i-th.
func (p *ProjectRecords) before(i int) int {
	s, most := p.Snapshots[i], 0
	for _, o := range p.Snapshots {
		if o.Session == s.Session && o.Generation == s.Generation && o.Scan.Values < s.Scan.Values {
			most = max(most, o.Scan.Values)
		}
	}
	return most
}

// object describes an object by the records that name it.
func (p *ProjectRecords) object(digits string, lost *LostData) {
	for _, r := range p.records {
		if !strings.Contains(string(r.Body), digits) {
			continue
		}
		var b struct {
			Session string            `json:"session"`
			Label   string            `json:"label"`
			Name    string            `json:"name"`
			Files   []records.FileRef `json:"files"`
		}
		if json.Unmarshal(r.Body, &b) != nil {
			continue
		}
		lost.Session = b.Session
		switch r.Kind {
		case records.KindVersion:
			lost.What = "the text of the version " + b.Label
		case records.KindComposition:
			lost.What = "the text of the composition " + b.Name
		case records.KindSession:
			for _, f := range b.Files {
				if f.Hash.String() == digits {
					lost.What = "the file " + f.Name
				}
			}
		default:
			lost.What = "an object that a record of the kind " + r.Kind + " names"
		}
		if r.Kind == records.KindVersion || r.Kind == records.KindComposition {
			return
		}
	}
}

// PointsOf returns the growth points of the stream that a loss affects, by size; none if it affects no stream.
func (r *ProjectRecords) PointsOf(l repair.Loss) (points []records.Snapshot) {
	in := func(records.Snapshot) bool { return false }
	switch {
	case len(l.Path) == 7 && l.Path[0] == "streams":
		digits := strings.Join(l.Path[1:5], "")
		in = func(s records.Snapshot) bool { return stream.Name(s.Session, s.Generation).String() == digits }
	case len(l.Path) == 6 && l.Path[0] == "points":
		digits := strings.Join(l.Path[1:], "")
		in = func(s records.Snapshot) bool { return s.Original.String() == digits }
	}
	i := slices.IndexFunc(r.Snapshots, in)
	if i < 0 {
		return nil
	}
	for j, s := range r.Snapshots {
		if r.devices[j] == l.Lane.Device && s.Session == r.Snapshots[i].Session && s.Generation == r.Snapshots[i].Generation {
			points = append(points, s)
		}
	}
	slices.SortStableFunc(points, func(a, b records.Snapshot) int { return cmp.Compare(a.Size, b.Size) })
	return points
}

// A LostFile is an overflow file affected by a loss, with its source.
type LostFile struct {
	Path string
	Ref  records.FileRef
	Cwd  string
	One  bool // it is an object, not a stream
}

// FilesOf returns the overflow files that a loss affects, from the records of all devices.
func (r *ProjectRecords) FilesOf(l repair.Loss) (out []LostFile) {
	if len(l.Path) < 6 {
		return nil
	}
	digits := strings.Join(l.Path[1:], "")
	if l.Path[0] == "streams" {
		digits = strings.Join(l.Path[1:5], "")
	}
	sources := map[string]string{}
	for _, s := range r.Snapshots {
		sources[s.Session] = cmp.Or(s.Source, sources[s.Session])
	}
	for _, s := range r.Snapshots {
		dir, ok := strings.CutSuffix(sources[s.Session], ".jsonl")
		for _, f := range s.Files {
			name := f.Hash
			if l.Path[0] == "streams" {
				name = stream.Whole(f.Hash)
			}
			if ok && name.String() == digits && filepath.Base(f.Name) == f.Name {
				out = append(out, LostFile{filepath.Join(dir, "tool-results", f.Name), f, s.Scan.Cwd, l.Path[0] == "objects"})
			}
		}
	}
	return out
}

// LostData describes data that exists nowhere.
type LostData struct {
	Project  string
	Session  string // "" if it belongs to no session
	From, To int    // lost messages, counted from 1; 0 if none
	What     string
}

// DescribeLoss describes a lost commit, directory or file of a lane.
func DescribeLoss(l repair.Loss) string {
	switch {
	case l.Old:
		return "an older commit or a directory of it, " + l.ID.String()[:10] +
			"; the current data of the lane does not need it"
	case len(l.Path) == 0:
		return "the commit or directory " + l.ID.String()[:10]
	case len(l.Path) < 6 || l.Path[0] == "streams" && len(l.Path) < 7:
		return fmt.Sprintf("the directory %s", strings.Join(l.Path, "/"))
	}
	return strings.TrimSuffix(l.Path[0], "s") + " " + strings.TrimSuffix(strings.Join(l.Path[1:], ""), ".json")[:10]
}
