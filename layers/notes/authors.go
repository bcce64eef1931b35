package notes

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/projects"
)

// authors finds the session that wrote a note: the one whose Write or Edit made the text. It reads session files that
// were written after the note, once.
type authors struct {
	client Client
	cwd    string
	err    error
	files  map[string]*calls // by path of the session file
}

// A write is a call of Write, Edit or MultiEdit.
type write struct {
	path    string
	time    time.Time
	content string // of Write
	edits   []edit
	session string
}

type edit struct {
	Old string
	New string
	All bool
}

func editOf(in gjson.Result) edit {
	return edit{in.Get("old_string").Str, in.Get("new_string").Str, in.Get("replace_all").Bool()}
}

// calls are the writes in a session file, and the plans that it names.
type calls struct {
	writes []write
	plans  map[string]bool
}

// slack is how much earlier than a note its session may have been written last.
const slack = 5 * time.Second

// of returns the session that made raw of the state before, "" for none. named reports whether a session of this
// directory names the file.
func (a *authors) of(f found, before, raw string) (session string, named bool) {
	var all []write
	for _, path := range a.transcripts(f.time.Add(-slack)) {
		c := a.read(path)
		if c.plans[strings.TrimSuffix(filepath.Base(f.path), ".md")] {
			named = true
		}
		for _, w := range c.writes {
			if filepath.Base(w.path) == filepath.Base(f.path) &&
				filepath.Join(canonical(filepath.Dir(w.path)), filepath.Base(w.path)) == f.path {
				all, named = append(all, w), true
			}
		}
	}
	slices.SortStableFunc(all, func(a, b write) int { return a.time.Compare(b.time) })
	now := before
	for _, w := range all {
		if now = w.apply(now); same(now, raw) {
			session = w.session
		}
	}
	return session, named
}

// apply returns the text after the call.
func (w write) apply(text string) string {
	if w.edits == nil {
		return w.content
	}
	for _, e := range w.edits {
		switch {
		case e.Old == "" && text == "":
			text = e.New
		case e.Old == "":
		case e.All:
			text = strings.ReplaceAll(text, e.Old, e.New)
		default:
			text = strings.Replace(text, e.Old, e.New, 1)
		}
	}
	return text
}

// same compares two texts without the newline at their end.
func same(a, b string) bool { return strings.TrimRight(a, "\n") == strings.TrimRight(b, "\n") }

// transcripts returns the session files of the directory, with those of subagents, that were written after a time.
func (a *authors) transcripts(since time.Time) (out []string) {
	root, main := projects.Checkouts(a.cwd)
	seen := map[string]bool{}
	for _, dir := range []string{a.cwd, root, main} {
		dir = filepath.Join(a.client.Dir, "projects", capture.ClientDir(dir))
		if seen[dir] {
			continue
		}
		seen[dir] = true
		sources, err := capture.Sources(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // those files are reported where sessions are captured
		}
		for _, src := range sources {
			if fi, err := os.Stat(src.Path); err == nil && fi.ModTime().After(since) {
				out = append(out, src.Path)
			}
		}
	}
	return out
}

// read returns the writes in a session file. A file that cannot be read has none: its capture reports that.
func (a *authors) read(path string) *calls {
	if c := a.files[path]; c != nil {
		return c
	}
	c := &calls{plans: map[string]bool{}}
	if a.files == nil {
		a.files = map[string]*calls{}
	}
	a.files[path] = c
	f, err := os.Open(path)
	if err != nil {
		return c
	}
	defer f.Close()
	session := capture.Source{Path: path}.SessionID()
	if parent, ok := capture.SubagentOf(path); ok {
		session = parent
	}
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		c.add(line, session)
		if err != nil {
			if err != io.EOF {
				a.err = errors.Join(a.err, err)
			}
			return c
		}
	}
}

func (c *calls) add(line []byte, session string) {
	if _, rest, ok := bytes.Cut(line, []byte(`"slug":"`)); ok { // the name of the session's plan
		if slug, _, ok := bytes.Cut(rest, []byte(`"`)); ok {
			c.plans[string(slug)] = true
		}
	}
	if !bytes.Contains(line, []byte(`"file_path":`)) || !bytes.Contains(line, []byte(`"tool_use"`)) {
		return
	}
	if !json.Valid(line) {
		return
	}
	at, err := time.Parse(time.RFC3339, gjson.GetBytes(line, "timestamp").Str)
	if err != nil {
		return // not a message with calls
	}
	for _, b := range gjson.GetBytes(line, "message.content").Array() {
		in, text := b.Get("input"), b.Get("input.content")
		w := write{path: in.Get("file_path").Str, time: at, session: session, content: text.Str}
		if b.Get("type").Str != "tool_use" || w.path == "" {
			continue
		}
		w.path = filepath.Clean(w.path)
		switch name := b.Get("name").Str; {
		case name == "Write" && text.Type == gjson.String:
		case name == "Edit":
			w.content, w.edits = "", []edit{editOf(in)}
		case name == "MultiEdit":
			w.content, w.edits = "", []edit{}
			for _, e := range in.Get("edits").Array() {
				w.edits = append(w.edits, editOf(e))
			}
		default:
			continue
		}
		c.writes = append(c.writes, w)
	}
}
