package pack

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// namesAt is the size of the magic number and the counts of an index.
const namesAt = len(idxMagic) + 256*4

// parseIndex writes an index file and opens it.
func parseIndex(t testing.TB, b []byte) (*index, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.idx")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return openIndex(file)
}

func encoded(t testing.TB, items []item) []byte {
	t.Helper()
	b, err := encodeIndex(items, ID{9})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func indexOf(t testing.TB, items []item) *index {
	t.Helper()
	x, err := parseIndex(t, encoded(t, items))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// read returns the object at off of a pack of end bytes.
func read(x *index, p io.ReaderAt, off, end int64) (Kind, []byte, error) {
	u := unpacker{p: p, end: end, find: x.find}
	return u.object(off)
}

// spreads are names that are spread evenly, in one bucket, in clusters, and with long common prefixes.
var spreads = map[string]func(r *rand.Rand, i int) ID{
	"even":    func(r *rand.Rand, _ int) (id ID) { fill(r, id[:]); return id },
	"bucket":  func(r *rand.Rand, _ int) (id ID) { fill(r, id[1:]); return id },
	"cluster": func(r *rand.Rand, i int) (id ID) { fill(r, id[10:]); id[0], id[1] = 7, byte(i%3*100); return id },
	"tail":    func(_ *rand.Rand, i int) (id ID) { binary.BigEndian.PutUint64(id[12:], uint64(i)); return id },
	"double": func(_ *rand.Rand, i int) (id ID) {
		id[1+i/8%8] = 1 << (i % 8)
		binary.BigEndian.PutUint32(id[16:], uint32(i))
		return id
	},
}

func fill(r *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for name, spread := range spreads {
		for _, n := range []int{0, 1, 2, 199, 5000} {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			want := map[ID]int64{}
			var items []item
			for i := range n {
				it := item{id: spread(r, i), crc: uint32(i), off: int64(12 + 7*i)}
				if _, twice := want[it.id]; !twice {
					want[it.id] = it.off
					items = append(items, it)
				}
			}
			x := indexOf(t, items)
			for id, off := range want {
				if got, ok, err := x.find(id); got != off || !ok || err != nil {
					t.Fatalf("%s of %d: find(%s) = %d, %v, %v, want %d", name, n, id, got, ok, err, off)
				}
				id[19] ^= 0x80
				if _, there := want[id]; there {
					continue
				}
				if got, ok, err := x.find(id); ok || err != nil {
					t.Fatalf("%s of %d: find(%s) = %d, %v, %v, want nothing", name, n, id, got, ok, err)
				}
			}
			all, err := x.items()
			if err != nil || len(all) != len(want) {
				t.Fatalf("%s of %d: items: %d, %v", name, n, len(all), err)
			}
			for i, it := range all {
				if it.off != want[it.id] || i > 0 && all[i-1].off >= it.off {
					t.Fatalf("%s of %d: items[%d] = %+v", name, n, i, it)
				}
			}
		}
	}
}

// A pack of more than 2 GiB has offsets in a table of their own. Git reads them as we do.
func TestFarOffsets(t *testing.T) {
	t.Parallel()
	items := []item{{ID{1}, 1, 12}, {ID{2}, 2, 1<<31 - 1}, {ID{3}, 3, 1 << 31}, {ID{4}, 4, 1 << 40}, {ID{5}, 5, 1<<32 - 1}}
	b := encoded(t, items)
	x, err := parseIndex(t, b)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, it := range items {
		if got, ok, err := x.find(it.id); got != it.off || !ok || err != nil {
			t.Errorf("find(%s) = %d, %v, %v, want %d", it.id, got, ok, err, it.off)
		}
		fmt.Fprintf(&want, "%d %s (%08x)\n", it.off, it.id, it.crc)
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED, NOTHING IS KNOWN ABOUT GIT: ", err)
	}
	cmd := exec.Command("git", "show-index", "--object-format=sha1")
	cmd.Stdin = bytes.NewReader(b)
	if out, err := cmd.CombinedOutput(); string(out) != want.String() || err != nil {
		t.Errorf("git show-index: %v\n%swant\n%s", err, out, want.String())
	}
}

// The shape of an index is right and what is in it is not.
func FuzzIndex(f *testing.F) {
	good := encoded(f, []item{{ID{1}, 1, 12}, {ID{2}, 2, 1 << 40}, {ID{2, 1}, 3, 99}})
	f.Add(good[:namesAt], good[namesAt:], []byte{2})
	f.Add(good[:10], bytes.Repeat(good[namesAt:namesAt+60], 500), []byte{1, 0, 1})
	f.Fuzz(func(t *testing.T, head, body, name []byte) {
		var id ID
		copy(id[:], name)
		if len(head) != namesAt { // all names in the bucket of id
			n := max(0, len(body)-2*idSize) / 28
			body = body[:min(len(body), n*28+2*idSize)]
			head = []byte(idxMagic)
			for i := range 256 {
				v := 0
				if i >= int(id[0]) {
					v = n
				}
				head = binary.BigEndian.AppendUint32(head, uint32(v))
			}
		}
		b := append(bytes.Clone(head), body...)
		if len(b) > idSize {
			sum := sha1.Sum(b[:len(b)-idSize])
			copy(b[len(b)-idSize:], sum[:])
		}
		x, err := parseIndex(t, b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("parseIndex: %v, want ErrCorrupt", err)
			}
			return
		}
		if off, _, err := x.find(id); off < 0 || err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("find(%s) = %d, %v", id, off, err)
		}
		if items, err := x.items(); err == nil && len(items) != x.n() {
			t.Errorf("items: %d, want %d", len(items), x.n())
		}
	})
}

// TestIndexSize opens index files of terabytes that contain nothing after the counts: none is read whole.
func TestIndexSize(t *testing.T) {
	t.Parallel()
	head := func(n uint32) string {
		return idxMagic + strings.Repeat(string(binary.BigEndian.AppendUint32(nil, n)), 256)
	}
	for _, c := range []struct {
		name string
		head string
		size int64
		want error
	}{
		{"no objects", head(0), 1 << 29, ErrCorrupt}, {"one object", head(1), 1 << 29, ErrCorrupt},
		{"more than fit", head(1 << 31), 1 << 29, ErrCorrupt}, {"too large", head(1 << 31), 1 << 38, ErrTooLarge},
		{"no index", head(1)[1:], 1 << 29, ErrCorrupt}, {"cut off", head(1)[:100], 100, ErrCorrupt}, {"empty", "", 0, ErrCorrupt},
	} {
		file := filepath.Join(t.TempDir(), "x.idx")
		if err := errors.Join(os.WriteFile(file, []byte(c.head), 0o600), os.Truncate(file, c.size)); err != nil {
			t.Fatal(err)
		}
		if _, err := openIndex(file); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	b := appendHeader(make([]byte, headerSize), Blob, MaxSize+1)
	b = append(b, make([]byte, 1<<20)...)
	if _, _, err := read(&index{}, bytes.NewReader(b), headerSize, int64(len(b))); !errors.Is(err, ErrTooLarge) {
		t.Errorf("read %d bytes: %v, want ErrTooLarge", MaxSize+1, err)
	}
	b = b[:headerSize+100]
	if _, _, err := read(&index{}, bytes.NewReader(b), headerSize, int64(len(b))); !errors.Is(err, ErrCorrupt) {
		t.Errorf("read %d bytes in 100: %v, want ErrCorrupt", MaxSize+1, err)
	}
}

// TestReadDelta reads deltas against a base before them and against one that they name, and deltas whose base is no object.
func TestReadDelta(t *testing.T) {
	t.Parallel()
	base := Encode(Blob, []byte("hello"), 0)
	delta := deflated([]byte{5, 6, 0x90, 5, 1, '!'}) // five bytes of the base and one more
	header := func(k Kind) []byte { return appendHeader(nil, k, 6) }
	near := append(append(header(offsetDelta), byte(len(base.raw))), delta...)
	named := append(append(header(refDelta), base.ID[:]...), delta...)
	self := append(append(header(refDelta), append([]byte{7}, make([]byte, 19)...)...), delta...)
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"near", near, "hello!"}, {"named", named, "hello!"}, {"its own base", self, ""},
		{"no base", append(append(header(refDelta), append([]byte{8}, make([]byte, 19)...)...), delta...), ""},
		{"before the start", append(append(header(offsetDelta), 0xff, 0xff, 0x7f), delta...), ""},
	} {
		off := int64(headerSize + len(base.raw))
		x := indexOf(t, []item{{base.ID, base.crc, headerSize}, {ID{7}, 0, off}})
		b := append(append(make([]byte, headerSize), base.raw...), c.raw...)
		k, got, err := read(x, bytes.NewReader(b), off, int64(len(b)))
		if c.want != "" && (k != Blob || string(got) != c.want || err != nil) {
			t.Errorf("%s: %v, %q, %v, want %q", c.name, k, got, err, c.want)
		}
		if c.want == "" && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", c.name, err)
		}
	}
}

// heapReader is a pack in memory that notes the most memory in use while it is read.
type heapReader struct {
	*bytes.Reader
	most uint64
}

func (r *heapReader) ReadAt(b []byte, off int64) (int, error) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r.most = max(r.most, m.HeapAlloc)
	return r.Reader.ReadAt(b, off)
}

// TestDeltaChainMemory reads chains of deltas of a megabyte that take a kilobyte in the pack: one delta is in memory at
// a time, however many there are, and a chain longer than git's or in a circle is refused before any is.
func TestDeltaChainMemory(t *testing.T) {
	const size = 1 << 20
	base := zeros(size)
	delta := appendSize(appendSize(nil, size), size)
	for range size / 64 {
		delta = append(append(delta, 64), make([]byte, 64)...)
	}
	head, body := appendHeader(nil, refDelta, len(delta)), deflated(delta)
	id := func(i int) (id ID) { binary.BigEndian.PutUint32(id[:], uint32(i)); return id }
	for _, c := range []struct {
		name   string
		deltas int
		first  ID // base of the first delta
		want   error
	}{
		{"a chain", 40, base.ID, nil}, {"a circle of one", 1, id(1), ErrCorrupt}, {"a circle", 40, id(40), ErrCorrupt},
		{"a long chain", maxChain + 1, base.ID, ErrTooLarge},
	} {
		b := append(make([]byte, headerSize), base.raw...)
		items := []item{{base.ID, 0, headerSize}}
		from, last := c.first, int64(0)
		for i := 1; i <= c.deltas; i++ {
			last = int64(len(b))
			items = append(items, item{id(i), 0, last})
			b = append(b, slices.Concat(head, from[:], body)...)
			from = id(i)
		}
		x, r := indexOf(t, items), &heapReader{Reader: bytes.NewReader(b)}
		var pack io.ReaderAt = r
		if c.deltas > maxChain {
			pack = r.Reader // it is read too often to measure each time
		}
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		_, data, err := read(x, pack, last, int64(len(b)))
		if !errors.Is(err, c.want) || err == nil && len(data) != size {
			t.Errorf("%s: %d bytes, %v, want %v", c.name, len(data), err, c.want)
		}
		if used := int64(r.most) - int64(before.HeapAlloc); used > 8*size {
			t.Errorf("%s: %d MB in memory", c.name, used>>20)
		}
	}
}

// Whatever a pack holds, reading never fails for another reason than its content.
func FuzzReadObject(f *testing.F) {
	for _, level := range []int{0, 6} {
		f.Add(append(make([]byte, headerSize), Encode(Blob, []byte("some bytes"), level).raw...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, end := bytes.NewReader(b), int64(len(b))
		x := indexOf(t, []item{{ID{}, 0, headerSize}})
		if _, _, err := read(x, r, headerSize, end); err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooLarge) {
			t.Errorf("read: %v", err)
		}
	})
}

// TestWrittenIsReadBack closes packs of which the disk has another byte than was written: one that came whole and one that was made here.
func TestWrittenIsReadBack(t *testing.T) {
	t.Parallel()
	e := Encode(Blob, bytes.Repeat([]byte("0123456789"), flushAt/2), 0)
	for _, whole := range []bool{true, false} {
		dir := t.TempDir()
		w, err := Create(dir, "test")
		if err != nil {
			t.Fatal(err)
		}
		if whole {
			_, err = w.Receive(bytes.NewReader(streamOf(t, e)), testLimits())
		} else {
			err = w.Add(e)
		}
		if err == nil {
			_, err = w.f.WriteAt([]byte("x"), flushAt)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err = w.Close(); !errors.Is(err, ErrCorrupt) {
			t.Errorf("whole %v: %v, want ErrCorrupt", whole, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("whole %v: %d files are left, %v", whole, len(left), err)
		}
	}
}
