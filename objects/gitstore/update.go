package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/memvcs/mem/objects/pack"
)

// lockedError returns [ErrLocked] with the lock that another process did not release.
func lockedError(file string) error {
	return fmt.Errorf("%w: another process holds %s (if no git command runs there, remove that file)", ErrLocked, file)
}

// Update moves a branch from old to new; a zero old means that the branch does not exist yet. When it returns nil, the
// move is durable. The error wraps [ErrMoved] if the branch is not at old, and [ErrLocked] if another program kept
// git's lock until ctx was done, or for 10 seconds; then nothing has changed. After any other error the branch is at
// old or at new.
//
// The caller must prevent concurrent updates of the same branch by other processes of mem. Git may update it at any
// time. A lock left by a killed process of mem is recognised and reused.
func (r *Repo) Update(ctx context.Context, ref string, old, new pack.ID) error {
	err := CheckRef(ref)
	if err == nil && new.IsZero() {
		err = errors.New("no commit given")
	}
	if err == nil {
		err = r.update(ctx, ref, old, new)
	}
	if err != nil {
		return fmt.Errorf("update branch %s: %w", ref, err)
	}
	return nil
}

func (r *Repo) update(ctx context.Context, ref string, old, new pack.ID) error {
	l := r.lockOf(ref)
	if err := l.acquire(ctx, new.String()+"\n"); err != nil {
		return err
	}
	if err := r.compareAndRename(ref, old, l.path); err != nil {
		return errors.Join(err, os.Remove(l.path), os.Remove(l.pending))
	}
	err := r.syncDirs(filepath.Dir(l.path))
	if err == nil {
		r.register(ref)
	}
	return errors.Join(err, os.Remove(l.pending))
}

// syncDirs syncs dir. If git has packed the branch meanwhile and removed the empty directory, it syncs that removal.
func (r *Repo) syncDirs(dir string) error {
	err := pack.SyncDir(dir)
	for errors.Is(err, fs.ErrNotExist) && len(dir) > len(r.dir) {
		dir = filepath.Dir(dir)
		err = pack.SyncDir(dir)
	}
	return err
}

// compareAndRename compares the branch with old and renames the lock, which contains the new state, to the branch.
func (r *Repo) compareAndRename(ref string, old pack.ID, lock string) error {
	now, err := r.Ref(ref)
	if err != nil {
		return err
	}
	if now != old {
		return fmt.Errorf("it is at %s, not %s: %w", now, old, ErrMoved)
	}
	path := r.refPath(ref)
	err = os.Rename(lock, path)
	if st, serr := os.Lstat(path); err != nil && serr == nil && st.IsDir() {
		// Like git, remove an empty directory that has the name of the branch.
		if rerr := os.Remove(path); rerr != nil {
			return errors.Join(err, rerr)
		}
		err = os.Rename(lock, path)
	}
	return err
}

// A lock is git's lock of a branch, created so that its owner is recognisable: the new state is written to a file of
// our own, pending, which is then linked to the name of the lock. If both names are the same file, the lock belongs to
// mem; if no process of mem updates the branch, a killed one has left it.
type lock struct {
	path    string
	pending string
}

// lockOf returns the lock of a branch.
func (r *Repo) lockOf(ref string) lock {
	return lock{
		path:    r.refPath(ref) + ".lock",
		pending: filepath.Join(r.dir, tempDir, escapeRef(ref)),
	}
}

// removeStale removes the files of a killed process. It never writes to the pending file: if the process was killed
// after the rename, that file and the branch are the same.
func (l lock) removeStale() error {
	t, err := os.Lstat(l.pending)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	p, err := os.Lstat(l.path)
	if err != nil && !isAbsent(err) {
		return err
	}
	if err == nil {
		ours, err := l.isOurs(t, p)
		if err != nil {
			return err
		}
		if ours {
			if err := os.Remove(l.path); err != nil {
				return err
			}
		}
	}
	return os.Remove(l.pending)
}

// isOurs reports whether lock and pending file are the same or, on file systems without hard links, have the same
// content: no other process writes that commit to this branch.
func (l lock) isOurs(pending, lock fs.FileInfo) (bool, error) {
	if os.SameFile(pending, lock) {
		return true, nil
	}
	want, err := pack.ReadFile(l.pending)
	if err != nil {
		return false, err
	}
	got, err := pack.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return len(want) > 0 && bytes.Equal(want, got), err
}

// writeSynced creates a new file with durable content. On an error it removes the file.
func writeSynced(path, content string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

const (
	firstPause = time.Millisecond
	maxPause   = 32 * time.Millisecond
	maxWait    = 10 * time.Second
)

// acquire writes the new state of the branch and acquires the lock, waiting for other processes.
func (l lock) acquire(ctx context.Context, content string) error {
	if err := makeDirs(filepath.Dir(l.pending)); err != nil {
		return err
	}
	if err := l.removeStale(); err != nil {
		return err
	}
	if err := writeSynced(l.pending, content); err != nil {
		return err
	}
	if err := l.wait(ctx); err != nil {
		return errors.Join(err, os.Remove(l.pending))
	}
	return nil
}

func (l lock) wait(ctx context.Context) error {
	pause, waited := firstPause, time.Duration(0)
	for {
		err := l.tryAcquire()
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if waited >= maxWait {
			return lockedError(l.path)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w: %w", lockedError(l.path), context.Cause(ctx))
		case <-timer.C:
		}
		waited += pause
		pause = min(2*pause, maxPause)
	}
}

// tryAcquire creates the lock atomically, or fails with fs.ErrExist.
func (l lock) tryAcquire() error {
	for try := 0; ; try++ {
		err := makeDirs(filepath.Dir(l.path))
		if err == nil {
			err = os.Link(l.pending, l.path)
		}
		switch {
		case err == nil, errors.Is(err, fs.ErrExist):
			return err
		case errors.Is(err, fs.ErrNotExist) && try < 10:
			continue // git removed the empty directory
		case errors.Is(err, fs.ErrNotExist):
			return err
		}
		content, rerr := pack.ReadFile(l.pending)
		if rerr != nil {
			return errors.Join(err, rerr)
		}
		return writeSynced(l.path, string(content)) // the file system has no hard links
	}
}
