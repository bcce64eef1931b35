package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memvcs/mem/objects/pack"
)

// A LockedError names the lock that another process did not release.
type LockedError struct {
	File string // the lock
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%v: another process holds %s (if no git command runs there, remove that file)", ErrLocked, e.File)
}

// Unwrap returns [ErrLocked].
func (e *LockedError) Unwrap() error { return ErrLocked }

// Update moves a branch from old to new; a zero old means that the branch does not exist yet. When it returns nil, the
// move is durable. The error wraps [ErrMoved] if the branch is not at old, and [ErrLocked] if another program kept
// git's lock until ctx was done, or for 10 seconds; then nothing has changed. After any other error the branch is at
// old or at new.
//
// The caller must prevent concurrent updates of the same branch by other processes of mem. Git may update it at any
// time. A lock left by a killed process of mem is recognised and reused.
func (r *Repo) Update(ctx context.Context, ref string, old, new pack.ID) error {
	return r.Prepare(ref, new).Update(ctx, old)
}

// A Move is a prepared update of a branch. Its file is being written to disk, but is not visible yet.
type Move struct {
	r       *Repo
	ref     string
	l       lock
	written chan error
}

// Prepare starts to move a branch. The commit need not be stored yet, so that both can be synced at the same time. The
// caller must call [Move.Update] or [Move.Cancel].
func (r *Repo) Prepare(ref string, new pack.ID) *Move {
	m := &Move{r: r, ref: ref, written: make(chan error, 1)}
	err := CheckRef(ref)
	if err == nil && new.IsZero() {
		err = fmt.Errorf("update branch %s: no commit given", ref)
	}
	if err != nil {
		m.written <- err
		return m
	}
	m.l = r.lockOf(ref)
	go func() {
		err := m.write(new)
		if err != nil {
			err = fmt.Errorf("update branch %s: %w", ref, err)
		}
		m.written <- err
	}()
	return m
}

func (m *Move) write(new pack.ID) error {
	if err := makeDirs(filepath.Dir(m.l.ticket)); err != nil {
		return err
	}
	if err := m.l.clear(); err != nil {
		return err
	}
	return m.l.writeTicket(new.String() + "\n")
}

// Cancel discards the move. The branch does not change.
func (m *Move) Cancel() error {
	if err := <-m.written; err != nil {
		return nil // nothing was written
	}
	return os.Remove(m.l.ticket)
}

// Update is [Repo.Update] for a prepared move.
func (m *Move) Update(ctx context.Context, old pack.ID) error {
	if err := <-m.written; err != nil {
		return err
	}
	if err := m.update(ctx, old); err != nil {
		return fmt.Errorf("update branch %s: %w", m.ref, err)
	}
	return nil
}

func (m *Move) update(ctx context.Context, old pack.ID) error {
	r, l := m.r, m.l
	if err := l.wait(ctx); err != nil {
		return errors.Join(err, os.Remove(l.ticket))
	}
	if err := r.move(m.ref, old, l.path); err != nil {
		return errors.Join(err, os.Remove(l.path), os.Remove(l.ticket))
	}
	err := r.syncDirs(filepath.Dir(l.path))
	if err == nil {
		r.register(m.ref)
	}
	return errors.Join(err, os.Remove(l.ticket))
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

// move compares the branch with old and renames the lock, which contains the new state, to the branch.
func (r *Repo) move(ref string, old pack.ID, lock string) error {
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
// our own, the ticket, which is then linked to the name of the lock. If lock and ticket are the same file, the lock is
// ours; if no process of ours updates the branch, a killed one has left it.
type lock struct {
	path   string
	ticket string
}

// lockOf returns the lock of a branch. The name of a ticket contains no slash.
func (r *Repo) lockOf(ref string) lock {
	return lock{
		path:   r.refPath(ref) + ".lock",
		ticket: filepath.Join(r.dir, scratch, strings.NewReplacer("%", "%25", "/", "%2F").Replace(ref)),
	}
}

// clear removes the files of a killed process. It never writes to the ticket: if the process was killed after the
// rename, ticket and branch are the same file.
func (l lock) clear() error {
	t, err := os.Lstat(l.ticket)
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
		ours, err := l.ours(t, p)
		if err != nil {
			return err
		}
		if ours {
			if err := os.Remove(l.path); err != nil {
				return err
			}
		}
	}
	return os.Remove(l.ticket)
}

// ours reports whether lock and ticket are the same file or, on file systems without links, have the same content: no
// other process writes that commit to this branch.
func (l lock) ours(ticket, lock fs.FileInfo) (bool, error) {
	if os.SameFile(ticket, lock) {
		return true, nil
	}
	want, err := pack.ReadFile(l.ticket)
	if err != nil {
		return false, err
	}
	got, err := pack.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return len(want) > 0 && bytes.Equal(want, got), err
}

func (l lock) writeTicket(content string) error { return writeSynced(l.ticket, content) }

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

// wait acquires the lock, waiting for other processes.
func (l lock) wait(ctx context.Context) error {
	pause, waited := firstPause, time.Duration(0)
	for {
		err := l.take()
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if waited >= maxWait {
			return &LockedError{l.path}
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w: %w", &LockedError{l.path}, context.Cause(ctx))
		case <-timer.C:
		}
		waited += pause
		pause = min(2*pause, maxPause)
	}
}

// take creates the lock atomically, or fails with fs.ErrExist.
func (l lock) take() error {
	for try := 0; ; try++ {
		err := makeDirs(filepath.Dir(l.path))
		if err == nil {
			err = os.Link(l.ticket, l.path)
		}
		switch {
		case err == nil, errors.Is(err, fs.ErrExist):
			return err
		case errors.Is(err, fs.ErrNotExist) && try < maxTries:
			continue // git has removed the empty directory
		case errors.Is(err, fs.ErrNotExist):
			return err
		}
		content, rerr := pack.ReadFile(l.ticket)
		if rerr != nil {
			return errors.Join(err, rerr)
		}
		return writeSynced(l.path, string(content)) // no links here
	}
}
