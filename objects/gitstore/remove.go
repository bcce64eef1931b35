package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/objects/pack"
)

// Remove deletes a branch, loose and packed, and removes it from [Repo.RegisteredRefs]. When it returns nil, the
// removal is durable. It deletes no commits. Removing a branch that does not exist is a no-op.
func (r *Repo) Remove(ctx context.Context, ref string) error {
	if err := r.remove(ctx, ref); err != nil {
		return fmt.Errorf("delete branch %s: %w", ref, err)
	}
	return nil
}

func (r *Repo) remove(ctx context.Context, ref string) error {
	if err := CheckRef(ref); err != nil {
		return err
	}
	l := r.lockOf(ref)
	err := l.acquire(ctx, "removed\n")
	if err != nil {
		return err
	}
	// unregister first: if the process is killed later, the branch is not reported as lost
	if err = r.Unregister(ref); err == nil {
		err = r.removePacked(ref)
	}
	if err == nil {
		if err = os.Remove(r.refPath(ref)); isAbsent(err) {
			err = nil
		}
	}
	if err == nil {
		err = r.syncDirs(filepath.Dir(l.path))
	}
	return errors.Join(err, os.Remove(l.path), os.Remove(l.pending))
}

// removePacked deletes a branch from packed-refs, with git's lock of that file.
func (r *Repo) removePacked(ref string) error {
	path := filepath.Join(r.dir, packedFile)
	b, err := pack.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !strings.Contains(string(b), " "+ref+"\n") {
		return nil
	}
	if err != nil {
		return err
	}
	lock := path + ".lock"
	if err := writeSynced(lock, ""); errors.Is(err, fs.ErrExist) {
		return lockedError(lock)
	} else if err != nil {
		return err
	}
	b, err = pack.ReadFile(path) // it may have changed before the lock
	if err == nil {
		err = replaceFile(r.dir, packedFile, packedWithout(string(b), func(line string) bool {
			return strings.HasSuffix(line, " "+ref+"\n")
		}))
	}
	return errors.Join(err, os.Remove(lock))
}

// packedWithout returns the text of packed-refs without the lines that drop selects, and the targets of those tags.
func packedWithout(text string, drop func(line string) bool) string {
	var out strings.Builder
	removed := false
	for line := range strings.Lines(text) {
		removed = drop(line) || removed && strings.HasPrefix(line, "^")
		if !removed {
			out.WriteString(line)
		}
	}
	return out.String()
}
