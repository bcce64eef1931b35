package refs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/memvcs/mem/refs/disk"
)

// TestHold lets several openers of one store share out ten pieces: no two decide at once, none is given twice, and what
// was left behind by one that is gone counts no more.
func TestHold(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	first := newRepo(t)
	const pieces = 10
	full := errors.New("nothing is left")
	var mu sync.Mutex
	used, refused := 0, 0
	take := func(r *Repo) error {
		h, err := r.Hold(ctx, func(others [][]byte) ([]byte, error) {
			held := 0
			for _, note := range others {
				n, err := strconv.Atoi(string(note))
				if err != nil {
					return nil, err
				}
				held += n
			}
			mu.Lock()
			defer mu.Unlock()
			if used+held+2 > pieces {
				return nil, full
			}
			return []byte("2"), nil
		})
		if err != nil {
			return err
		}
		return h.Release(ctx, func() error {
			mu.Lock()
			defer mu.Unlock()
			used++ // it took less than it might have
			return nil
		})
	}
	var wg sync.WaitGroup
	for range 4 {
		r, err := Open(first.Dir(), testOptions())
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		wg.Go(func() {
			for range 5 {
				switch err := take(r); {
				case errors.Is(err, full):
					mu.Lock()
					refused++
					mu.Unlock()
				case err != nil:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if used > pieces || used < 3 || used+refused != 20 {
		t.Errorf("%d used of %d, %d refused", used, pieces, refused)
	}

	used = 0
	dir := filepath.Join(first.Dir(), holdsDir)
	for i := range 20 { // as kill leaves them behind: with a note, with half a note, with none
		name := filepath.Join(dir, fmt.Sprintf("%s%d", holdPrefix, i))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if i%3 > 0 {
			if err := os.WriteFile(name+noteSuffix, []byte("2")[:i%3-1], 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := take(first); err != nil {
		t.Errorf("beside holds of processes that are gone: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "lock" {
		t.Errorf("left over: %v, %v", left, err)
	}
	if _, err := first.Hold(ctx, func([][]byte) ([]byte, error) { return nil, full }); !errors.Is(err, full) {
		t.Errorf("got %v, want the error of decide", err)
	}
	kept := errors.New("not written")
	h, err := first.Hold(ctx, func([][]byte) ([]byte, error) { return []byte("1"), nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Release(ctx, func() error { return kept }); !errors.Is(err, kept) {
		t.Errorf("got %v, want the error of settle", err)
	}
}

// TestHoldIsSweptMeanwhile lets a hold be released at last by one that waited in vain for the lock, while another
// process decides: each step of it may fall between those of the other, and neither fails.
func TestHoldIsSweptMeanwhile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	hold := func(want int) *Hold {
		t.Helper()
		h, err := r.Hold(ctx, func(others [][]byte) ([]byte, error) {
			if len(others) != want {
				t.Errorf("%d other holds, want %d", len(others), want)
			}
			return []byte("1"), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	settled := 0
	release := func(h *Hold) {
		t.Helper()
		if err := h.Release(ctx, func() error { settled++; return nil }); err != nil {
			t.Error(err)
		}
	}
	one := hold(0)
	one.unlock()
	two := hold(0) // finds nobody behind the first, and sweeps it
	release(one)
	if err := os.Remove(two.file + noteSuffix); err != nil {
		t.Fatal(err)
	}
	three := hold(0) // has seen that the second lives, and its note is gone
	release(two)
	release(three)
	if left, err := os.ReadDir(filepath.Join(r.Dir(), holdsDir)); err != nil || len(left) != 1 || settled != 3 {
		t.Errorf("left over: %v, %v; %d settled", left, err, settled)
	}
}

// TestLockInNewDirectory takes a lock in a directory that is not there yet, several at once.
func TestLockInNewDirectory(t *testing.T) {
	t.Parallel()
	for i := range 50 {
		file := filepath.Join(t.TempDir(), strconv.Itoa(i), "lock")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				unlock, err := disk.Lock(t.Context(), file, time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				unlock()
			})
		}
		wg.Wait()
	}
}
