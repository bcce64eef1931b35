package state_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/state"
)

// writeInPieces writes content as it may come and returns what finish opens, read.
func writeInPieces(t *testing.T, w *state.CacheWriter, content []byte) ([]byte, bool) {
	t.Helper()
	for rest := content; len(rest) > 0; {
		n := min(len(rest), 1+rand.IntN(100_000))
		if k, err := w.Write(rest[:n]); k != n || err != nil {
			t.Fatalf("Write = %d, %v, want %d", k, err, n)
		}
		rest = rest[n:]
	}
	return readClose(t, w.Finish())
}

func readClose(t *testing.T, r io.ReadCloser) ([]byte, bool) {
	t.Helper()
	if r == nil {
		return nil, false
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return b, true
}

// leftovers are the temporary files in the cache.
func leftovers(t *testing.T, m *layers.Memory) []string {
	t.Helper()
	left, err := filepath.Glob(m.CachePath("*", ".tmp-*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// What is long is read as it was written, piece by piece; one that was damaged counts as missing.
func TestLongCached(t *testing.T) {
	t.Parallel()
	layerstest.SkipShort(t)
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	for _, size := range []int{0, 1, 1000, state.LongCached - state.CacheHead, state.LongCached, state.LongCached + 1, 3*state.LongCached + 7} {
		file, content := m.CachePath("l1", "f"), bytes.Repeat([]byte("a line of it\n"), size/13+1)[:size]
		if got, ok := writeInPieces(t, &state.CacheWriter{M: m.DB, File: file, Most: state.LongCached}, content); !ok || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: written are %d, %v", size, len(got), ok)
		}
		r, ok := state.OpenCached(file)
		if got, _ := readClose(t, r); !ok || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: read are %d, %v", size, len(got), ok)
		}
		if b, ok := state.ReadCacheBytes(file); !ok || !bytes.Equal(b, content) {
			t.Errorf("%d bytes: read whole are %d, %v", size, len(b), ok)
		}
		stored, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(stored)
		bad[len(bad)-1] ^= 1
		for _, b := range [][]byte{bad, stored[:len(stored)-1], append(stored, '!')} {
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, ok := state.OpenCached(file); ok {
				t.Errorf("%d bytes: a damaged file of %d counts as good", size, len(b))
			}
		}
		os.Remove(file)
	}
	if left := leftovers(t, m); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// Where nothing can be cached what is short is there all the same; what is long is not, unless all may be held.
func TestLongNotCached(t *testing.T) {
	t.Parallel()
	layerstest.SkipShort(t)
	long := bytes.Repeat([]byte("0123456789"), state.LongCached/10+1)
	for name, spoil := range map[string]func(m *layers.Memory, file string) error{
		"no directory": func(m *layers.Memory, file string) error { return os.WriteFile(filepath.Dir(file), nil, 0o600) },
		"dropped":      func(m *layers.Memory, file string) error { return layerstest.Reopen(t, m).DropCache() },
	} {
		m := layerstest.NewMemory(t, layerstest.TestOptions())
		file := m.CachePath("l1", "f")
		if err := spoil(m, file); err != nil {
			t.Fatal(err)
		}
		if got, ok := writeInPieces(t, &state.CacheWriter{M: m.DB, File: file, Most: state.LongCached}, long); ok {
			t.Errorf("%s: %d bytes come from nowhere", name, len(got))
		}
		for most, content := range map[int][]byte{state.LongCached: long[:state.LongCached], len(long): long} {
			if got, ok := writeInPieces(t, &state.CacheWriter{M: m.DB, File: file, Most: most}, content); !ok || !bytes.Equal(got, content) {
				t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(content), ok)
			}
		}
		if _, ok := state.OpenCached(file); ok {
			t.Errorf("%s: it is in the cache", name)
		}
		if left := leftovers(t, m); len(left) > 0 {
			t.Errorf("%s: left: %q", name, left)
		}
	}
}
