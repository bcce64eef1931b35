package pack_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects/pack"
)

// randomBytes returns n bytes that seed decides; half of them can be compressed.
func randomBytes(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b[:n/2] {
		b[i] = byte(r.Uint32())
	}
	return b
}

// writePack writes one pack and returns its name.
func writePack(t testing.TB, dir string, entries ...pack.Entry) string {
	t.Helper()
	w, err := pack.Create(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	name, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func list(t testing.TB, dir string) (names []string) {
	t.Helper()
	des, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, de := range des {
		names = append(names, de.Name())
	}
	return names
}

// The names are those that "git hash-object -t KIND" prints.
func TestName(t *testing.T) {
	for _, c := range []struct {
		kind pack.Kind
		data string
		want string
	}{
		{pack.Blob, "", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"},
		{pack.Tree, "", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"},
		{pack.Blob, "hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"},
	} {
		if got := pack.Name(c.kind, []byte(c.data)).String(); got != c.want {
			t.Errorf("Name(%v, %q) = %s, want %s", c.kind, c.data, got, c.want)
		}
	}
}

func TestParseID(t *testing.T) {
	id := pack.Name(pack.Blob, []byte("x"))
	if got, err := pack.ParseID(id.String()); err != nil || got != id {
		t.Errorf("ParseID(%s) = %s, %v", id, got, err)
	}
	for _, bad := range []string{"", "ab", id.String() + "0", "z" + id.String()[1:]} {
		if _, err := pack.ParseID(bad); err == nil {
			t.Errorf("ParseID(%q) gave no error", bad)
		}
	}
}

// TestManyPacks reads from many packs in every order: each object is found.
func TestManyPacks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var ids []pack.ID
	for i := range 150 {
		e := pack.Encode(pack.Blob, randomBytes(uint64(i), 100), 1)
		writePack(t, dir, e)
		ids = append(ids, e.ID)
	}
	d := pack.OpenDir(dir)
	defer d.Close()
	for range 2 {
		for _, id := range ids {
			if _, _, err := d.Get(id); err != nil {
				t.Errorf("Get(%s): %v", id, err)
			}
		}
		slices.Reverse(ids)
	}
}

// Sizes at every boundary of the formats: stored blocks, size bytes of the header, the buffer.
var sizes = []int{0, 1, 15, 16, 100, 2047, 2048, 65534, 65535, 65536, 131070, 131071, 1 << 20, 1<<20 + 1, 3 << 20}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kinds := []pack.Kind{pack.Commit, pack.Tree, pack.Blob, pack.Tag}
	content := map[pack.ID][]byte{}
	kind := map[pack.ID]pack.Kind{}
	var entries []pack.Entry
	levels := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	if testing.Short() {
		levels = []int{0, 1, 7}
	}
	for i, n := range sizes {
		for _, level := range levels {
			b := randomBytes(uint64(100*i+level), n)
			e := pack.Encode(kinds[(i+level)%4], b, level)
			entries = append(entries, e, e)
			content[e.ID], kind[e.ID] = b, e.Kind
		}
	}
	writePack(t, dir, entries...)
	d := pack.OpenDir(dir)
	defer d.Close()
	for id, want := range content {
		k, got, err := d.Get(id)
		if err != nil || k != kind[id] || !bytes.Equal(got, want) {
			t.Errorf("Get(%s) = %v, %d bytes, %v; want %v, %d bytes", id, k, len(got), err, kind[id], len(want))
		}
	}
	var last pack.ID
	n := 0
	for id, err := range d.All() {
		if err != nil || content[id] == nil || pack.Compare(id, last) <= 0 {
			t.Fatalf("All gave %s after %s, %v", id, last, err)
		}
		last = id
		n++
	}
	if n != len(content) {
		t.Errorf("All gave %d objects, want %d", n, len(content))
	}
	if _, _, err := d.Get(pack.Name(pack.Blob, []byte("missing"))); !errors.Is(err, pack.ErrNotFound) {
		t.Errorf("Get of a missing object: %v, want ErrNotFound", err)
	}
}

func TestNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if name := writePack(t, dir); name != "" || len(list(t, dir)) != 0 {
		t.Errorf("an empty pack: name %q, files %v", name, list(t, dir))
	}
	w, err := pack.Create(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := w.Add(pack.Encode(pack.Blob, randomBytes(uint64(i), 1<<20), 0)); err != nil {
			t.Fatal(err)
		}
	}
	if got := list(t, dir); len(got) != 1 || !strings.HasPrefix(got[0], "tmp_pack_test_") {
		t.Errorf("files while writing: %v", got)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	if _, err := w.Close(); err == nil {
		t.Error("Close after Abort gave no error")
	}
	if err := w.Add(pack.Encode(pack.Blob, nil, 0)); err == nil {
		t.Error("Add after Abort gave no error")
	}
	if got := list(t, dir); len(got) != 0 {
		t.Errorf("files after Abort: %v", got)
	}
}

func TestSameContentMends(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := pack.Encode(pack.Blob, []byte("precious"), 6)
	name := writePack(t, dir, e)
	d := pack.OpenDir(dir)
	defer d.Close()
	for _, ext := range []string{".idx", ".pack"} {
		for _, size := range []int64{0, 30} {
			path := filepath.Join(dir, name+ext)
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
			fresh := pack.OpenDir(dir)
			if _, _, err := fresh.Get(e.ID); !errors.Is(err, pack.ErrCorrupt) {
				t.Errorf("Get with %s of %d bytes: %v, want ErrCorrupt", ext, size, err)
			}
			if got := writePack(t, dir, e); got != name {
				t.Errorf("the same content has the names %s and %s", name, got)
			}
			for _, d := range []*pack.Dir{d, fresh} {
				if _, b, err := d.Get(e.ID); err != nil || string(b) != "precious" {
					t.Errorf("Get after mending %s: %q, %v", ext, b, err)
				}
			}
			if err := fresh.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestRepairedWhileOpen damages a pack that is open, and writes it again under its name as a repair does: the open
// directory reads the new one.
func TestRepairedWhileOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e, other := pack.Encode(pack.Blob, []byte("precious"), 0), pack.Encode(pack.Blob, []byte("else"), 0)
	name := writePack(t, dir, e)
	writePack(t, dir, other)
	d := pack.OpenDir(dir)
	defer d.Close()
	if _, _, err := d.Get(e.ID); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, name+".pack")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[bytes.Index(b, []byte("precious"))] ^= 1
	if err := errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, b, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Get(e.ID); !errors.Is(err, pack.ErrCorrupt) {
		t.Errorf("Get of damaged content: %v, want ErrCorrupt", err)
	}
	if got := writePack(t, dir, e); got != name {
		t.Fatalf("the same content has the names %s and %s", name, got)
	}
	if _, b, err := d.Get(e.ID); err != nil || string(b) != "precious" {
		t.Errorf("Get after the repair: %q, %v", b, err)
	}
	if n, err := d.Count(); n != 2 || err != nil {
		t.Errorf("Count = %d, %v, want 2", n, err)
	}
	if _, _, err := d.Get(other.ID); err != nil {
		t.Error(err)
	}
}

func TestHalfPairsAreIgnored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := pack.Encode(pack.Blob, []byte("one"), 6)
	name := writePack(t, dir, e)
	for _, ext := range []string{".idx", ".pack"} {
		other := t.TempDir()
		b, err := os.ReadFile(filepath.Join(dir, name+ext))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(other, name+ext), b, 0o600); err != nil {
			t.Fatal(err)
		}
		d := pack.OpenDir(other)
		if _, _, err := d.Get(e.ID); !errors.Is(err, pack.ErrNotFound) {
			t.Errorf("Get with %s alone: %v, want ErrNotFound", ext, err)
		}
		if n, err := d.Count(); n != 0 || err != nil {
			t.Errorf("Count with %s alone = %d, %v", ext, n, err)
		}
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stay := []string{"pack-1.idx", "tmp_idx_a_b_1", "tmp_pack_a_1_2", "tmp_pack_a_x", "tmp_pack_b_1", "tmp_rev_a_1"}
	for _, name := range append([]string{"tmp_pack_a_1", "tmp_idx_a_22"}, stay...) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	if err := pack.Sweep(dir, "a"); err != nil {
		t.Fatal(err)
	}
	if got := list(t, dir); fmt.Sprint(got) != fmt.Sprint(stay) {
		t.Errorf("after Sweep: %v, want %v", got, stay)
	}
	for _, bad := range []string{"", "a/b", "*", "..", "a b"} {
		if err := pack.Sweep(dir, bad); err == nil {
			t.Errorf("Sweep(%q) gave no error", bad)
		}
		if _, err := pack.Create(dir, bad); err == nil {
			t.Errorf("Create(%q) gave no error", bad)
		}
	}
}

// A mode of 0400 keeps others from reading what is private.
func TestPrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := writePack(t, dir, pack.Encode(pack.Blob, []byte("one"), 6))
	for _, ext := range []string{".idx", ".pack"} {
		st, err := os.Stat(filepath.Join(dir, name+ext))
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm()&0o377 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s has mode %v, want 0400", name+ext, st.Mode())
		}
	}
}
