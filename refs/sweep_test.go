package refs

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/memvcs/mem/refs/disk"
)

// TestSweepIsNotStarved lets a sweep wait for somebody who writes: nobody new joins those that it waits for, so it
// starts when they are done.
func TestSweepIsNotStarved(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	late, err := Open(r.Dir(), Options{Now: r.opts.Now, Rand: r.opts.Rand, LockTimeout: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	unshare, err := r.lockShared(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	swept := make(chan error)
	go func() { swept <- r.Sweep(t.Context()) }()
	for {
		unlock, free, err := disk.TryLock(filepath.Join(r.dir, MemoryDir, "mem", sweepGate))
		if err != nil {
			t.Fatal(err)
		}
		if !free {
			break // the sweep waits
		}
		unlock()
		runtime.Gosched()
	}
	if done, err := late.lockShared(t.Context()); !errors.Is(err, ErrLocked) {
		t.Errorf("share while a sweep waits: %v, want ErrLocked", err)
		if err == nil {
			done()
		}
	}
	unshare()
	if err := <-swept; err != nil {
		t.Errorf("Sweep: %v", err)
	}
	if done, err := late.lockShared(t.Context()); err != nil {
		t.Errorf("share after a sweep: %v", err)
	} else {
		done()
	}
}
