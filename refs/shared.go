package refs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/refs/disk"
)

// Shared is a bare repository in a directory that several devices write to, such as a remote on a network drive. It
// uses kernel locks; on a file system without them, Share and Lock do not lock. They wait at most for Timeout, or 10
// seconds if that is 0; then the error wraps [ErrLocked].
type Shared struct {
	*gitstore.Repo
	Timeout time.Duration
}

// Share locks the repository together with other callers of Share, and prevents Exclude until it is unlocked.
func (e Shared) Share(ctx context.Context) (unlock func(), err error) {
	return e.lock(ctx, sweepLock, disk.Share)
}

// Exclude waits until no other process uses the repository, and prevents its use until it is unlocked. The error wraps
// [errors.ErrUnsupported] on a file system without locks.
func (e Shared) Exclude(ctx context.Context) (unlock func(), err error) {
	return e.tryLock(ctx, sweepLock, disk.Lock)
}

// Lock locks a name that the callers have agreed on: letters, digits and "-".
func (e Shared) Lock(ctx context.Context, name string) (unlock func(), err error) {
	return e.lock(ctx, name+".lock", disk.Lock)
}

// lock is tryLock, but does not lock on a file system without locks.
func (e Shared) lock(ctx context.Context, name string, lock lockFunc) (func(), error) {
	unlock, err := e.tryLock(ctx, name, lock)
	if errors.Is(err, errors.ErrUnsupported) {
		return func() {}, nil
	}
	return unlock, err
}

type lockFunc = func(ctx context.Context, file string, wait time.Duration) (func(), error)

func (e Shared) tryLock(ctx context.Context, name string, lock lockFunc) (func(), error) {
	unlock, err := lock(ctx, filepath.Join(e.Dir(), "mem", name), timeout(Options{LockTimeout: e.Timeout}))
	if errors.Is(err, syscall.ENOLCK) {
		err = fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the remote: %w", err)
	}
	return unlock, nil
}
