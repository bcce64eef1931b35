package notes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// ErrNone reports a name that no note has.
var ErrNone = errors.New("no note is called")

// A Change is a note that differs from its newest state of this device.
type Change struct {
	File           string
	Path           string // on this device
	Added, Removed int    // lines
	New            bool   // mem has no state of it
	Deleted        bool
	Before         string // the text of its last state here
	note           records.Note
}

// Text returns the text that would be stored, without secrets.
func (c Change) Text() string { return c.note.Text }

// A Capture is the result of [Capture].
type Capture struct {
	Changes []Change
	Skipped []string // files that are too long, or no text
}

// Options are the options of [Capture].
type Options struct {
	DryRun bool // only report the changes
	// Running leaves a note that was just changed and that no session has written for a later capture: the client
	// writes the session's file later than the note.
	Running bool
}

// young is the age up to which [Options.Running] waits for the session's file.
const young = 10 * time.Second

// CaptureAll stores the notes about a working directory that have changed, in one commit.
func CaptureAll(ctx context.Context, db *state.DB, p state.Project, c Client, cwd string, o Options) (out Capture, err error) {
	for try := 0; ; try++ {
		out, err = tryCapture(ctx, db, p, c, cwd, o)
		if !errors.Is(err, refs.ErrConflict) || try == 20 {
			return out, err
		}
	}
}

func tryCapture(ctx context.Context, db *state.DB, p state.Project, c Client, cwd string, o Options) (Capture, error) {
	s, err := newScanner(ctx, db, p, c, cwd)
	if err != nil {
		return Capture{}, err
	}
	s.running = o.Running
	if err := s.compare(); err != nil || o.DryRun {
		return s.out, err
	}
	if len(s.out.Changes) > 0 {
		if err := commit(ctx, db, p, s.tips, s.out.Changes); err != nil {
			return s.out, err
		}
	}
	writeStamps(stampFile(db.Refs.Dir(), cwd), s.files, s.left, db.Opts.Now())
	return s.out, nil
}

// A scanner compares the notes on disk with those in memory.
type scanner struct {
	m        *state.DB
	files    []found
	complete map[string]bool
	known    []*File
	rules    redact.Rules
	guard    *originals.Guard
	authors  *authors
	tips     []refs.Tip
	places   []Place
	running  bool
	left     map[string]bool // paths of the notes that wait for a later capture
	out      Capture
}

func newScanner(ctx context.Context, db *state.DB, p state.Project, c Client, cwd string) (*scanner, error) {
	s := &scanner{m: db, places: c.Places(cwd), left: map[string]bool{}, rules: secrets.RulesIn(db, cwd)}
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return nil, err
	}
	s.tips = st.Tips
	if s.known, err = Files(ctx, db, p.ID); err != nil {
		return nil, err
	}
	if s.guard, err = originals.NewGuard(db, st.Purged); err != nil {
		return nil, fmt.Errorf("read the list of deletions: %w", err)
	}
	s.files, s.complete = scan(s.places)
	s.authors = &authors{client: c, cwd: cwd}
	return s, nil
}

// file returns the note with a name, nil if mem has none.
func (s *scanner) file(name string) *File {
	i := slices.IndexFunc(s.known, func(f *File) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return s.known[i]
}

// compare finds the changes.
func (s *scanner) compare() error {
	was := readStamps(stampFile(s.m.Refs.Dir(), s.authors.cwd))
	for _, f := range s.files {
		old := last(s.m, s.file(f.file), f.place.Dir)
		if was[f.path] == (seen{f.size, f.time.UnixNano()}) && (old != nil || f.place.Name == records.NotePlans) {
			continue
		}
		raw, ok, err := readNote(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // deleted meanwhile
		case err != nil:
			return fmt.Errorf("read %s: %w", f.path, err)
		case !ok:
			s.out.Skipped = append(s.out.Skipped, f.path)
			continue
		}
		s.changed(f, old, raw)
	}
	for _, f := range s.known {
		s.deleted(f)
	}
	return s.authors.err
}

// changed adds a file to the changes if it differs from its last state here.
func (s *scanner) changed(f found, old *State, raw string) {
	clean, cut, forgotten := s.clean(raw)
	if forgotten || old != nil && !old.Deleted && old.Text == clean || old == nil && clean == "" {
		return
	}
	was := ""
	if old != nil {
		was = old.Text
	}
	by, named := s.authors.of(f, was, raw)
	if by == "" && s.running && s.m.Opts.Now().Sub(f.time) < young {
		s.left[f.path] = true
		return
	}
	if f.place.Name == records.NotePlans && old == nil && !named {
		return // a plan of another project
	}
	n := records.Note{File: f.file, Text: clean, Dir: f.place.Dir, Modified: f.time.UTC(), Session: by, Cut: cut,
		After: s.replaced(f.file, old, clean)}
	c := Change{File: f.file, Path: f.path, New: old == nil, Before: was, note: n}
	c.Added, c.Removed = Stat(was, clean)
	s.out.Changes = append(s.out.Changes, c)
}

// clean returns a text without secrets and without deleted values, the number of secrets, and whether the text itself was
// deleted.
func (s *scanner) clean(raw string) (clean string, cut int, forgotten bool) {
	b := []byte(raw)
	if s.guard != nil {
		if spots := s.guard.Values(b); len(spots) > 0 {
			originals.Mask(b, spots)
		}
	}
	var numbers redact.Numbers
	b, cuts := s.rules.Redact(b, &numbers)
	if s.guard != nil {
		if _, gone, err := s.guard.File(bytes.NewReader(b)); err == nil && gone { // reading from memory cannot fail
			return "", 0, true
		}
	}
	return string(b), len(cuts), false
}

// replaced names the states that a text replaces: the last one here. A text that this device has for the first time
// replaces the newest states with the same text.
func (s *scanner) replaced(file string, old *State, text string) (out []string) {
	if old != nil {
		return []string{old.Name()}
	}
	if f := s.file(file); f != nil {
		for _, h := range f.Heads() {
			if !h.Deleted && h.Text == text {
				out = append(out, h.Name())
			}
		}
	}
	return out
}

// deleted adds the states of this device whose file is gone to the changes.
func (s *scanner) deleted(f *File) {
	for _, p := range s.places {
		old := last(s.m, f, p.Dir)
		place, _, _ := strings.Cut(f.Name, "/")
		if old == nil || old.Deleted || place != p.Name || !s.complete[p.Dir] ||
			slices.ContainsFunc(s.files, func(x found) bool { return x.file == f.Name && x.place.Dir == p.Dir }) {
			continue
		}
		_, removed := Stat(old.Text, "")
		s.out.Changes = append(s.out.Changes, Change{File: f.Name, Path: pathOf(p.Dir, f.Name), Removed: removed, Deleted: true, Before: old.Text,
			note: records.Note{File: f.Name, Deleted: true, Dir: p.Dir, After: []string{old.Name()}}})
	}
}

// pathOf returns the path of a note in the directory of its place.
func pathOf(dir, file string) string {
	_, name, _ := strings.Cut(file, "/")
	return filepath.Join(dir, filepath.FromSlash(name))
}

// commit stores changes, if nothing was deleted for good since the tips.
func commit(ctx context.Context, db *state.DB, p state.Project, tips []refs.Tip, changes []Change) error {
	return db.Refs.Update(ctx, p.ID, message(changes), func(tx *refs.Tx) error {
		if !slices.Equal(tx.Tips(), tips) {
			return refs.ErrConflict
		}
		if len(tips) == 0 {
			if _, err := tx.Add(records.KindProject, records.ProjectBody{Identity: p.Identity, Name: p.Name}); err != nil {
				return err
			}
		}
		for _, c := range changes {
			if _, err := tx.Add(records.KindNote, c.note); err != nil {
				return err
			}
		}
		op := "notes"
		if changes[0].note.Restored {
			op = "notes restore"
		}
		tx.Trailer("Op", op)
		return nil
	})
}

// message returns the message of a commit.
func message(changes []Change) string {
	c := changes[0]
	what := c.File
	if len(changes) > 1 {
		what = records.Numbered(len(changes), "file", "files")
		for _, x := range changes[1:] {
			c.Added, c.Removed = c.Added+x.Added, c.Removed+x.Removed
		}
	}
	verb := "notes"
	if c.note.Restored {
		verb = "notes restore"
	}
	if c.Deleted && len(changes) == 1 {
		return verb + " " + what + "  deleted"
	}
	return fmt.Sprintf("%s %s  +%d -%d lines", verb, what, c.Added, c.Removed)
}
