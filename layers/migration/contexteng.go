package migration

import (
	"cmp"
	"errors"
	"fmt"
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
	var rest []Omission
	for _, e := range entries {
		switch {
		case e.IsDir() && isName(e.Name()):
			dirs = append(dirs, "projects/"+e.Name())
		case e.Type()&fs.ModeSymlink != 0:
			rest = append(rest, Omission{Kind: "project", Name: e.Name(), Why: "it is a link: import its target directly"})
		}
	}
	for _, dir := range dirs {
		p, ok := s.contextProject(dir)
		if ok {
			s.Tool, found = ContextEng, true
			s.Projects = append(s.Projects, p)
		}
	}
	if found {
		s.omitSettings(rest)
	}
	return found, nil
}

// omitSettings reports what is next to the projects.
func (s *Store) omitSettings(rest []Omission) {
	p := &s.Projects[0]
	p.Omitted = append(p.Omitted, rest...)
	if _, ok := s.regular("config.json"); ok && s.isContextConfig() {
		p.Omitted = append(p.Omitted, Omission{"settings", "config.json", "settings are not imported: mem config", true})
	}
}

// isContextConfig reports whether config.json belongs to cc_context_eng. The file of mem has the same name.
func (s *Store) isContextConfig() bool {
	o, err := s.document("config.json")
	return err == nil && o.text("version") != "" && o.object("defaults") != nil
}

// contextProject reads one project. ok is false if the directory is not a project. An unreadable manifest counts as one
// if the directories of a project are next to it.
func (s *Store) contextProject(dir string) (p Project, ok bool) {
	name := path.Join(dir, "manifest.json")
	m, err := s.document(name)
	if err != nil {
		if _, there := s.regular(name); !there || !s.isDir(path.Join(dir, "originals")) ||
			!s.isDir(path.Join(dir, "summaries")) {
			return p, false
		}
		p.Name = filepath.Base(s.Path(dir))
		p.Omitted = append(p.Omitted, Omission{Kind: "project", Name: p.Name, Why: err.Error()})
	} else if m.text("projectId") == "" || m.object("sessions") == nil {
		return p, false
	}
	p.Dir = m.text("originalPath")
	p.Name = cmp.Or(p.Name, m.text("displayName"), baseOf(cmp.Or(p.Dir, m.text("projectId"))))
	c := contextReader{s: s, dir: dir, p: &p, read: map[string]bool{name: true}, composed: map[string]bool{}}
	c.sessions(m.object("sessions"))
	c.compositions(m)
	c.unreferenced()
	return p, true
}

func (s *Store) isDir(name string) bool {
	fi, err := s.root.Stat(filepath.FromSlash(name))
	return err == nil && fi.IsDir()
}

// A contextReader reads one project.
type contextReader struct {
	s    *Store
	dir  string
	p    *Project
	read map[string]bool // files whose content is in p

	composed map[string]bool // names of compositions
}

func (c *contextReader) omit(kind, name, why string) {
	c.p.Omitted = append(c.p.Omitted, Omission{Kind: kind, Name: name, Why: why})
}

// omitDirectory reports an unreadable directory, once.
func (c *contextReader) omitDirectory(dir string, err error) {
	c.omit("directory", dir, err.Error())
	c.read[path.Join(c.dir, dir)+"/"] = true
}

// sessions reads the sessions of the manifest, and session files without an entry.
func (c *contextReader) sessions(listed object) {
	for _, id := range slices.Sorted(maps.Keys(listed)) {
		o := listed.object(id)
		switch {
		case !isName(id) || !isName(id+".jsonl"):
			c.omit("session", id, "its id is not a name of a file")
			continue
		case o == nil:
			c.omit("session", id, "its entry in manifest.json is not an object")
			continue
		}
		c.p.Sessions = append(c.p.Sessions, c.session(id, o))
	}
	entries, err := c.s.list(path.Join(c.dir, "originals"))
	if err != nil {
		c.omitDirectory("originals", err)
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if ok && isName(e.Name()) && listed.object(id) == nil {
			c.p.Sessions = append(c.p.Sessions, c.session(id, object{}))
		}
	}
}

func (c *contextReader) session(id string, o object) Session {
	out := Session{ID: id, Title: o.first("title", "customTitle"), Tags: o.texts("tags"),
		Outside: o.first("linkedFile", "originalFile")}
	name := path.Join(c.dir, "originals", id+".jsonl")
	c.read[name] = true
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
	c.versions(&out, o)
	return out
}

// marker reads a marker. It returns none if the marker is incomplete.
func (c *contextReader) marker(session string, o object) []Marker {
	m := Marker{ID: o.text("markerId"), UUID: o.text("messageUuid"), Text: o.text("content")}
	w, ok := o.hundredths("weight")
	if !ok || m.UUID == "" || m.Text == "" {
		c.omit("marker", session+" "+m.ID, "it lacks its message, its weight or its text")
		return nil
	}
	m.Weight = min(w, 100)
	return []Marker{m}
}

// versions reads the versions in the manifest and versions.json. The manifest takes precedence.
func (c *contextReader) versions(out *Session, o object) {
	dir := path.Join(c.dir, "summaries", out.ID)
	records := o.list("compressions")
	name := path.Join(dir, "versions.json")
	if _, ok := c.s.regular(name); ok {
		c.read[name] = true
		v, err := c.s.document(name)
		if err != nil {
			c.omit("version", out.ID, err.Error())
		}
		records = append(records, v.list("versions")...)
	}
	seen := map[string]bool{}
	for _, r := range records {
		v := Version{ID: r.text("versionId"), Model: r.object("settings").text("model")}
		file := strings.TrimSuffix(strings.TrimSuffix(r.text("file"), ".jsonl"), ".md")
		if seen[v.ID] {
			continue
		}
		seen[v.ID] = true
		if !isName(file) || v.ID == "" {
			c.omit("version", out.ID+" "+v.ID, fmt.Sprintf("%q is not a name of a file", file))
			continue
		}
		c.read[path.Join(dir, file+".md")] = true
		if jsonl := path.Join(dir, file+".jsonl"); !c.read[jsonl] {
			if _, ok := c.s.regular(jsonl); ok {
				v.File, c.read[jsonl] = jsonl, true
			}
		}
		out.Versions = append(out.Versions, v)
	}
}

// compositions reads the compositions of the manifest, and files composition.json without an entry.
func (c *contextReader) compositions(m object) {
	listed := m.object("compositions")
	for _, id := range slices.Sorted(maps.Keys(listed)) {
		if o := listed.object(id); o != nil {
			c.composition(cmp.Or(o.text("name"), id), o)
			continue
		}
		c.omit("composition", id, "its entry in manifest.json is not an object")
	}
	entries, err := c.s.list(path.Join(c.dir, "composed"))
	if err != nil {
		c.omitDirectory("composed", err)
	}
	for _, e := range entries {
		dir := path.Join(c.dir, "composed", e.Name())
		name := path.Join(dir, "composition.json")
		if _, ok := c.s.regular(name); !ok {
			continue
		}
		o, err := c.s.document(name)
		c.read[dir+"/"] = true // the texts follow from the parts
		if err != nil {
			c.omit("composition", e.Name(), err.Error())
			continue
		}
		c.composition(cmp.Or(o.first("compositionName", "name"), e.Name()), o)
	}
}

func (c *contextReader) composition(name string, o object) {
	if c.composed[name] {
		return
	}
	c.composed[name] = true
	out := Composition{Name: name, Budget: o.number("totalTokenBudget")}
	parts := o.list("components")
	slices.SortStableFunc(parts, func(a, b object) int { return a.number("order") - b.number("order") })
	for _, p := range parts {
		out.Parts = append(out.Parts, Part{p.text("sessionId"), cmp.Or(p.text("versionId"), "original")})
	}
	if len(out.Parts) == 0 {
		c.omit("composition", name, "it lists no components")
		return
	}
	c.p.Compositions = append(c.p.Compositions, out)
}

// unreferenced reports the files that no entry names.
func (c *contextReader) unreferenced() {
	c.walk("originals", 1)
	c.walk("summaries", 2)
	c.walk("composed", 2)
}

func (c *contextReader) walk(dir string, depth int) {
	if c.read[path.Join(c.dir, dir)+"/"] || len(c.p.Omitted) > maxOmitted {
		return
	}
	entries, err := c.s.list(path.Join(c.dir, dir))
	if err != nil {
		c.omitDirectory(dir, err)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir() && depth > 1:
			c.walk(name, depth-1)
		case !c.read[path.Join(c.dir, name)] && len(c.p.Omitted) <= maxOmitted:
			c.omit("file", name, "no entry of the store names it")
		}
	}
}
