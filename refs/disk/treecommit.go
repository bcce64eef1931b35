package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
)

// Commit renames the staged files into place and syncs the directories. It calls wrote, which may be nil, for each
// file. It does not replace a file that appeared meanwhile.
func (t *Tree) Commit(wrote func(path string, sum objects.Hash)) error {
	for len(t.staged) > 0 {
		s := t.staged[0]
		t.staged = t.staged[1:]
		if t.opts.DryRun {
			continue
		}
		if err := t.name(s); err != nil {
			return errors.Join(&FileError{t.Path(s.name), err}, t.drop(s))
		}
		if err := syncDir(filepath.Dir(t.Path(s.name))); err != nil {
			return fmt.Errorf("write %s: %w", t.Path(s.name), err)
		}
		if wrote != nil {
			wrote(t.Path(s.name), s.sum)
		}
	}
	for _, dir := range slices.Backward(t.made) {
		if err := syncDir(filepath.Dir(dir)); err != nil {
			return fmt.Errorf("create %s: %w", dir, err)
		}
	}
	return nil
}

// name renames a staged file into place.
func (t *Tree) name(s *staged) error {
	if fi, err := t.root.Lstat(s.name); s.size >= 0 && (err != nil || fi.Size() != s.size) {
		return errors.Join(err, ErrExists) // it went on meanwhile
	}
	if s.replace {
		return t.root.Rename(s.tmp, s.name)
	}
	err := t.root.Link(s.tmp, s.name) // fails if the file exists; a rename would replace it
	switch {
	case err == nil:
		return t.root.Remove(s.tmp)
	case errors.Is(err, fs.ErrExist):
		return ErrExists
	}
	if _, err := t.root.Lstat(s.name); !errors.Is(err, fs.ErrNotExist) {
		return ErrExists
	}
	return t.root.Rename(s.tmp, s.name) // the file system has no hard links
}

// Close removes staged files that were not committed, and the directories that were created for them.
func (t *Tree) Close() error {
	var errs []error
	for _, s := range t.staged {
		errs = append(errs, t.drop(s))
	}
	t.staged = nil
	if !t.opts.DryRun {
		for _, dir := range slices.Backward(t.made) {
			_ = os.Remove(dir) // fails if it is not empty
		}
	}
	if t.root != nil {
		errs = append(errs, t.root.Close())
		t.root = nil
	}
	return errors.Join(errs...)
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	if err := pack.SyncDir(dir); err != nil && !unsyncable(err) {
		return err
	}
	return nil
}

// unsyncable reports whether a directory cannot be synced: some file systems do not support it, and a writable
// directory need not be readable.
func unsyncable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
}

// IsOutlet reports whether a path is a device, a pipe or an open file of a process. Such a path is written with
// [WriteOutlet], because a file must not replace it.
func IsOutlet(path string) bool {
	fi, err := os.Stat(path)
	if err != nil || fi.IsDir() {
		return false
	}
	if link, err := os.Readlink(path); err == nil && strings.HasPrefix(link, "/proc/") {
		return true // such as /dev/stdout
	}
	return !fi.Mode().IsRegular()
}

// WriteOutlet writes to a path that [IsOutlet] accepts. It appends to an open file of a process, such as /dev/stdout
// that a shell redirected to the end of a log.
func WriteOutlet(path string, f func(io.Writer) error) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f(out), out.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
