package pack

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
)

func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{9})
	if _, err := r.Read(b); err != nil {
		panic(err) // never fails
	}
	return b
}

// TestReceiveLarge: objects that go through a file arrive as they are, in whatever form, and take no memory.
func TestReceiveLarge(t *testing.T) {
	t.Parallel()
	big, soft := noise(minSpool+5_000_000), bytes.Repeat([]byte("the same again\n"), 3_000_000)
	small := []byte("small")
	l := testLimits()
	l.Object, l.Bytes = MaxSize, 1<<30
	levels, softly := []int{0, 1}, Encode(Blob, soft, 1)
	if testing.Short() { // the other one meets no other goroutines
		levels = levels[1:]
	}
	for _, level := range levels {
		largely := Encode(Blob, big, level)
		p := streamOf(t, Encode(Blob, small, 6), largely, softly, largely, Encode(Blob, []byte("last"), 6))
		all, got, err := receive(t, p, l)
		if err != nil || got.Objects != 5 || len(all) != 4 {
			t.Fatalf("level %d: %d objects, %+v, %v", level, len(all), got, err)
		}
		for _, b := range [][]byte{small, big, soft, []byte("last")} {
			if all[Name(Blob, b)] != "blob "+string(b) {
				t.Errorf("level %d: an object of %d bytes is another", level, len(b))
			}
		}
		torn := slices.Clone(p)
		torn[len(torn)/2] ^= 1
		if _, _, err := receive(t, torn, l); !errors.Is(err, ErrCorrupt) {
			t.Errorf("level %d: torn: %v", level, err)
		}
		if _, _, err := receive(t, p[:len(p)/2], l); !errors.Is(err, ErrCorrupt) {
			t.Errorf("level %d: half of it: %v", level, err)
		}
	}
}

// TestReceiveLargeMemory is not parallel: it counts all that is allocated.
func TestReceiveLargeMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED in short mode: under the race detector its count of memory says nothing")
	}
	p := streamOf(t, Encode(Blob, noise(3*minSpool), 6))
	l := testLimits()
	l.Object = MaxSize
	w, err := Create(t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = w.Receive(bytes.NewReader(p), l)
	runtime.ReadMemStats(&after)
	if err = errors.Join(err, w.Abort()); err != nil {
		t.Fatal(err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("%d bytes were allocated for an object of %d", n, 3*minSpool)
	}
}

// TestReceiveLargeLimits: only whole blobs may be large, and not many of them for nothing.
func TestReceiveLargeLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of megabytes, by one goroutine")
	}
	t.Parallel()
	l := testLimits()
	l.Object = MaxSize
	zeros := make([]byte, maxInMemory+1)
	blob := Encode(Blob, zeros, 1)
	if _, _, err := receive(t, streamOf(t, blob), l); err != nil {
		t.Errorf("a blob: %v", err)
	}
	for _, k := range []Kind{Commit, Tree, Tag} {
		if _, _, err := receive(t, streamOf(t, Encode(k, zeros, 1)), l); !errors.Is(err, ErrTooLarge) {
			t.Errorf("a %s: %v", k, err)
		}
	}
	d := append(appendSize(appendSize(nil, len(zeros)), 1), 1, 'x')
	raw := append(append(appendHeader(nil, refDelta, len(d)), blob.ID[:]...), deflated(d)...)
	if _, _, err := receive(t, rawPack(2, blob.raw, raw), l); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a delta of a large blob: %v", err)
	}
	many := slices.Repeat([]Entry{blob}, minSpooled/maxInMemory+4)
	if _, _, err := receive(t, streamOf(t, many...), l); !errors.Is(err, ErrTooLarge) {
		t.Errorf("many for nothing: %v", err)
	}
}

// TestCopyTo: an object that is copied stands in the other pack as it stood.
func TestCopyTo(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	contents := [][]byte{[]byte("small"), noise(minSpool + 1), []byte("last")}
	w, err := Create(from, "test")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range contents {
		if err := w.Add(Encode(Blob, b, 6)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d := OpenDir(from)
	defer d.Close()
	if w, err = Create(to, "test"); err != nil {
		t.Fatal(err)
	}
	for _, b := range contents {
		size, err := d.EntrySize(Name(Blob, b))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := d.CopyTo(w, Name(Blob, b)); err != nil || n != int64(size) {
			t.Errorf("copied %d bytes of %d: %v", n, size, err)
		}
	}
	if _, err := d.CopyTo(w, Name(Blob, []byte("nowhere"))); !errors.Is(err, ErrNotFound) {
		t.Errorf("what is not there: %v", err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	names := func(dir string) (out []string) {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			out = append(out, f.Name())
		}
		return out
	}
	if got, want := names(to), names(from); !slices.Equal(got, want) {
		t.Errorf("the copy is %v, want %v", got, want)
	}
}
