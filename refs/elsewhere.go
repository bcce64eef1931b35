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

// An Elsewhere is a bare repository in a directory that other devices write to as well. Its locks are the
// kernel's, as those of a store are; where the file system has none, there is nothing to keep writers apart. A
// method waits at most for Timeout, 10 seconds if that is 0; then its error wraps [ErrLocked].
type Elsewhere struct {
	*gitstore.Repo
	Timeout time.Duration
}

// Share holds off those who have the repository for themselves, until it is unlocked.
func (e Elsewhere) Share(ctx context.Context) (unlock func(), err error) {
	return e.lock(ctx, sweepLock, disk.Share)
}

// Alone waits until no other process uses the repository, and keeps others out until it is unlocked.
func (e Elsewhere) Alone(ctx context.Context) (unlock func(), err error) {
	return e.lock(ctx, sweepLock, disk.Lock)
}

// Lock keeps others from what has that name: letters, digits and "-".
func (e Elsewhere) Lock(ctx context.Context, name string) (unlock func(), err error) {
	return e.lock(ctx, name+".lock", disk.Lock)
}

func (e Elsewhere) lock(ctx context.Context, name string,
	take func(context.Context, string, time.Duration) (func(), error)) (func(), error) {
	unlock, err := take(ctx, filepath.Join(e.Dir(), "mem", name), timeout(Options{LockTimeout: e.Timeout}))
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) {
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lock the remote: %w", err)
	}
	return unlock, nil
}
