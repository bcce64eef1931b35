package refs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/memvcs/mem/objects/pack"
)

// lockFile takes the kernel lock of file, waiting at most d, and returns what releases it. The lock
// ends with the process, so none is ever stale. The directory of file is made if it is missing, as in a
// copy that git made. The error wraps [ErrLocked] when the time is over.
func lockFile(ctx context.Context, file string, d time.Duration) (func(), error) {
	if err := pack.CheckFile(file); err != nil {
		return nil, err
	}
	for {
		l, err := waitFile(ctx, file, d)
		if err != nil {
			return nil, err
		}
		same, err := leadsTo(file, l)
		if same {
			return func() { l.Close() }, nil
		}
		if err = errors.Join(err, l.Close()); err != nil {
			return nil, err
		}
	}
}

// leadsTo reports whether the name of a lock still leads to what was locked: whoever sweeps may have removed it
// between the moment it was opened and the moment it was locked.
func leadsTo(file string, l *flock.Flock) (bool, error) {
	has, err := l.Stat()
	if err != nil {
		return false, err
	}
	now, err := os.Lstat(file)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(has, now), err
}

// waitFile waits for a lock at most d.
func waitFile(ctx context.Context, file string, d time.Duration) (*flock.Flock, error) {
	l := flock.New(file, flock.SetPermissions(0o600))
	ok, err := inDir(file, l.TryLock)
	if ok || err != nil {
		return l, err
	}
	got := make(chan error) // who sends knows that it was taken
	abandoned := make(chan struct{})
	go func() {
		err := l.Lock() // queues in the kernel, so that nobody starves
		select {
		case <-abandoned:
			l.Close() // it came too late
		case got <- err:
		}
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case err := <-got:
		return l, err
	case <-timer.C:
		err = fmt.Errorf("%s: %w for %v", file, ErrLocked, d)
	case <-ctx.Done():
		err = ctx.Err()
	}
	close(abandoned)
	return nil, err
}

// inDir tries to lock file, once more if its directory had to be made. Another process may make it at the same moment.
func inDir(file string, try func() (bool, error)) (bool, error) {
	ok, err := try()
	if errors.Is(err, os.ErrNotExist) {
		if made := os.Mkdir(filepath.Dir(file), 0o700); made == nil || errors.Is(made, os.ErrExist) {
			return try()
		}
	}
	return ok, err
}

// tryLockFile takes the kernel lock of file if nobody has it, and nobody had it and removed the file meanwhile.
func tryLockFile(file string) (unlock func(), ok bool, err error) {
	if err := pack.CheckFile(file); err != nil {
		return nil, false, err
	}
	l := flock.New(file, flock.SetPermissions(0o600))
	if ok, err = inDir(file, l.TryLock); err != nil || !ok {
		return nil, false, err
	}
	if ok, err = leadsTo(file, l); err != nil || !ok {
		return nil, false, errors.Join(err, l.Close())
	}
	return func() { l.Close() }, true, nil
}

// WriteFile makes file with the content b: durable and whole, or not at all.
func WriteFile(file string, b []byte) error {
	dir := filepath.Dir(file)
	f, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(dir)
}

// WriteNote makes a file of the store beside the repositories, which never travels: durable and whole, or not
// at all. It is an indented JSON object with a newline behind it, and gets a member "sum".
func (r *Repo) WriteNote(name string, b []byte) error {
	if err := WriteFile(filepath.Join(r.dir, name), withSum(b)); err != nil {
		return writing(fmt.Errorf("write %s: %w", name, err))
	}
	return nil
}

// ReadNote decodes what [Repo.WriteNote] wrote into v, and reports false if it is not there. The error wraps
// [ErrDamaged] if it is not as it was written: a damaged note is never taken for a missing one.
func (r *Repo) ReadNote(name string, v any) (bool, error) { return readNote(r.dir, name, v) }

func readNote(dir, name string, v any) (bool, error) {
	file := filepath.Join(dir, name)
	b, err := pack.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", file, err)
	}
	if err = checkNote(b); err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w: %w", file, ErrDamaged, err)
	}
	return true, nil
}

// DamagedNote returns the bytes of a note as they are. Whoever reads them trusts none.
func (r *Repo) DamagedNote(name string) ([]byte, error) {
	b, err := pack.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return b, nil
}

// ReplaceNote is [Repo.WriteNote] in the place of a damaged note, which it keeps with the other damaged files
// under the name that it returns.
func (r *Repo) ReplaceNote(name string, b []byte) (kept string, err error) {
	if kept, err = pack.SetAside(filepath.Join(r.dir, name), filepath.Join(r.dir, damagedDir)); err != nil {
		return "", writing(fmt.Errorf("keep the damaged %s: %w", name, err))
	}
	return keptAs("", kept), r.WriteNote(name, b)
}

// RemoveNote removes what [Repo.WriteNote] wrote.
func (r *Repo) RemoveNote(name string) error {
	if err := os.Remove(filepath.Join(r.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return writing(err)
	}
	return writing(syncDir(r.dir))
}
