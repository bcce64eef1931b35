package repair

import (
	"bytes"
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

// A lossExplainer determines from the readable records which data lost objects contained.
type lossExplainer struct {
	repo     *refs.Repo
	projects map[refs.Project]*projectRecords
	streams  map[string]bool // already reported, by lane and name
	out      []LostData
}

func newLossExplainer(r *refs.Repo) *lossExplainer {
	return &lossExplainer{repo: r, projects: map[refs.Project]*projectRecords{}, streams: map[string]bool{}}
}

// projectRecords contains the readable records of a project.
type projectRecords struct {
	name      string
	records   []refs.Record
	snapshots []records.Snapshot
	ids       []objects.Hash // of the records of snapshots
	devices   []string       // of the records of snapshots
}

// project returns the readable records of a project, loaded once.
func (x *lossExplainer) project(p refs.Project) *projectRecords {
	if r, ok := x.projects[p]; ok {
		return r
	}
	r := &projectRecords{name: string(p), records: repair.ReadableRecords(x.repo, p)}
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
				r.snapshots, r.ids, r.devices = append(r.snapshots, s), append(r.ids, rec.ID), append(r.devices, rec.Device)
			}
		}
	}
	x.projects[p] = r
	return r
}

// add appends a description of a loss to out.
func (x *lossExplainer) add(l repair.Loss) {
	p := x.project(l.Lane.Project)
	lost := LostData{Project: p.name, Session: l.Session, What: describeLoss(l)}
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
		for _, s := range p.snapshots {
			if s.Original == h {
				lost.Session, lost.What = s.Session, fmt.Sprintf("the name of the session as it was at message %d", s.Scan.Values)
			}
		}
	}
	x.out = append(x.out, lost)
}

// stream reports the messages of a session from the first lost segment on. Later segments cannot be read: each is
// compressed with the preceding one as dictionary.
func (x *lossExplainer) stream(p *projectRecords, l repair.Loss, digits string) bool {
	name, err := objects.ParseHash(digits)
	if err != nil || x.streams[l.Lane.Ref()+digits] {
		return err == nil
	}
	x.streams[l.Lane.Ref()+digits] = true
	for i := len(p.snapshots) - 1; i >= 0; i-- {
		s := p.snapshots[i]
		if k := slices.IndexFunc(s.Files, func(f records.FileRef) bool { return stream.Whole(f.Hash) == name }); k >= 0 {
			x.out = append(x.out, LostData{Project: p.name, Session: s.Session, What: "the file " + s.Files[k].Name})
			return true
		}
		if stream.Name(s.Session, s.Generation) != name {
			continue
		}
		sc := transcript.NewScanner(transcript.Carry{}, func(b []byte) [32]byte { return objects.Sum(b) })
		// the stream ends where the damage begins
		_, _ = io.Copy(struct{ io.Writer }{sc}, repair.ReadableStream(x.repo, l.Lane, name))
		read := sc.Summary().Carry.Values
		x.out = append(x.out, LostData{p.name, s.Session, read + 1, max(s.Scan.Values, read+1),
			"the transcript from there on"})
		return true
	}
	return false
}

// streamsIn reports the streams of a lost directory: those whose names start with the digits.
func (x *lossExplainer) streamsIn(p *projectRecords, l repair.Loss, digits string) (found bool) {
	digits, _, _ = strings.Cut(digits, "s") // a directory within a stream
	for _, s := range p.snapshots {
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
func (x *lossExplainer) patch(p *projectRecords, h objects.Hash, lost *LostData) {
	for i, s := range p.snapshots {
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
func (p *projectRecords) before(i int) int {
	s, most := p.snapshots[i], 0
	for _, o := range p.snapshots {
		if o.Session == s.Session && o.Generation == s.Generation && o.Scan.Values < s.Scan.Values {
			most = max(most, o.Scan.Values)
		}
	}
	return most
}

// object describes an object by the records that name it.
func (p *projectRecords) object(digits string, lost *LostData) {
	for _, r := range p.records {
		if !bytes.Contains(r.Body, []byte(digits)) {
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

// pointsOf returns the growth points of the stream that a loss affects, by size; none if it affects no stream.
func (r *projectRecords) pointsOf(l repair.Loss) (points []records.Snapshot) {
	in := func(records.Snapshot) bool { return false }
	switch {
	case len(l.Path) == 7 && l.Path[0] == "streams":
		digits := strings.Join(l.Path[1:5], "")
		in = func(s records.Snapshot) bool { return stream.Name(s.Session, s.Generation).String() == digits }
	case len(l.Path) == 6 && l.Path[0] == "points":
		digits := strings.Join(l.Path[1:], "")
		in = func(s records.Snapshot) bool { return s.Original.String() == digits }
	}
	i := slices.IndexFunc(r.snapshots, in)
	if i < 0 {
		return nil
	}
	for j, s := range r.snapshots {
		if r.devices[j] == l.Lane.Device && s.Session == r.snapshots[i].Session && s.Generation == r.snapshots[i].Generation {
			points = append(points, s)
		}
	}
	slices.SortStableFunc(points, func(a, b records.Snapshot) int { return cmp.Compare(a.Size, b.Size) })
	return points
}

// A lostFile is an overflow file affected by a loss, with its source.
type lostFile struct {
	path string
	ref  records.FileRef
	cwd  string
	one  bool // it is an object, not a stream
}

// filesOf returns the overflow files that a loss affects, from the records of all devices.
func (r *projectRecords) filesOf(l repair.Loss) (out []lostFile) {
	if len(l.Path) < 6 {
		return nil
	}
	digits := strings.Join(l.Path[1:], "")
	if l.Path[0] == "streams" {
		digits = strings.Join(l.Path[1:5], "")
	}
	sources := map[string]string{}
	for _, s := range r.snapshots {
		sources[s.Session] = cmp.Or(s.Source, sources[s.Session])
	}
	for _, s := range r.snapshots {
		dir, ok := strings.CutSuffix(sources[s.Session], ".jsonl")
		for _, f := range s.Files {
			name := f.Hash
			if l.Path[0] == "streams" {
				name = stream.Whole(f.Hash)
			}
			if ok && name.String() == digits && filepath.Base(f.Name) == f.Name {
				out = append(out, lostFile{filepath.Join(dir, "tool-results", f.Name), f, s.Scan.Cwd, l.Path[0] == "objects"})
			}
		}
	}
	return out
}

// LostData describes data that exists nowhere.
type LostData struct {
	Project string `json:"project"`
	Session string `json:"sessionId,omitempty"` // "" if it belongs to no session
	From    int    `json:"from,omitempty"`      // the first lost message, counted from 1; 0 if none
	To      int    `json:"to,omitempty"`        // the last one
	What    string `json:"what"`
}

// describeLoss describes a lost commit, directory or file of a lane.
func describeLoss(l repair.Loss) string {
	switch {
	case l.Old:
		return "an older commit or a directory of it, " + l.ID.String()[:10] +
			"; the current data of the lane does not need it"
	case len(l.Path) == 0:
		return "the commit or directory " + l.ID.String()[:10]
	case len(l.Path) == 1 && l.Path[0] == "format":
		return "the file format"
	case len(l.Path) < 6 || l.Path[0] == "streams" && len(l.Path) < 7:
		return "the directory " + strings.Join(l.Path, "/")
	}
	kind, name := strings.TrimSuffix(l.Path[0], "s"), strings.TrimSuffix(strings.Join(l.Path[1:], ""), ".json")
	if l.Path[0] == "patches" {
		kind = "patch"
	}
	return kind + " " + name[:min(10, len(name))]
}
