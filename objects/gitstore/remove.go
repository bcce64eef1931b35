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

// Remove deletes a branch, loose and packed, and removes it from [Repo.RegisteredRefs]. When it returns nil, that is durable. It
// deletes no commits. Removing a branch that does not exist is a no-op.
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
	err := makeDirs(filepath.Dir(l.ticket))
	if err == nil {
		err = l.clear()
	}
	if err == nil {
		err = l.writeTicket("removed\n")
	}
	if err != nil {
		return err
	}
	if err := l.wait(ctx); err != nil {
		return errors.Join(err, os.Remove(l.ticket))
	}
	if err = r.Unregister(ref); err == nil { // first: if the process is killed now, the branch is not reported as lost
		err = r.unpack(ref)
	}
	if err == nil {
		if err = os.Remove(r.refPath(ref)); isAbsent(err) {
			err = nil
		}
	}
	if err == nil {
		err = r.syncDirs(filepath.Dir(l.path))
	}
	return errors.Join(err, os.Remove(l.path), os.Remove(l.ticket))
}

// unpack deletes a branch from packed-refs, with git's lock of that file.
func (r *Repo) unpack(ref string) error {
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
		return &LockedError{lock}
	} else if err != nil {
		return err
	}
	tmp, err := r.packedWithout(ref)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err == nil {
		err = pack.SyncDir(r.dir)
	}
	return errors.Join(err, os.Remove(lock))
}

// packedWithout writes packed-refs without a branch to a temporary file.
func (r *Repo) packedWithout(ref string) (tmp string, err error) {
	b, err := pack.ReadFile(filepath.Join(r.dir, packedFile))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	gone := false
	for line := range strings.Lines(string(b)) {
		gone = strings.HasSuffix(line, " "+ref+"\n") || gone && strings.HasPrefix(line, "^")
		if !gone {
			out.WriteString(line)
		}
	}
	return writeTemp(filepath.Join(r.dir, scratch), packedFile, out.String())
}
