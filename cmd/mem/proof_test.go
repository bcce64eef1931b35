package main_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A Rig tries to break a memory on a real disk: it runs the program as a user does, kills commands with SIGKILL, runs
// many at once and cuts the power of a disk. It records the requested and the acknowledged data, where exit code 0 is
// the acknowledgement, and compares the content of the store with both:
//
//   - acknowledged data exists, byte for byte
//   - existing data was requested
//   - "mem fsck" is clean, and nothing is ever repaired
//   - the next command works
//
// The programs that it starts use a home, a memory and settings below its directory, never those of the user. It is
// safe for concurrent use.
type Rig struct {
	Bin    string               // the program
	Dir    string               // an empty directory on the disk under test
	Path   string               // where the program checks for others
	Now    func() time.Time     // the clock of memories opened in this process
	Uptime func() time.Duration // a monotonic clock
	Seed   uint64               // of every random choice
	Note   func(format string, args ...any)
}

// A Broken error reports a promise that did not hold.
type Broken struct{ What string }

func (b *Broken) Error() string { return b.What }

func brokenf(format string, args ...any) error { return &Broken{fmt.Sprintf(format, args...)} }

// A Skipped error reports why a proof cannot run on this machine.
type Skipped struct{ Why string }

func (s *Skipped) Error() string { return s.Why }

func skipped(format string, args ...any) error { return &Skipped{fmt.Sprintf(format, args...)} }

// A Promise is the result of one property: the number of checks, and the error if it did not hold.
type Promise struct {
	What  string
	Times int
	Of    string // what was counted
	Why   string // the violation, "" for none
}

// dir creates a directory below that of the rig.
func (r *Rig) dir(name string) (string, error) {
	dir := filepath.Join(r.Dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

func (r *Rig) note(format string, args ...any) {
	if r.Note != nil {
		r.Note(format, args...)
	}
}

// RemoveAll removes a directory, with retries because background programs may still write to it.
func RemoveAll(dir string) error {
	var err error
	for range 300 {
		if err = os.RemoveAll(dir); err == nil {
			time.Sleep(20 * time.Millisecond)
			if _, gone := os.Lstat(dir); errors.Is(gone, os.ErrNotExist) {
				return nil
			}
		}
		time.Sleep(80 * time.Millisecond)
	}
	return cmp.Or(err, fmt.Errorf("remove %s: a program still writes to it", dir))
}

// parallel calls work for 0 to n-1, at most limit at a time. The first error stops the others.
func parallel(ctx context.Context, n, limit int, work func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	slots := make(chan struct{}, limit)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() != nil {
				return
			}
			if err := work(ctx, i); err != nil {
				stop(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return ctx.Err()
}

// random is a deterministic random generator for the choices of a proof.
type random uint64

// next is SplitMix64.
func (d *random) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// IntN returns a number from 0 to n-1.
func (d *random) IntN(n int) int { return int(d.next() >> 1 % uint64(n)) }

// chance returns true with the probability 1/n.
func (d *random) chance(n int) bool { return d.IntN(n) == 0 }
