package state_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/state"
)

// What another process still writes while something is forgotten does not stop that, and is not there after it.
func TestCacheIsDroppedBesideWriters(t *testing.T) {
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	var stop atomic.Bool
	var writers sync.WaitGroup
	for i := range 3 {
		writers.Go(func() {
			for !stop.Load() {
				other, err := layers.Open(m.Refs.Dir(), layerstest.TestOptions())
				if err != nil {
					t.Error(err)
					return
				}
				for range 5 {
					other.WriteCacheBytes(other.CachePath("state", strings.Repeat("p", i+1)), []byte("forgotten"))
				}
				other.CacheDir.Close()
				other.Refs.Close()
			}
		})
	}
	for range 50 {
		if err := m.DropCache(); err != nil {
			t.Error(err)
			break
		}
	}
	stop.Store(true)
	writers.Wait()
	if _, err := os.Lstat(m.CachePath() + ".gone"); !os.IsNotExist(err) {
		t.Errorf("what was dropped is still there: %v", err)
	}
}

func TestCacheOfBeforeIsNotWritten(t *testing.T) {
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	old, err := layers.Open(m.Refs.Dir(), layerstest.TestOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	file := m.CachePath("state", "p")
	old.WriteCacheBytes(file, []byte("forgotten"))
	if err := m.DropCache(); err != nil {
		t.Fatal(err)
	}
	old.WriteCacheBytes(file, []byte("forgotten"))
	if left, _ := filepath.Glob(m.CachePath("state", "*")); len(left) > 0 {
		t.Errorf("%q are there after the cache was dropped", left)
	}
	left, err := filepath.Glob(m.CachePath("state", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q are there after the cache was dropped: %v", left, err)
	}
	fresh, got := "new", ""
	m.WriteCache(file, 1, &fresh)
	if !state.ReadCache(file, 1, &got) || got != "new" {
		t.Errorf("the cache that began anew has %q, want %q", got, "new")
	}
}
