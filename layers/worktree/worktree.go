// Package worktree writes files for a user.
//
// The names of such files come in part from records, and so from other devices. Every file that mem writes outside
// its own directory therefore goes through a [Tree]: names are resolved inside one directory that the user named
// ([os.Root]), and links are refused. A file is replaced only if mem wrote it and it has not changed since, if it
// has the same bytes already, or with [Options].Force. Files are written under another name first, flushed, and
// renamed when all of them are ready.
package worktree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/objects"
)

// The reasons for which a [Tree] refuses to write a file.
var (
	ErrName   = errors.New("not a valid file name")
	ErrLink   = errors.New("is a symbolic link")
	ErrExists = errors.New("file exists and was not written by mem, or was changed since")
	ErrInWay  = errors.New("is not a regular file")
)

// A FileError is a file that was not written. It wraps the reason.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// Options say what a [Tree] may do.
type Options struct {
	Force  bool // replace any regular file, and any link by a file
	DryRun bool // check, and write nothing

	// Wrote reports whether mem wrote these bytes to a path last. May be nil.
	Wrote func(path string, sum objects.Hash) bool
}

// A Tree is a directory that files are written into. Use Stage for each file, then Commit; Close in any case.
type Tree struct {
	dir    string
	root   *os.Root // nil in a dry run if there is no such directory
	opts   Options
	made   []string // directories, outermost first
	staged []*staged
}

// staged is a file that is written under another name.
type staged struct {
	name    string // in the tree, with slashes
	tmp     string // "" in a dry run
	sum     objects.Hash
	replace bool // there is a file of the name that may be replaced
}

// Open opens the directory dir, whose path the user gave, and creates it if it is missing.
func Open(dir string, o Options) (*Tree, error) {
	t := &Tree{dir: dir, opts: o}
	if !o.DryRun {
		for at := dir; ; at = filepath.Dir(at) {
			if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(at) == at {
				break
			}
			t.made = append(t.made, at)
		}
		slices.Reverse(t.made)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil && (!o.DryRun || !errors.Is(err, fs.ErrNotExist)) {
		return nil, errors.Join(err, t.Close())
	}
	t.root = root
	return t, nil
}

// Path returns the path of a name in the tree.
func (t *Tree) Path(name string) string { return filepath.Join(t.dir, filepath.FromSlash(name)) }

// Created returns the directories that were created for the files, the outermost first.
func (t *Tree) Created() []string { return slices.Clone(t.made) }

// checkName refuses what is not a path of plain file names, separated by slashes.
func checkName(name string) error {
	for elem := range strings.SplitSeq(name, "/") {
		bad := strings.ContainsFunc(elem, func(r rune) bool {
			return r == '\\' || r == utf8.RuneError || unicode.IsControl(r)
		})
		if bad || elem == "" || elem == "." || elem == ".." || len(elem) > 255 || !filepath.IsLocal(elem) {
			return ErrName
		}
	}
	return nil
}

// Stage writes a file of the tree under another name, from what f writes. The error is a [*FileError] if the
// file may not be written, or that of f.
func (t *Tree) Stage(name string, f func(io.Writer) error) error {
	if err := checkName(name); err != nil {
		return &FileError{t.Path(name), err}
	}
	exists, err := t.look(name)
	if err != nil {
		return &FileError{t.Path(name), err}
	}
	s := &staged{name: name, replace: exists}
	h := objects.NewHasher()
	switch {
	case !t.opts.DryRun:
		err = t.write(s, h, f)
	case exists && !t.opts.Force:
		err = f(h)
	}
	if err != nil {
		return err
	}
	s.sum = h.Sum()
	if exists && !t.opts.Force {
		err = t.mayReplace(name, s.sum)
	}
	if err != nil {
		return errors.Join(&FileError{t.Path(name), err}, t.drop(s))
	}
	t.staged = append(t.staged, s)
	return nil
}

// look reports whether there is a file of the name, and refuses everything else that can be there.
func (t *Tree) look(name string) (exists bool, err error) {
	if t.root == nil {
		return false, nil
	}
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		fi, err := t.root.Lstat(name[:i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, err
		case fi.Mode().Type() == fs.ModeSymlink:
			return false, fmt.Errorf("%s %w", t.Path(name[:i]), ErrLink)
		case !fi.IsDir():
			return false, fmt.Errorf("%s is not a directory", t.Path(name[:i]))
		}
	}
	fi, err := t.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case fi.Mode().Type() == fs.ModeSymlink && t.opts.Force:
		return true, nil
	case fi.Mode().Type() == fs.ModeSymlink:
		return false, ErrLink
	case !fi.Mode().IsRegular():
		return false, ErrInWay
	}
	return true, nil
}

// mayReplace reports whether the file of the name has the bytes that are to be written, or those that mem wrote to it.
func (t *Tree) mayReplace(name string, sum objects.Hash) error {
	f, err := t.root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	h := objects.NewHasher()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	there := h.Sum()
	if there == sum || t.opts.Wrote != nil && t.opts.Wrote(t.Path(name), there) {
		return nil
	}
	return ErrExists
}

// write writes what f writes into a new file next to the one of the name.
func (t *Tree) write(s *staged, h *objects.Hasher, f func(io.Writer) error) error {
	if err := t.mkdirs(path.Dir(s.name)); err != nil {
		return err
	}
	file, err := t.create(s)
	if err != nil {
		return err
	}
	if err = f(io.MultiWriter(file, h)); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", t.Path(s.name), err), t.drop(s))
	}
	return nil
}

// create opens a new file of a name that is free.
func (t *Tree) create(s *staged) (*os.File, error) {
	for n := 0; ; n++ {
		s.tmp = path.Join(path.Dir(s.name), fmt.Sprintf(".mem-%d-%d", os.Getpid(), n))
		f, err := t.root.OpenFile(s.tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// mkdirs creates a directory of the tree with those above it.
func (t *Tree) mkdirs(dir string) error {
	if dir == "." {
		return nil
	}
	if err := t.mkdirs(path.Dir(dir)); err != nil {
		return err
	}
	err := t.root.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil // what it is was looked at
	}
	if err == nil {
		t.made = append(t.made, t.Path(dir))
	}
	return err
}

// drop removes the file that is not needed.
func (t *Tree) drop(s *staged) error {
	if s.tmp == "" {
		return nil
	}
	return t.root.Remove(s.tmp)
}
