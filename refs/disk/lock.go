package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/memvcs/mem/objects/pack"
)

// Lock locks file exclusively with a kernel lock and returns its unlock function. The lock ends with the process, so
// it is never stale. If the directory of file is missing, as in a clone made by git, it is created. The error wraps
// [ErrLocked] if the lock is not free within d.
func Lock(ctx context.Context, file string, d time.Duration) (func(), error) {
	if err := pack.CheckFile(file); err != nil {
		return nil, err
	}
	for {
		l, err := waitLock(ctx, file, d)
		if err != nil {
			return nil, err
		}
		same, err := isSameFile(file, l)
		if same {
			return func() { l.Close() }, nil
		}
		if err = errors.Join(err, l.Close()); err != nil {
			return nil, err
		}
	}
}

// isSameFile reports whether file is still the locked file: a sweep may have removed it between opening and locking.
func isSameFile(file string, l *flock.Flock) (bool, error) {
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

// waitLock waits for a lock at most d.
func waitLock(ctx context.Context, file string, d time.Duration) (*flock.Flock, error) {
	l := flock.New(file, flock.SetPermissions(0o600))
	ok, err := withDir(file, l.TryLock)
	if ok || err != nil {
		return l, err
	}
	got := make(chan error) // unbuffered: a completed send means that the lock was taken over
	abandoned := make(chan struct{})
	go func() {
		err := l.Lock() // the kernel queues waiters, so none starves
		select {
		case <-abandoned:
			l.Close() // after the timeout
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

// withDir calls try and, if the directory of file is missing, creates it and calls try again.
func withDir(file string, try func() (bool, error)) (bool, error) {
	ok, err := try()
	if errors.Is(err, os.ErrNotExist) {
		if made := os.Mkdir(filepath.Dir(file), 0o700); made == nil || errors.Is(made, os.ErrExist) {
			return try()
		}
	}
	return ok, err
}

// TryLock locks file exclusively if it is free. It reports false if another process has locked it, or has removed it
// meanwhile.
func TryLock(file string) (unlock func(), ok bool, err error) {
	if err := pack.CheckFile(file); err != nil {
		return nil, false, err
	}
	l := flock.New(file, flock.SetPermissions(0o600))
	if ok, err = withDir(file, l.TryLock); err != nil || !ok {
		return nil, false, err
	}
	if ok, err = isSameFile(file, l); err != nil || !ok {
		return nil, false, errors.Join(err, l.Close())
	}
	return func() { l.Close() }, true, nil
}

// Share is [Lock] for a shared lock. The file must never be removed.
func Share(ctx context.Context, file string, d time.Duration) (func(), error) {
	if err := pack.CheckFile(file); err != nil {
		return nil, err
	}
	l := flock.New(file, flock.SetPermissions(0o600))
	ok, err := withDir(file, l.TryRLock)
	if err == nil && !ok { // a sweep is under way
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		if _, err = l.TryRLockContext(ctx, sharePollInterval); errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%s: %w for %v", file, ErrLocked, d)
		}
	}
	if err != nil {
		return nil, err
	}
	return func() { l.Close() }, nil
}

const sharePollInterval = 5 * time.Millisecond
