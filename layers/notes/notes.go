// Package notes keeps the history of the notes that Claude Code writes itself: its memory of a project, its plans, and
// the memory of its subagents. The client rewrites these files without asking and keeps no earlier state.
//
// A state of a file is one record with its text ([records.Note]) in the lane of the device that captured it. Each state
// names the states that it replaced, so that two devices that both changed a file have two newest states ([File.Heads]).
// Nothing is merged: a restored state replaces all that the device had seen.
package notes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// A State is a state of a note.
type State struct {
	records.Note
	Stamp records.Stamp
	Time  time.Time // when it was captured
}

// Name returns the name of the state in [records.Note.After].
func (s *State) Name() string { return records.NoteState(s.Stamp) }

// same reports whether two states have the same content.
func (s *State) same(o *State) bool { return s.Deleted == o.Deleted && s.Text == o.Text }

// A File is a note with its states, the newest first.
type File struct {
	Name   string
	States []*State
}

// Heads returns the states that no other replaced, the newest first and each content once. More than one are changes of
// several machines, or of several checkouts. A restored state that was taken back replaces none.
func (f *File) Heads() (out []*State) {
	replaced, undone := map[string]bool{}, map[string]bool{}
	for _, s := range f.States {
		for _, name := range s.Undoes {
			undone[name] = true
		}
	}
	for _, s := range f.States {
		for _, name := range s.After {
			replaced[name] = replaced[name] || !undone[s.Name()]
		}
	}
	for _, s := range f.States {
		// No file again, as before a restore: that is no state of its own.
		nothing := s.Deleted && len(s.Undoes) > 0 && !slices.ContainsFunc(s.After, func(name string) bool { return !undone[name] })
		if !undone[s.Name()] && !nothing && !replaced[s.Name()] && !slices.ContainsFunc(out, s.same) {
			out = append(out, s)
		}
	}
	if len(out) == 0 && len(f.States) > 0 { // the state that was restored was deleted
		out = f.States[:1:1]
	}
	return out
}

// Before returns the text that a state replaced, on its device if it replaced several.
func (f *File) Before(s *State) string {
	text, found := "", false
	for _, o := range f.States {
		if slices.Contains(s.After, o.Name()) && (!found || o.Stamp.Device == s.Stamp.Device) {
			text, found = o.Text, true
			if o.Stamp.Device == s.Stamp.Device {
				break
			}
		}
	}
	return text
}

// Files returns the notes of a project, sorted by name.
func Files(ctx context.Context, db *state.DB, p refs.Project) ([]*File, error) {
	all, err := db.Notes(ctx, p)
	if err != nil {
		return nil, err
	}
	byName := map[string]*File{}
	var out []*File
	for _, r := range slices.Backward(all) {
		s := &State{Stamp: state.StampOf(r), Time: r.Time}
		if err := state.ApplyTo(r, func(n records.Note) { s.Note = n }); err != nil {
			return nil, err
		}
		f := byName[s.File]
		if f == nil {
			f = &File{Name: s.File}
			byName[s.File] = f
			out = append(out, f)
		}
		f.States = append(f.States, s)
	}
	slices.SortFunc(out, func(a, b *File) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Find returns the note that a user means: by its whole name, or its name in the memory, or the end of it if only
// one note has it.
func Find(files []*File, name string) (*File, error) {
	name = strings.TrimSuffix(name, "/")
	var found []*File
	memory := records.NoteMemory + "/" + strings.TrimSuffix(name, ".md") + ".md"
	for _, f := range files {
		if f.Name == name || f.Name == memory {
			return f, nil
		}
		if strings.HasSuffix(f.Name, "/"+name) || strings.TrimSuffix(f.Name, ".md") == name ||
			strings.HasSuffix(strings.TrimSuffix(f.Name, ".md"), "/"+name) {
			found = append(found, f)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w %q", ErrNone, name)
	case 1:
		return found[0], nil
	}
	var names []string
	for _, f := range found {
		names = append(names, f.Name)
	}
	return nil, fmt.Errorf("%q is ambiguous: %s", name, strings.Join(names, ", "))
}

// last returns the newest state of a file in a directory of this device, nil for none.
func last(db *state.DB, f *File, dir string) *State {
	if f == nil {
		return nil
	}
	i := slices.IndexFunc(f.States, func(s *State) bool { return s.Stamp.Device == db.Refs.Device().ID && s.Dir == dir })
	if i < 0 {
		return nil
	}
	return f.States[i]
}

// Undone returns the state that a restored state replaced in its directory, nil if the file was not there.
func (f *File) Undone(s *State) *State {
	for _, o := range f.States[slices.Index(f.States, s)+1:] {
		if o.Stamp.Device == s.Stamp.Device && o.Dir == s.Dir {
			if o.Deleted {
				return nil
			}
			return o
		}
	}
	return nil
}

// Path returns the path of the file of a state on its device.
func (s *State) Path() string { return pathOf(s.Dir, s.File) }

// Stat returns the numbers of added and removed lines between two texts.
func Stat(from, to string) (added, removed int) {
	count := map[string]int{}
	for line := range strings.Lines(from) {
		count[strings.TrimSuffix(line, "\n")]++
	}
	for line := range strings.Lines(to) {
		line = strings.TrimSuffix(line, "\n")
		if count[line] > 0 {
			count[line]--
		} else {
			added++
		}
	}
	for _, n := range count {
		removed += n
	}
	return added, removed
}
