package pack_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/memvcs/mem/objects/pack"
)

// Random objects go into many packs, which are merged again and again, while readers that know
// nothing of it compare what they get with a map.
func TestModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var model sync.Map
	var names []pack.ID
	var mu sync.Mutex
	var done atomic.Bool
	var wg sync.WaitGroup
	for reader := range 3 {
		wg.Go(func() {
			d := pack.OpenDir(dir)
			defer d.Close()
			r := rand.New(rand.NewPCG(uint64(reader), 7))
			for i := 0; !done.Load(); i++ {
				mu.Lock()
				n := len(names)
				var id pack.ID
				if n > 0 {
					id = names[r.IntN(n)]
				}
				mu.Unlock()
				if n == 0 {
					continue
				}
				want, _ := model.Load(id)
				_, got, err := d.Get(id)
				if err != nil || !bytes.Equal(got, want.([]byte)) {
					t.Errorf("Get(%s) = %d bytes, %v, want %d", id, len(got), err, len(want.([]byte)))
					return
				}
				if ok, err := d.Has(id); !ok || err != nil {
					t.Errorf("Has(%s) = %v, %v", id, ok, err)
				}
				if reader == 2 && i%50 == 0 {
					countAll(t, d, n)
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(3, 3))
	for round := range 120 {
		var entries []pack.Entry
		for range 1 + r.IntN(5) {
			b := randomBytes(r.Uint64N(1000), r.IntN(3000)) // some come twice
			entries = append(entries, pack.Encode(pack.Blob, b, r.IntN(8)))
			model.Store(entries[len(entries)-1].ID, b)
		}
		writePack(t, dir, entries...)
		mu.Lock()
		for _, e := range entries {
			names = append(names, e.ID)
		}
		mu.Unlock()
		if round%11 == 10 {
			merge := pack.Merge
			if round%5 == 0 {
				merge = pack.MergeAll
			}
			if _, err := merge(dir, "merger"); err != nil {
				t.Errorf("merge: %v", err)
			}
			if err := pack.Expire(dir, 0); err != nil {
				t.Error(err)
			}
		}
		if t.Failed() {
			break
		}
	}
	done.Store(true)
	wg.Wait()
	d := pack.OpenDir(dir)
	defer d.Close()
	model.Range(func(id, want any) bool {
		if _, got, err := d.Get(id.(pack.ID)); err != nil || !bytes.Equal(got, want.([]byte)) {
			t.Errorf("Get(%s) = %d bytes, %v", id, len(got), err)
		}
		return true
	})
}

// countAll checks that All yields objects, and no fewer than there were before it began.
func countAll(t *testing.T, d *pack.Dir, atMost int) {
	n := 0
	for _, err := range d.All() {
		if err != nil {
			t.Error(err)
			return
		}
		n++
	}
	if n == 0 && atMost > 0 {
		t.Errorf("All yields nothing of up to %d", atMost)
	}
}

// One small pack at a time, merged when there are more than 32: the work stays near n log n and
// the number of packs is bounded.
func TestMergeWork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const packs = 400
	var copied, written int64
	d := pack.OpenDir(dir)
	defer d.Close()
	for i := range packs {
		e := pack.Encode(pack.Blob, randomBytes(uint64(i), 100), 0)
		written += int64(e.Size())
		writePack(t, dir, e)
		n, err := d.Count()
		if err != nil {
			t.Fatal(err)
		}
		if n <= 32 {
			continue
		}
		before := sizesOf(t, dir)
		if _, err := pack.Merge(dir, "m"); err != nil {
			t.Fatal(err)
		}
		for name, size := range sizesOf(t, dir) {
			if _, old := before[name]; !old {
				copied += size
			}
		}
		if n, err = d.Count(); n > 20 || err != nil {
			t.Errorf("%d packs after a merge, %v", n, err)
		}
	}
	if copied > 6*written {
		t.Errorf("merges copied %d bytes of %d", copied, written)
	}
	n := 0
	for _, err := range d.All() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != packs {
		t.Errorf("%d objects, want %d", n, packs)
	}
}

func sizesOf(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	m := map[string]int64{}
	for _, name := range list(t, dir) {
		st, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".pack") {
			m[name] = st.Size()
		}
	}
	return m
}

func TestMergeLeavesAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var names []string
	var ids []pack.ID
	for i := range 6 {
		e := pack.Encode(pack.Blob, randomBytes(uint64(i), 100), 0)
		ids = append(ids, e.ID)
		names = append(names, writePack(t, dir, e))
	}
	kept, damaged := names[0], names[1]
	write := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(kept+".keep", nil)
	write(names[2]+".rev", nil)
	write("multi-pack-index", nil)
	path := filepath.Join(dir, damaged+".pack")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[30] ^= 1
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write(damaged+".pack", b)
	n, err := pack.MergeAll(dir, "m")
	if n != 4 || !errors.Is(err, pack.ErrCorrupt) || !strings.Contains(fmt.Sprint(err), damaged) {
		t.Errorf("MergeAll = %d, %v, want 4 and ErrCorrupt that names %s", n, err, damaged)
	}
	got := list(t, dir)
	if len(got) != 7 || !strings.Contains(strings.Join(got, " "), kept+".idx "+kept+".keep "+kept+".pack") ||
		!strings.Contains(strings.Join(got, " "), damaged+".idx "+damaged+".pack") {
		t.Errorf("files after MergeAll: %v", got)
	}
	d := pack.OpenDir(dir)
	defer d.Close()
	for i, id := range ids {
		_, _, err := d.Get(id)
		if i == 1 && !errors.Is(err, pack.ErrCorrupt) || i != 1 && err != nil {
			t.Errorf("Get of object %d: %v", i, err)
		}
	}
	// A good copy elsewhere heals the read.
	writePack(t, dir, pack.Encode(pack.Blob, randomBytes(1, 100), 0), pack.Encode(pack.Blob, []byte("more"), 0))
	if _, _, err := d.Get(ids[1]); err != nil {
		t.Errorf("Get with a good copy: %v", err)
	}
}

// The result of a merge may be one of the packs that went into it.
func TestMergeOfParts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := pack.Encode(pack.Blob, []byte("a"), 0), pack.Encode(pack.Blob, []byte("b"), 0)
	writePack(t, dir, a)
	whole := writePack(t, dir, a, b)
	if n, err := pack.MergeAll(dir, "m"); n != 2 || err != nil {
		t.Errorf("MergeAll = %d, %v", n, err)
	}
	if got := list(t, dir); fmt.Sprint(got) != fmt.Sprint([]string{whole + ".idx", whole + ".pack"}) {
		t.Errorf("files after MergeAll: %v", got)
	}
	if n, err := pack.MergeAll(dir, "m"); n != 0 || err != nil {
		t.Errorf("MergeAll of one pack = %d, %v", n, err)
	}
}
