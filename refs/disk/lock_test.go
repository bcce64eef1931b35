package disk

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/memvcs/mem/objects/pack"
)

// Who waited too long for a lock does not get it later.
func TestLockThatComesTooLate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.lock")
	unlock, err := Lock(t.Context(), file, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := Lock(t.Context(), file, time.Millisecond); !errors.Is(err, ErrLocked) {
			t.Fatalf("%v, want ErrLocked", err)
		}
	}
	unlock()
	for range 100 {
		if unlock, err = Lock(t.Context(), file, time.Minute); err != nil {
			t.Fatal(err)
		}
		unlock()
		time.Sleep(time.Millisecond) // the others try it in between
	}
}

// TestLockExcludes increments a counter under the lock from several goroutines while another removes the file of the
// lock whenever it is free, as a sweep does: no increment is lost.
func TestLockExcludes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.lock")
	const each, writers = 50, 4
	n := 0
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				unlock, err := Lock(t.Context(), file, time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				n++
				unlock()
			}
		})
	}
	all.Go(func() {
		for range each {
			unlock, ok, err := TryLock(file)
			if err != nil {
				t.Error(err)
				return
			}
			if ok {
				if err := os.Remove(file); err != nil {
					t.Error(err)
				}
				unlock()
			}
		}
	})
	all.Wait()
	if n != each*writers {
		t.Errorf("%d increments under the lock are %d", each*writers, n)
	}
}

func TestTryLock(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "locks", "a.lock")
	unlock, ok, err := TryLock(file)
	if err != nil || !ok {
		t.Fatalf("TryLock of a free lock in a missing directory = %v, %v", ok, err)
	}
	if _, ok, err := TryLock(file); ok || err != nil {
		t.Errorf("TryLock of a taken lock = %v, %v; want false without an error", ok, err)
	}
	unlock()
	if unlock, ok, err = TryLock(file); err != nil || !ok {
		t.Fatalf("TryLock of a released lock = %v, %v", ok, err)
	}
	unlock()
	if _, _, err := TryLock(filepath.Join(filepath.Dir(file), "none", "deeper", "a.lock")); err == nil {
		t.Error("TryLock creates more than one directory")
	}
}

// TestShare takes a lock several times as shared, which keeps exclusive ones out, and the other way round.
func TestShare(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.lock")
	first, err := Share(t.Context(), file, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Share(t.Context(), file, 0)
	if err != nil {
		t.Fatalf("a second shared lock: %v", err)
	}
	first()
	if _, ok, err := TryLock(file); ok || err != nil {
		t.Errorf("TryLock of a shared lock = %v, %v", ok, err)
	}
	second()
	unlock, ok, err := TryLock(file)
	if err != nil || !ok {
		t.Fatalf("TryLock after all have released it = %v, %v", ok, err)
	}
	if _, err := Share(t.Context(), file, 10*time.Millisecond); !errors.Is(err, ErrLocked) {
		t.Errorf("Share of a taken lock = %v, want ErrLocked", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Share(ctx, file, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("Share with a cancelled context = %v", err)
	}
	if _, err := Lock(ctx, file, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("Lock with a cancelled context = %v", err)
	}
	unlock()
}

// TestLockOfNoFile refuses what would block a process for ever, and what is no file.
func TestLockOfNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Lock(t.Context(), dir, time.Minute); !errors.Is(err, pack.ErrNotFile) {
		t.Errorf("Lock of a directory = %v", err)
	}
	if _, _, err := TryLock(dir); !errors.Is(err, pack.ErrNotFile) {
		t.Errorf("TryLock of a directory = %v", err)
	}
	if _, err := Share(t.Context(), dir, time.Minute); !errors.Is(err, pack.ErrNotFile) {
		t.Errorf("Share of a directory = %v", err)
	}
}

// TestLockOfARemovedFile locks a file that a sweep has removed and another process has created again: the lock of the
// old file excludes nobody.
func TestLockOfARemovedFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.lock")
	l := flock.New(file)
	if ok, err := l.TryLock(); err != nil || !ok {
		t.Fatalf("TryLock = %v, %v", ok, err)
	}
	defer l.Close()
	if same, err := isSameFile(file, l); err != nil || !same {
		t.Errorf("isSameFile of the locked file = %v, %v", same, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if same, err := isSameFile(file, l); err != nil || same {
		t.Errorf("isSameFile of a removed file = %v, %v", same, err)
	}
	unlock, ok, err := TryLock(file)
	if err != nil || !ok {
		t.Fatalf("TryLock of the new file = %v, %v", ok, err)
	}
	defer unlock()
	if same, err := isSameFile(file, l); err != nil || same {
		t.Errorf("isSameFile of a new file = %v, %v", same, err)
	}
}
