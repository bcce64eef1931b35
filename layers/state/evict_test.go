package state_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/state"
)

// fillCache writes files of 1,000 bytes into a directory of the cache, the first one used longest ago.
func fillCache(t *testing.T, m *layers.Memory, dir string, n int) []string {
	t.Helper()
	var out []string
	for i := range n {
		file := m.CachePath(dir, fmt.Sprintf("f%03d", i))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		at := m.Opts.Now().Add(time.Duration(i-n) * time.Hour)
		if err := os.WriteFile(file, make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		out = append(out, file)
	}
	return out
}

func there(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func TestEvictCache(t *testing.T) {
	t.Parallel()
	o := layerstest.TestOptions()
	o.MaxCache = 20_000
	m := layerstest.NewMemory(t, o)
	l1, state := fillCache(t, m, "l1", 30), fillCache(t, m, "state", 5)
	log := fillCache(t, m, "hooks", 1)[0]
	was, err := m.EvictCache(true)
	if err != nil || was.Evicted != 18 || was.Freed != 18_000 || was.Bytes != 18_000 || !there(l1[0]) {
		t.Fatalf("dry run: %+v, %v", was, err)
	}
	m.Touch(l1[3]) // it was read: it is of use
	got, err := m.EvictCache(false)
	if err != nil || got != was {
		t.Fatalf("EvictCache = %+v, %v, want %+v", got, err, was)
	}
	for i, file := range l1 {
		if want := i == 3 || i > 18; there(file) != want {
			t.Errorf("file %d is there: %v, want %v", i, there(file), want)
		}
	}
	for _, file := range append(state, log) {
		if !there(file) {
			t.Errorf("%s was evicted", file)
		}
	}
	if again, err := m.EvictCache(false); err != nil || again.Evicted != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// TestEvictable fills each directory of the cache that grows with sessions: none of them is without a limit.
func TestEvictable(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"l1", "counts", "signs", "growing", "traces"} {
		o := layerstest.TestOptions()
		o.MaxCache = 5000
		m := layerstest.NewMemory(t, o)
		fillCache(t, m, dir, 10)
		if got, err := m.EvictCache(false); err != nil || got.Bytes > o.MaxCache {
			t.Errorf("%s: %+v, %v", dir, got, err)
		}
	}
}

// TestAbandonedInCache looks for what writers of the cache that were killed have left: it goes, wherever it is and however little the
// cache takes; what is being written stays.
func TestAbandonedInCache(t *testing.T) {
	t.Parallel()
	o := layerstest.TestOptions()
	o.MaxCache = 1 << 30
	m := layerstest.NewMemory(t, o)
	var left, kept []string
	for _, dir := range []string{"", "l1", "state", "seen"} {
		for name, age := range map[string]time.Duration{".tmp-1": state.Abandoned + time.Hour, ".tmp-2": state.Abandoned - time.Hour, "file": 2 * state.Abandoned} {
			file := m.CachePath(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			at := m.Opts.Now().Add(-age)
			if err := errors.Join(os.WriteFile(file, []byte("x"), 0o600), os.Chtimes(file, at, at)); err != nil {
				t.Fatal(err)
			}
			if name == ".tmp-1" {
				left = append(left, file)
			} else {
				kept = append(kept, file)
			}
		}
	}
	dry, err := m.EvictCache(true)
	if err != nil || dry.Files != len(kept) || !there(left[0]) {
		t.Errorf("dry run: %+v, %v", dry, err)
	}
	if got, err := m.EvictCache(false); err != nil || got != dry {
		t.Errorf("EvictCache = %+v, %v, want %+v", got, err, dry)
	}
	for _, file := range left {
		if there(file) {
			t.Errorf("%s is left", file)
		}
	}
	for _, file := range kept {
		if !there(file) {
			t.Errorf("%s was removed", file)
		}
	}
}

// TestEvictionIsRare closes memories at several times: one in an hour evicts.
func TestEvictionIsRare(t *testing.T) {
	t.Parallel()
	o := layerstest.TestOptions()
	now := o.Now()
	o.Now = func() time.Time { return now }
	o.MaxCache = 5000
	m := layerstest.NewMemory(t, o)
	for _, tt := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {time.Minute, false}, {59 * time.Minute, false}, {time.Hour, true}, {-3 * time.Hour, true}, {-3 * time.Hour, false}} {
		now = layerstest.TestOptions().Now().Add(tt.after)
		files := fillCache(t, m, "l1", 10)
		m.EvictSometimes()
		if evicted := !there(files[0]); evicted != tt.want {
			t.Errorf("%v later: evicted %v, want %v", tt.after, evicted, tt.want)
		}
	}
}

// TestWritersKeepTheLimit has memories write much to the cache that are opened one after the other within the hour, and one that
// stays open: the cache never takes more than its limit and a tenth.
func TestWritersKeepTheLimit(t *testing.T) {
	t.Parallel()
	o := layerstest.TestOptions()
	o.MaxCache = 40_000
	first := layerstest.NewMemory(t, o)
	dir := first.Refs.Dir()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for _, each := range []int{5, 200} {
		for n := 0; n < 200; n += each {
			m, err := layers.Open(dir, o)
			if err != nil {
				t.Fatal(err)
			}
			for i := range each {
				m.WriteCacheBytes(m.CachePath("l1", fmt.Sprintf("%d-%d", each, n+i)), make([]byte, 935))
				if now, err := m.EvictCache(true); err != nil || now.Bytes+now.Freed > o.MaxCache+o.MaxCache/10+3000 {
					t.Fatalf("after %d files: %+v, %v", n+i+1, now, err)
				}
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestEvictionBesideReaders reads L1 of all sample sessions in several goroutines while others evict: every answer is whole.
func TestEvictionBesideReaders(t *testing.T) {
	t.Parallel()
	m, sessions := layerstest.SampleSessions(t)
	m.Opts.MaxCache = 1
	want := map[string]string{}
	for _, s := range sessions {
		b, err := wholeL1(m, s)
		if err != nil {
			t.Fatal(err)
		}
		want[s.Session.ID] = b
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range layerstest.Rounds(30) {
				if _, err := m.EvictCache(false); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range layerstest.Rounds(5) {
				for _, s := range sessions {
					if b, err := wholeL1(m, s); err != nil || b != want[s.Session.ID] {
						t.Errorf("%s: %d bytes, %v, want %d", s.Session.ID, len(b), err, len(want[s.Session.ID]))
					}
				}
			}
		})
	}
	wg.Wait()
}

func wholeL1(m *layers.Memory, rev state.Rev) (string, error) {
	r, err := originals.L1(context.Background(), m.DB, rev.Project.ID, rev.Hash, 0)
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return string(b), err
}
