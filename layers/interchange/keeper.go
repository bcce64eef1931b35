package interchange

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// memoryKeeper reads a store of memory-keeper: facts.json, concepts.json and sessions/ in the directory itself, in its
// .claude/memory, or, as older versions had it, in each of its projects.
func (s *Store) memoryKeeper() (found bool, err error) {
	dirs := []string{".", ".claude/memory"}
	entries, err := s.list("projects")
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if e.IsDir() && isName(e.Name()) {
			dirs = append(dirs, "projects/"+e.Name())
		}
	}
	for _, dir := range dirs {
		k := keeperReader{s: s, dir: dir, read: map[string]bool{}}
		is, err := k.isStore()
		if err != nil {
			return false, err
		}
		if is {
			k.project()
			s.Tool, found = memoryKeeperTool, true
			s.Projects = append(s.Projects, k.p)
		}
	}
	return found, nil
}

// A keeperReader reads one project.
type keeperReader struct {
	s    *Store
	dir  string
	p    storeProject
	read map[string]bool
}

func (k *keeperReader) omit(kind, name, why string) {
	k.p.Omitted = append(k.p.Omitted, omission{Kind: kind, Name: name, Why: why})
}

func (k *keeperReader) omitRedundant(kind, name, why string) {
	k.p.Omitted = append(k.p.Omitted, omission{kind, name, why, true})
}

func (k *keeperReader) path(name string) string { return path.Join(k.dir, name) }

// isStore reports whether the directory is a store of memory-keeper. The error reports a file with the name of one
// of its files that is not JSON, if there are others.
func (k *keeperReader) isStore() (bool, error) {
	var broken error
	files, ours := 0, false
	for _, name := range []string{"facts.json", "concepts.json"} {
		if _, ok := k.s.regular(k.path(name)); !ok {
			continue
		}
		files++
		o, err := k.s.document(k.path(name))
		if err != nil {
			broken = err
			continue
		}
		ours = ours || name == "facts.json" && isFacts(o) || name == "concepts.json" && isConcepts(o)
	}
	entries, err := k.s.list(k.path("sessions"))
	if err != nil {
		return ours, nil // reported when it is read
	}
	for _, e := range entries {
		for _, end := range []string{".l1.jsonl", ".l2.json"} {
			if strings.HasSuffix(e.Name(), end) {
				files++
				ours = ours || end == ".l2.json" && k.isSummary("sessions/"+e.Name())
			}
		}
	}
	if !ours && files > 1 && broken != nil {
		return false, broken
	}
	return ours, nil
}

// isFacts reports whether o is facts.json of any version of memory-keeper.
func isFacts(o object) bool {
	return o.hasList("permanent.rules") || o.hasList("permanent.solutions") || o.hasList("permanent.core_logic") ||
		o.hasList("decisions") && o.hasList("patterns") && o.hasList("issues")
}

// isConcepts reports whether o is concepts.json of memory-keeper.
func isConcepts(o object) bool {
	return o.hasList("concepts") && (o.Get("nextId").Type == gjson.Number || slices.ContainsFunc(o.list("concepts"), func(c object) bool {
		return c.hasList("exchanges")
	}))
}

func (k *keeperReader) isSummary(name string) bool {
	o, err := k.s.document(k.path(name))
	return err == nil && o.hasList("exchanges")
}

func (k *keeperReader) project() {
	dir := k.s.Path(k.dir)
	if filepath.Base(dir) == "memory" && filepath.Base(filepath.Dir(dir)) == ".claude" {
		k.p.Dir = filepath.Dir(filepath.Dir(dir))
	}
	k.p.Name = filepath.Base(cmp.Or(k.p.Dir, dir))
	k.sessions()
	k.facts()
	k.concepts()
	k.unreferenced()
}

// open reads a JSON file. It is empty if there is none, or if it is unreadable, which it reports.
func (k *keeperReader) open(name string) (o object) {
	if _, ok := k.s.regular(k.path(name)); !ok {
		return o
	}
	k.read[name] = true
	o, err := k.s.document(k.path(name))
	if err != nil {
		k.omit("file", name, err.Error())
	}
	return o
}

// sessions reads the raw transcripts and the summaries of their exchanges.
func (k *keeperReader) sessions() {
	entries, err := k.s.list(k.path("sessions"))
	if err != nil {
		k.omit("directory", "sessions", err.Error())
	}
	raw := map[string]bool{}
	for _, e := range entries {
		name := "sessions/" + e.Name()
		stem, ok := strings.CutSuffix(e.Name(), ".raw.jsonl")
		size, regular := k.s.regular(k.path(name))
		if !ok || !regular {
			continue
		}
		k.read[name] = true
		id, err := k.sessionID(name)
		if err != nil {
			k.omit("session", stem, err.Error())
			continue
		}
		raw[stem] = true
		k.p.Sessions = append(k.p.Sessions, storeSession{ID: id, Name: stem, File: k.path(name), Size: size})
	}
	for _, e := range entries {
		name := "sessions/" + e.Name()
		if stem, ok := strings.CutSuffix(e.Name(), ".l2.json"); ok {
			k.summary(stem, name)
		} else if stem, ok := strings.CutSuffix(e.Name(), ".l1.jsonl"); ok {
			k.read[name] = true
			if raw[stem] {
				k.omitRedundant("file", name, "memory refines sessions itself")
			} else {
				k.omit("session", stem, "only its refined text is left, which is not an original")
			}
		}
	}
}

// sessionID finds the session ID in the first records of a transcript.
func (k *keeperReader) sessionID(name string) (string, error) {
	const most = 4 << 20
	f, err := k.s.root.Open(filepath.FromSlash(k.path(name)))
	if err != nil {
		return "", err
	}
	defer f.Close()
	r := bufio.NewReader(io.LimitReader(f, most))
	for {
		line, err := r.ReadBytes('\n')
		var v struct {
			ID string `json:"sessionId"`
		}
		if json.Unmarshal(line, &v) == nil && isName(v.ID) {
			return v.ID, nil
		}
		if err == io.EOF {
			return "", fmt.Errorf("%s: no record names a session", name)
		}
		if err != nil {
			return "", err
		}
	}
}

// summary reads the facts of the exchanges of a session.
func (k *keeperReader) summary(stem, name string) {
	o := k.open(name)
	for i, x := range o.list("exchanges") {
		id := cmp.Or(x.text("id"), fmt.Sprintf("e%d", i+1))
		summary := cmp.Or(x.text("summary"), x.text("details"))
		texts := x.texts("facts")
		if len(texts) == 0 && summary != "" {
			texts = []string{summary}
		}
		if len(texts) == 0 {
			k.omit("exchange", stem+" "+id, "it says nothing")
		}
		for n, text := range texts {
			f := storeFact{ID: stem + " " + id, Kind: actionKind, Text: text, Session: stem, Exchange: id,
				Keywords: x.texts("keywords"), Files: x.texts("files")}
			if len(texts) > 1 {
				f.ID += fmt.Sprintf(".%d", n+1)
			}
			k.p.Facts = append(k.p.Facts, f)
		}
	}
}

// facts reads facts.json: decisions, patterns, issues and permanent rules.
func (k *keeperReader) facts() {
	o := k.open("facts.json")
	for _, list := range []struct{ key, kind string }{{"decisions", decisionKind}, {"patterns", patternKind}, {"issues", issueKind}} {
		for i, x := range o.list(list.key) {
			f := storeFact{ID: cmp.Or(x.text("id"), fmt.Sprintf("%s[%d]", list.key, i)), Kind: list.kind, Text: x.text("content"),
				Session: x.text("session"), Keywords: x.texts("concepts"), Files: x.texts("files"),
				Resolved: x.text("status") == "resolved", Resolution: x.text("resolution")}
			if f.Text == "" {
				k.omit("fact", f.ID, "it has no content")
				continue
			}
			if reason := x.text("reason"); reason != "" {
				f.Text += " Reason: " + reason
			}
			k.p.Facts = append(k.p.Facts, f)
		}
	}
	permanent := object{o.Get("permanent")}
	for _, list := range []struct{ key, kind, text, problem string }{
		{"rules", "rule", "content", ""}, {"solutions", "solution", "solution", "problem"},
		{"core_logic", "core_logic", "description", "feature"},
	} {
		for i, x := range permanent.list(list.key) {
			r := storeRule{ID: cmp.Or(x.text("id"), fmt.Sprintf("%s[%d]", list.key, i)), Type: list.kind, Text: x.text(list.text),
				Problem: x.text(list.problem), Files: x.texts("files")}
			r.Confidence, _ = x.hundredths("confidence")
			if r.Text == "" {
				k.omit("rule", r.ID, "it has no "+list.text)
				continue
			}
			k.p.Rules = append(k.p.Rules, r)
		}
	}
}

func (k *keeperReader) concepts() {
	for i, x := range k.open("concepts.json").list("concepts") {
		c := storeConcept{ID: cmp.Or(x.text("id"), fmt.Sprintf("concepts[%d]", i)), Name: x.text("name"), Topic: x.text("topic"),
			Summary: x.text("summary"), Exchanges: x.texts("exchanges")}
		if c.Name == "" {
			k.omit("concept", c.ID, "it has no name")
			continue
		}
		k.p.Concepts = append(k.p.Concepts, c)
	}
}

// unreferenced reports the files that were not read.
func (k *keeperReader) unreferenced() {
	for _, dir := range []string{"", "sessions/"} {
		entries, err := k.s.list(k.path(dir))
		if err != nil {
			continue // reported where it was read
		}
		for _, e := range entries {
			name := dir + e.Name()
			switch {
			case k.read[name] || name == "sessions" || len(k.p.Omitted) > maxOmitted:
			case name == "memory.md", name == "project.md":
				k.omitRedundant("page", name, "mem memory makes such a page of the facts; lines of your own are not imported")
			case isBookkeeping(e.Name()):
				k.omitRedundant("file", name, "memory needs none")
			case strings.HasSuffix(name, ".md"):
				k.omit("file", name, "a text that names no messages of a session")
			default:
				k.omit("file", name, "not a known part of such a store")
			}
		}
	}
}

// isBookkeeping reports whether a file tells memory-keeper what it has done.
func isBookkeeping(name string) bool {
	return slices.Contains([]string{"counter.txt", "config.json", ".l4-done", "debug-hook.json"}, name) ||
		strings.HasSuffix(name, ".log")
}
