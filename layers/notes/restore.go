package notes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trace"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/disk"
)

// ErrOff reports that the user has turned auto memory off, so that no directory is the one to restore it to.
var ErrOff = errors.New("auto memory is off")

// A Restore is a state of a note to write to Claude Code's directory.
type Restore struct {
	File *File
	To   *State
	Path string // of the file on this device
	Now  string // its text
	Here bool   // it exists
}

// Same reports whether the file has the text already.
func (r Restore) Same() bool { return r.Here && r.Now == r.To.Text }

// PlanRestore returns what restoring a state would change. The file is read, not written.
func (c Client) PlanRestore(cwd string, f *File, to *State) (r Restore, err error) {
	dir, name, ok := Here(c.Places(cwd), f.Name)
	if !ok {
		return r, fmt.Errorf("restore %s: %w", f.Name, ErrOff)
	}
	r = Restore{File: f, To: to, Path: filepath.Join(dir, filepath.FromSlash(name))}
	b, err := os.ReadFile(r.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	r.Now, r.Here = string(b), err == nil
	return r, err
}

// RestoreAll writes states of notes to Claude Code's directories and records that. Call [Capture] first, so that no text
// is lost. A link, or a directory in the way, is not replaced.
func RestoreAll(ctx context.Context, db *state.DB, p state.Project, all []Restore) error {
	var changes []Change
	for _, r := range all {
		if err := r.write(); err != nil {
			return err
		}
		fi, err := os.Stat(r.Path)
		if err != nil {
			return err
		}
		place, name, err := records.ParseNoteFile(r.File.Name)
		if err != nil {
			return err
		}
		dir := strings.TrimSuffix(r.Path, string(filepath.Separator)+filepath.FromSlash(name))
		c := Change{File: r.File.Name, Path: r.Path, note: records.Note{File: place + "/" + name, Text: r.To.Text, Dir: dir,
			Modified: fi.ModTime().UTC(), Session: r.To.Session, Cut: r.To.Cut, Restored: true, After: []string{r.To.Name()}}}
		for _, h := range r.File.Heads() { // the user has seen them
			c.note.After = append(c.note.After, h.Name())
		}
		if old := last(db, r.File, dir); old != nil {
			c.note.After = append(c.note.After, old.Name())
		}
		slices.Sort(c.note.After)
		c.note.After = slices.Compact(c.note.After)
		c.Added, c.Removed = Stat(r.Now, r.To.Text)
		changes = append(changes, c)
	}
	for try := 0; ; try++ {
		var tips []refs.Tip
		err := db.Refs.View(ctx, p.ID, func(tx *refs.Tx) error { tips = tx.Tips(); return nil })
		if err == nil {
			err = commit(ctx, db, p, tips, changes)
		}
		if !errors.Is(err, refs.ErrConflict) || try == 20 {
			return err
		}
	}
}

// write writes the file through a root in the directory of its place.
func (r Restore) write() (err error) {
	_, name, err := records.ParseNoteFile(r.File.Name)
	if err != nil {
		return err
	}
	return writeFile(strings.TrimSuffix(r.Path, string(filepath.Separator)+filepath.FromSlash(name)), name, r.To.Text)
}

func writeFile(dir, name, text string) (err error) {
	tree, err := disk.OpenTree(dir, disk.TreeOptions{Wrote: func(string, objects.Hash) bool { return true }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()
	err = tree.Stage(name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
	if err != nil {
		return err
	}
	return tree.Commit(nil)
}

// TakeBack writes states of notes to the files of this device that they name, without recording that: those that undo or
// redo a restore. A deleted state removes the file.
func (c Client) TakeBack(cwd string, all []records.Note) error {
	places := c.Places(cwd)
	for _, n := range all {
		if !slices.ContainsFunc(places, func(p Place) bool { return p.Dir == n.Dir }) {
			return fmt.Errorf("write %s: Claude's notes of this directory are elsewhere", pathOf(n.Dir, n.File))
		}
	}
	for _, n := range all {
		_, name, err := records.ParseNoteFile(n.File)
		if err == nil && n.Deleted {
			err = removeFile(n.Dir, name)
		} else if err == nil {
			err = writeFile(n.Dir, name, n.Text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeFile removes a regular file through a root in its directory.
func removeFile(dir, name string) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	fi, err := root.Lstat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err == nil && !fi.Mode().IsRegular():
		err = &disk.FileError{Path: filepath.Join(dir, filepath.FromSlash(name)), Err: disk.ErrInWay}
	case err == nil:
		err = root.Remove(filepath.FromSlash(name))
	}
	return errors.Join(err, root.Close())
}

// Diff returns the differences of two texts as lines of a unified diff.
func Diff(nameA, nameB, a, b string) (out []string) {
	return slices.Collect(trace.UnifiedDiff(nameA, nameB, a, b))
}
