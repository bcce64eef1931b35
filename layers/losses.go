package layers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// An explainer finds out what lost objects were, from the records that can be read.
type explainer struct {
	m        *Memory
	projects map[refs.Project]*readable
	streams  map[string]bool // that were told of, by lane and name
	out      []Lost
}

// A readable is what the records of a project tell that can be read.
type readable struct {
	name      string
	records   []refs.Record
	snapshots []Snapshot
	ids       []objects.Hash // of the records of the snapshots
	devices   []string       // that made them
}

func (x *explainer) project(p refs.Project) *readable {
	if r, ok := x.projects[p]; ok {
		return r
	}
	r := &readable{name: string(p), records: x.m.repo.ReadableRecords(p)}
	if p == refs.Home {
		r.name = "this device's own"
	}
	for _, rec := range r.records {
		switch rec.Kind {
		case kindProject:
			var b projectBody
			if json.Unmarshal(rec.Body, &b) == nil {
				r.name = b.Name
			}
		case kindSession:
			var s Snapshot
			if json.Unmarshal(rec.Body, &s) == nil {
				r.snapshots, r.ids, r.devices = append(r.snapshots, s), append(r.ids, rec.ID), append(r.devices, rec.Device)
			}
		}
	}
	x.projects[p] = r
	return r
}

func (x *explainer) loss(l refs.Loss) {
	p := x.project(l.Lane.Project)
	lost := Lost{Project: p.name, Session: l.Session, What: lostWhat(l)}
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

// stream tells which messages of a session lie behind the first segment of it that is gone. Segments after that cannot be read: each
// is compressed with what lies before it.
func (x *explainer) stream(p *readable, l refs.Loss, digits string) bool {
	name, err := objects.ParseHash(digits)
	if err != nil || x.streams[l.Lane.Ref()+digits] {
		return err == nil
	}
	x.streams[l.Lane.Ref()+digits] = true
	for i := len(p.snapshots) - 1; i >= 0; i-- {
		s := p.snapshots[i]
		if k := slices.IndexFunc(s.Files, func(f FileRef) bool { return stream.Whole(f.Hash) == name }); k >= 0 {
			x.out = append(x.out, Lost{Project: p.name, Session: s.Session, What: "the file " + s.Files[k].Name})
			return true
		}
		if stream.Name(s.Session, s.Generation) != name {
			continue
		}
		sc := transcript.NewScanner(transcript.Carry{}, func(b []byte) [32]byte { return objects.Sum(b) })
		_, _ = x.m.repo.ReadableStream(l.Lane, name).WriteTo(onlyWriter{sc}) // it ends where the damage begins
		read := sc.Summary().Carry.Values
		x.out = append(x.out, Lost{p.name, s.Session, read + 1, max(s.Scan.Values, read+1), "the transcript from there on"})
		return true
	}
	return false
}

// streamsIn tells whose transcripts lie in a directory that is gone: all whose stream's name begins with some digits.
func (x *explainer) streamsIn(p *readable, l refs.Loss, digits string) (found bool) {
	digits, _, _ = strings.Cut(digits, "s") // of a directory in that of a stream
	for _, s := range p.snapshots {
		names := []objects.Hash{stream.Name(s.Session, s.Generation)}
		for _, f := range s.Files {
			names = append(names, stream.Whole(f.Hash))
		}
		for _, h := range names {
			if name := h.String(); strings.HasPrefix(name, digits) {
				path := append([]string{"streams"}, name[:1], name[1:2], name[2:3], name[3:], "s0000", "000000")
				found = x.stream(p, refs.Loss{Lane: l.Lane, Path: path}, name) || found
			}
		}
	}
	return found
}

// patch tells whose exact bytes are gone.
func (x *explainer) patch(p *readable, h objects.Hash, lost *Lost) {
	for i, s := range p.snapshots {
		if p.ids[i] == h {
			lost.Session, lost.To = s.Session, s.Scan.Values
			lost.From = 1 + p.before(i)
			lost.What = "the exact bytes of what redaction took out; the clean transcript is not touched by this"
			return
		}
		for _, f := range s.Files {
			if filePatchID(p.ids[i], f.Name) == h {
				lost.Session, lost.What = s.Session, "the exact bytes of what redaction took out of the file "+f.Name
				return
			}
		}
	}
}

// before returns how many messages the snapshot before the i-th had.
func (p *readable) before(i int) int {
	s, most := p.snapshots[i], 0
	for _, o := range p.snapshots {
		if o.Session == s.Session && o.Generation == s.Generation && o.Scan.Values < s.Scan.Values {
			most = max(most, o.Scan.Values)
		}
	}
	return most
}

// object tells what an object was by the records that name it.
func (p *readable) object(digits string, lost *Lost) {
	for _, r := range p.records {
		if !strings.Contains(string(r.Body), digits) {
			continue
		}
		var b struct {
			Session string    `json:"session"`
			Label   string    `json:"label"`
			Name    string    `json:"name"`
			Files   []FileRef `json:"files"`
		}
		if json.Unmarshal(r.Body, &b) != nil {
			continue
		}
		lost.Session = b.Session
		switch r.Kind {
		case kindVersion:
			lost.What = "the text of the version " + b.Label
		case kindComposition:
			lost.What = "the text of the composition " + b.Name
		case kindSession:
			for _, f := range b.Files {
				if f.Hash.String() == digits {
					lost.What = "the file " + f.Name
				}
			}
		default:
			lost.What = "an object that a record of the kind " + r.Kind + " names"
		}
		if r.Kind == kindVersion || r.Kind == kindComposition {
			return
		}
	}
}
