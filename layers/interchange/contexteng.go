package interchange

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// contextEng reads a store of cc_context_eng: projects/<project>/manifest.json, or one such project.
func (s *Store) contextEng() (found bool, err error) {
	dirs := []string{"."}
	entries, err := s.list("projects")
	if err != nil {
		return false, err
	}
	var rest []omission
	for _, e := range entries {
		switch {
		case e.IsDir() && isName(e.Name()):
			dirs = append(dirs, "projects/"+e.Name())
		case e.Type()&fs.ModeSymlink != 0:
			rest = append(rest, omission{Kind: "project", Name: e.Name(), Why: "it is a link: import its target directly"})
		}
	}
	for _, dir := range dirs {
		p, ok := s.contextProject(dir)
		if ok {
			s.Tool, found = contextEngTool, true
			s.Projects = append(s.Projects, p)
		}
	}
	if found {
		s.Projects[0].Omitted = append(s.Projects[0].Omitted, rest...)
	}
	return found, nil
}

// contextProject reads one project. ok is false if the directory is not a project. An unreadable manifest counts as one
// if the directories of a project are next to it.
func (s *Store) contextProject(dir string) (p storeProject, ok bool) {
	name := path.Join(dir, "manifest.json")
	m, err := s.document(name)
	if err != nil {
		if _, there := s.regular(name); !there || !s.isDir(path.Join(dir, "originals")) ||
			!s.isDir(path.Join(dir, "summaries")) {
			return p, false
		}
		p.Name = filepath.Base(s.Path(dir))
		p.Omitted = append(p.Omitted, omission{Kind: "project", Name: p.Name, Why: err.Error()})
	} else if m.text("projectId") == "" || !m.Get("sessions").IsObject() {
		return p, false
	}
	p.Dir = m.text("originalPath")
	p.Name = cmp.Or(p.Name, m.text("displayName"), baseOf(cmp.Or(p.Dir, m.text("projectId"))))
	c := contextReader{s: s, dir: dir, p: &p}
	c.sessions(m.members("sessions"))
	c.compositions(m.members("compositions"))
	return p, true
}

func (s *Store) isDir(name string) bool {
	fi, err := s.root.Stat(filepath.FromSlash(name))
	return err == nil && fi.IsDir()
}

// A contextReader reads one project.
type contextReader struct {
	s   *Store
	dir string
	p   *storeProject
}

func (c *contextReader) omit(kind, name, why string) {
	c.p.Omitted = append(c.p.Omitted, omission{Kind: kind, Name: name, Why: why})
}

// sessions reads the sessions of the manifest, and session files without an entry.
func (c *contextReader) sessions(listed map[string]object) {
	for _, id := range slices.Sorted(maps.Keys(listed)) {
		o := listed[id]
		switch {
		case !isName(id) || !isName(id+".jsonl"):
			c.omit("session", id, "its id is not a name of a file")
			continue
		case !o.IsObject():
			c.omit("session", id, "its entry in manifest.json is not an object")
			continue
		}
		c.p.Sessions = append(c.p.Sessions, c.session(id, o))
	}
	entries, err := c.s.list(path.Join(c.dir, "originals"))
	if err != nil {
		c.omit("directory", "originals", err.Error())
	}
	for _, e := range entries {
		switch id, ok := strings.CutSuffix(e.Name(), ".jsonl"); {
		case ok && isName(e.Name()) && listed[id].IsObject():
		case ok && isName(e.Name()):
			c.p.Sessions = append(c.p.Sessions, c.session(id, object{}))
		case len(c.p.Omitted) <= maxOmitted:
			c.omit("file", "originals/"+e.Name(), "it is not a transcript")
		}
	}
}

func (c *contextReader) session(id string, o object) storeSession {
	out := storeSession{ID: id, Title: cmp.Or(o.text("title"), o.text("customTitle")), Tags: o.texts("tags"),
		Outside: cmp.Or(o.text("linkedFile"), o.text("originalFile"))}
	name := path.Join(c.dir, "originals", id+".jsonl")
	fi, err := c.s.root.Lstat(filepath.FromSlash(name))
	if err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		if to, err := c.s.root.Readlink(filepath.FromSlash(name)); err == nil {
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(c.s.Path(name)), to)
			}
			out.Outside = to
		}
	} else if size, ok := c.s.regular(name); ok {
		out.File, out.Size = name, size
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		out.Problem = err.Error()
	}
	for _, k := range o.list("keepitMarkers") {
		out.Markers = append(out.Markers, c.marker(id, k)...)
	}
	if len(o.list("compressions")) > 0 || c.s.isDir(path.Join(c.dir, "summaries", id)) {
		c.derived("versions", id, "mem makes its own from the session: mem compress "+id)
	}
	return out
}

// marker reads a marker. It returns none if the marker is incomplete.
func (c *contextReader) marker(session string, o object) []storeMarker {
	m := storeMarker{ID: o.text("markerId"), UUID: o.text("messageUuid"), Text: o.text("content")}
	w, ok := o.hundredths("weight")
	if !ok || m.UUID == "" || m.Text == "" {
		c.omit("marker", session+" "+m.ID, "it lacks its message, its weight or its text")
		return nil
	}
	m.Weight = min(w, 100)
	return []storeMarker{m}
}

// compositions reports the compositions, which mem makes of the sessions.
func (c *contextReader) compositions(listed map[string]object) {
	for _, id := range slices.Sorted(maps.Keys(listed)) {
		o := listed[id]
		command := "mem compose " + cmp.Or(o.text("name"), id)
		for _, p := range o.list("components") {
			command += " " + p.text("sessionId")
		}
		c.derived("composition", cmp.Or(o.text("name"), id), "mem makes it of the sessions: "+command)
	}
}

// derived reports what mem derives itself.
func (c *contextReader) derived(kind, name, why string) {
	if len(c.p.Omitted) <= maxOmitted {
		c.p.Omitted = append(c.p.Omitted, omission{kind, name, why, true})
	}
}
