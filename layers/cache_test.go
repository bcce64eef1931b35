package layers

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// What another process still writes while something is forgotten does not stop that, and is not there after it.
func TestCacheIsDroppedBesideWriters(t *testing.T) {
	m := newMemory(t, testOptions())
	var stop atomic.Bool
	var writers sync.WaitGroup
	for i := range 3 {
		writers.Go(func() {
			for !stop.Load() {
				other, err := Open(m.repo.Dir(), testOptions())
				if err != nil {
					t.Error(err)
					return
				}
				for range 5 {
					other.writeCache(other.cachePath("state", strings.Repeat("p", i+1)), "forgotten")
				}
				other.cacheDir.Close()
				other.repo.Close()
			}
		})
	}
	for range 50 {
		if err := m.dropCache(); err != nil {
			t.Error(err)
			break
		}
	}
	stop.Store(true)
	writers.Wait()
	if _, err := os.Lstat(m.cachePath() + ".gone"); !os.IsNotExist(err) {
		t.Errorf("what was dropped is still there: %v", err)
	}
}

func TestCacheOfBeforeIsNotWritten(t *testing.T) {
	m := newMemory(t, testOptions())
	old, err := Open(m.repo.Dir(), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	file := m.cachePath("state", "p")
	old.writeCache(file, "forgotten")
	if err := m.dropCache(); err != nil {
		t.Fatal(err)
	}
	old.writeCache(file, "forgotten")
	if left, _ := filepath.Glob(m.cachePath("state", "*")); len(left) > 0 {
		t.Errorf("%q are there after the cache was dropped", left)
	}
	left, err := filepath.Glob(m.cachePath("state", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q are there after the cache was dropped: %v", left, err)
	}
	var got string
	if m.writeCache(file, "new"); !readCache(file, &got) || got != "new" {
		t.Errorf("the cache that began anew has %q, want %q", got, "new")
	}
}
