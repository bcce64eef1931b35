package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/objects"
)

// Reasons why a [Tree] does not write a file.
var (
	ErrName   = errors.New("not a valid file name")
	ErrLink   = errors.New("is a symbolic link")
	ErrExists = errors.New("the file exists, and mem has no record that it wrote these bytes")
	ErrInWay  = errors.New("is not a regular file")
)

// A FileError reports a file that was not written. It wraps the reason.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// TreeOptions are the options of a [Tree].
type TreeOptions struct {
	Force    bool // replace any regular file or link
	Continue bool // replace a file that is the beginning of the new one
	DryRun   bool // only check

	// Wrote reports whether mem wrote these bytes to a path last; may be nil.
	Wrote func(path string, sum objects.Hash) bool
}

// A Tree is a directory of a user to write files into. Names are resolved inside of it ([os.Root]), and links are refused. A file
// is only replaced if mem wrote it and it has not changed, if it has the same bytes, or with [TreeOptions].Force, or with
// [TreeOptions].Continue if the new bytes begin with its own. Files are written under temporary names, synced, and renamed
// when all of them are complete. A temporary file of a command that was killed is removed by a later one.
//
// Call Stage for each file, then Commit, and Close in any case.
type Tree struct {
	dir    string
	root   *os.Root // nil in a dry run without the directory
	opts   TreeOptions
	made   []string // created directories, the outermost first
	staged []*staged
}

// A staged is a file under its temporary name.
type staged struct {
	name    string // in the tree, with slashes
	tmp     string // "" in a dry run
	sum     objects.Hash
	replace bool  // a file exists and may be replaced
	size    int64 // of a file that the new one continues, else -1
}

// OpenTree opens the directory dir, a path from the user, and creates it if it does not exist.
func OpenTree(dir string, o TreeOptions) (*Tree, error) {
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

// checkName refuses names that are not a path of plain file names, separated by slashes.
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

// Stage writes a file under a temporary name, with the content that f writes. The error is a [*FileError] if the
// file must not be written, or that of f.
func (t *Tree) Stage(name string, f func(io.Writer) error) error {
	if err := checkName(name); err != nil {
		return &FileError{t.Path(name), err}
	}
	exists, err := t.look(name)
	if err != nil {
		return &FileError{t.Path(name), err}
	}
	s := &staged{name: name, replace: exists, size: -1}
	h := objects.NewHasher()
	old, err := t.old(name, exists)
	if err != nil {
		return &FileError{t.Path(name), err}
	}
	if old != nil {
		defer old.file.Close()
		write := f
		f = func(w io.Writer) error { return write(io.MultiWriter(w, old)) }
	}
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
		if err = t.mayReplace(name, s.sum); errors.Is(err, ErrExists) && old.isBeginning() {
			s.size, err = old.n, nil
		}
	}
	if err != nil {
		return errors.Join(&FileError{t.Path(name), err}, t.drop(s))
	}
	t.staged = append(t.staged, s)
	return nil
}

// A beginning compares what is written to it with a file.
type beginning struct {
	file    *os.File
	n       int64 // bytes of the file that were compared
	differs bool
}

// old returns the existing file that the new one may continue, nil for none.
func (t *Tree) old(name string, exists bool) (*beginning, error) {
	if !exists || !t.opts.Continue {
		return nil, nil
	}
	f, err := t.root.Open(name)
	if err != nil {
		return nil, err
	}
	return &beginning{file: f}, nil
}

func (b *beginning) Write(p []byte) (int, error) {
	if b.differs {
		return len(p), nil
	}
	was := make([]byte, len(p))
	n, err := io.ReadFull(b.file, was)
	b.n += int64(n)
	b.differs = err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.Equal(was[:n], p[:n])
	return len(p), nil
}

// isBeginning reports whether what was written begins with the whole file.
func (b *beginning) isBeginning() bool {
	if b == nil || b.differs {
		return false
	}
	fi, err := b.file.Stat()
	return err == nil && fi.Size() == b.n
}

// look reports whether a regular file with the name exists, and refuses anything else.
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

// mayReplace checks that an existing file has the new bytes already, or the bytes that mem wrote.
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

// write writes a new temporary file in the directory of the file.
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

// create creates a file with an unused temporary name.
func (t *Tree) create(s *staged) (*os.File, error) {
	for n := 0; ; n++ {
		s.tmp = path.Join(path.Dir(s.name), fmt.Sprintf(".mem-%d-%d", os.Getpid(), n))
		f, err := t.root.OpenFile(s.tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			t.sweep(path.Dir(s.name), f)
		}
		return f, err
	}
}

// abandoned is the age from which a temporary file is one of a command that was killed.
const abandoned = time.Hour

// sweep removes abandoned temporary files from the directory of a new one. One that stays does no harm.
func (t *Tree) sweep(dir string, fresh *os.File) {
	now, err := fresh.Stat()
	if err != nil {
		return
	}
	entries, err := fs.ReadDir(t.root.FS(), dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		var pid, n int
		if _, err := fmt.Sscanf(e.Name(), ".mem-%d-%d", &pid, &n); err != nil || e.Name() != fmt.Sprintf(".mem-%d-%d", pid, n) {
			continue
		}
		if fi, err := e.Info(); err == nil && fi.Mode().IsRegular() && now.ModTime().Sub(fi.ModTime()) > abandoned {
			_ = t.root.Remove(path.Join(dir, e.Name())) // as above
		}
	}
}

// mkdirs creates a directory of the tree and its parents.
func (t *Tree) mkdirs(dir string) error {
	if dir == "." {
		return nil
	}
	if err := t.mkdirs(path.Dir(dir)); err != nil {
		return err
	}
	err := t.root.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil // checked before
	}
	if err == nil {
		t.made = append(t.made, t.Path(dir))
	}
	return err
}

// drop removes a temporary file.
func (t *Tree) drop(s *staged) error {
	if s.tmp == "" {
		return nil
	}
	return t.root.Remove(s.tmp)
}
