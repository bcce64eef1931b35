package pack

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func testLimits() Limits {
	return Limits{Bytes: 64 << 20, Objects: 1000, Object: 16 << 20, Ratio: 100}
}

// receive takes a pack in and returns what is in it.
func receive(t testing.TB, p []byte, l Limits) (map[ID]string, Receipt, error) {
	t.Helper()
	dir := t.TempDir()
	w, err := Create(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Receive(bytes.NewReader(p), l)
	if err != nil {
		if aerr := w.Abort(); aerr != nil {
			t.Fatal(aerr)
		}
		if files, _ := os.ReadDir(dir); len(files) > 0 {
			t.Errorf("%d files were left", len(files))
		}
		return nil, got, err
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d := OpenDir(dir)
	defer d.Close()
	all := map[ID]string{}
	for id, err := range d.All() {
		if err != nil {
			t.Fatal(err)
		}
		k, data, err := d.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := d.Size(id); err != nil || n != int64(len(data)) {
			t.Errorf("size of %s: %d, %v, want %d", id, n, err, len(data))
		}
		all[id] = k.String() + " " + string(data)
	}
	if _, err := Verify(dir, func(d Damage) { t.Errorf("%s: %v %v", d.Name, d.Pack, d.Index) }); err != nil {
		t.Fatal(err)
	}
	return all, got, nil
}

// TestReceiveKeepsThePack takes in packs of whole objects, of which some come twice, in one pack or after one another.
func TestReceiveKeepsThePack(t *testing.T) {
	t.Parallel()
	long := make([]byte, 3*flushAt)
	for i := range long {
		long[i] = byte(i * i >> 7)
	}
	a, b, c := Encode(Blob, long, 0), Encode(Blob, []byte("b"), 6), Encode(Blob, long[1:], 6)
	for name, packs := range map[string][][]byte{
		"one":       {streamOf(t, a, b, c)},
		"twice":     {streamOf(t, a, b, a, c)},
		"two":       {streamOf(t, a, b), streamOf(t, b, c)},
		"nothing":   {streamOf(t, a), streamOf(t)},
		"the same":  {streamOf(t, a, c), streamOf(t, a, c)},
		"then more": {streamOf(t, a, b), nil},
	} {
		dir := t.TempDir()
		w, err := Create(dir, "test")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range packs {
			if p == nil {
				err = w.Add(c)
			} else {
				_, err = w.Receive(bytes.NewReader(p), testLimits())
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		got, err := w.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want := "pack-" + ID(packs[0][len(packs[0])-idSize:]).String(); (got == want) != (name == "one" || name == "nothing" || name == "the same") {
			t.Errorf("%s: it is called %s, what came was %s", name, got, want)
		}
		if _, err := Verify(dir, func(d Damage) { t.Errorf("%s: %v", name, d) }); err != nil {
			t.Fatal(err)
		}
	}
}

// streamOf writes entries as a pack comes over a connection.
func streamOf(t testing.TB, entries ...Entry) []byte {
	t.Helper()
	var size int64
	for _, e := range entries {
		size += int64(e.Size())
	}
	var b bytes.Buffer
	err := Stream(&b, len(entries), size, func(yield func(Entry) error) error {
		for _, e := range entries {
			if err := yield(e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if int64(b.Len()) != StreamSize(size) {
		t.Errorf("Stream wrote %d bytes, StreamSize says %d", b.Len(), StreamSize(size))
	}
	return b.Bytes()
}

func TestReceive(t *testing.T) {
	t.Parallel()
	rng := mrand.New(mrand.NewPCG(1, 2))
	var entries []Entry
	want := map[ID]string{}
	for i := range 300 {
		data := make([]byte, rng.IntN(1+rng.IntN(300_000)))
		for j := range data {
			data[j] = byte(rng.Uint32() >> (i % 30))
		}
		k := []Kind{Blob, Tree, Commit, Tag}[i%4]
		e := Encode(k, data, i%10)
		entries = append(entries, e)
		want[e.ID] = k.String() + " " + string(data)
	}
	got, n, err := receive(t, streamOf(t, entries...), testLimits())
	if err != nil {
		t.Fatal(err)
	}
	if n.Objects != 300 || n.Deltas != 0 || len(got) != len(want) {
		t.Errorf("%+v, %d objects, want %d", n, len(got), len(want))
	}
	for id, s := range want {
		if got[id] != s {
			t.Errorf("%s is another", id)
		}
	}
	if got, _, err := receive(t, streamOf(t), testLimits()); err != nil || len(got) != 0 {
		t.Errorf("an empty pack: %v, %v", got, err)
	}
}

// TestReceiveGit takes packs that git made, with differences to objects before them and by name.
func TestReceiveGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git")
	}
	dir := t.TempDir()
	git := func(stdin string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	git("", "init", "-q", "--bare", ".")
	rng := mrand.New(mrand.NewPCG(3, 4))
	var ids strings.Builder
	want := map[ID]string{}
	text := strings.Repeat("a line that does not change much\n", 200)
	for i := range 100 {
		at := rng.IntN(len(text))
		text = text[:at] + fmt.Sprintf("change %d\n", i) + text[at:]
		ids.WriteString(git(text, "hash-object", "-w", "--stdin"))
		want[Name(Blob, []byte(text))] = "blob " + text
	}
	for _, args := range [][]string{{"--delta-base-offset"}, {}, {"--window=0"}} {
		p := git(ids.String(), append([]string{"pack-objects", "--stdout", "--no-reuse-delta", "-q"}, args...)...)
		got, n, err := receive(t, []byte(p), testLimits())
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		if len(got) != len(want) || (n.Deltas < 50) == (len(args) == 0 || args[0] != "--window=0") {
			t.Errorf("%v: %d objects, %+v", args, len(got), n)
		}
		for id, s := range want {
			if got[id] != s {
				t.Errorf("%v: %s is another", args, id)
			}
		}
	}
}

// zeros is an entry that unpacks to n zero bytes.
func zeros(n int) Entry { return Encode(Blob, make([]byte, n), 9) }

// rawPack makes a pack of entries that need not be right.
func rawPack(n int, raw ...[]byte) []byte {
	b := []byte(packHeader(n))
	for _, r := range raw {
		b = append(b, r...)
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

func deflated(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

func TestReceiveRefuses(t *testing.T) {
	t.Parallel()
	good := Encode(Blob, []byte("hello"), 6)
	entry := func(k Kind, size int, rest ...[]byte) []byte {
		b := appendHeader(nil, k, size)
		for _, r := range rest {
			b = append(b, r...)
		}
		return b
	}
	delta := func(b ...byte) []byte { return deflated(b) }
	flipped := streamOf(t, good)
	flipped[len(flipped)-1] ^= 1
	cases := map[string]struct {
		pack []byte
		want error
	}{
		"nothing":              {nil, ErrCorrupt},
		"no pack":              {[]byte("HTTP/1.1 200 OK\r\n\r\n"), ErrCorrupt},
		"another version":      {[]byte("PACK\x00\x00\x00\x03\x00\x00\x00\x00"), ErrCorrupt},
		"cut off":              {streamOf(t, good)[:20], ErrCorrupt},
		"no checksum":          {streamOf(t, good)[:len(streamOf(t, good))-20], ErrCorrupt},
		"wrong checksum":       {flipped, ErrCorrupt},
		"too many objects":     {rawPack(1 << 31), ErrTooLarge},
		"fewer objects":        {rawPack(2, good.raw), ErrCorrupt},
		"kind 0":               {rawPack(1, entry(0, 1, deflated([]byte("x")))), ErrCorrupt},
		"kind 5":               {rawPack(1, entry(5, 1, deflated([]byte("x")))), ErrCorrupt},
		"shorter than it says": {rawPack(1, entry(Blob, 9, deflated([]byte("x")))), ErrCorrupt},
		"longer than it says":  {rawPack(1, entry(Blob, 1, deflated([]byte("xxxx")))), ErrCorrupt},
		"endless size":         {rawPack(1, bytes.Repeat([]byte{0xff}, 20)), ErrCorrupt},
		"a huge object":        {rawPack(1, entry(Blob, 1<<40, deflated([]byte("x")))), ErrTooLarge},
		"no zlib":              {rawPack(1, entry(Blob, 5, []byte("hello hello"))), ErrCorrupt},
		"delta to nothing":     {rawPack(1, entry(refDelta, 4, make([]byte, 20), delta(1, 1, 1, 'x'))), ErrCorrupt},
		"delta to itself":      {rawPack(1, entry(offsetDelta, 4, []byte{0}, delta(1, 1, 1, 'x'))), ErrCorrupt},
		"delta to the future":  {rawPack(1, entry(offsetDelta, 4, []byte{0x7f}, delta(1, 1, 1, 'x'))), ErrCorrupt},
		"delta of another":     {rawPack(2, good.raw, entry(offsetDelta, 4, []byte{byte(len(good.raw))}, delta(9, 1, 1, 'x'))), ErrCorrupt},
		"copy of what is not":  {rawPack(2, good.raw, entry(offsetDelta, 5, []byte{byte(len(good.raw))}, delta(5, 1, 0x91, 99, 1))), ErrCorrupt},
		"delta too long":       {rawPack(2, good.raw, entry(offsetDelta, 4, []byte{byte(len(good.raw))}, delta(5, 9, 1, 'x'))), ErrCorrupt},
		"operation 0":          {rawPack(2, good.raw, entry(offsetDelta, 3, []byte{byte(len(good.raw))}, delta(5, 1, 0))), ErrCorrupt},
		"huge delta":           {rawPack(2, good.raw, entry(offsetDelta, 8, []byte{byte(len(good.raw))}, delta(5, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 'x'))), ErrTooLarge},
	}
	for name, c := range cases {
		if got, _, err := receive(t, c.pack, testLimits()); !errors.Is(err, c.want) {
			t.Errorf("%s: %d objects, %v, want %v", name, len(got), err, c.want)
		}
	}
	short := testLimits()
	short.Bytes = 40
	if _, _, err := receive(t, streamOf(t, Encode(Blob, bytes.Repeat([]byte("abc"), 1000), 0)), short); !errors.Is(err, ErrTooLarge) {
		t.Errorf("more bytes than allowed: %v, want ErrTooLarge", err)
	}
}

// TestReceivePadding receives an object of a few bytes whose zlib stream has millions of empty blocks.
func TestReceivePadding(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED in short mode: under the race detector its count of memory says nothing")
	}
	e := Encode(Blob, []byte("few bytes"), 0)
	n := len(appendHeader(nil, Blob, 9)) + 2
	padding := bytes.Repeat([]byte{0, 0, 0, 0xff, 0xff}, 10<<20)
	p := rawPack(1, slices.Concat(e.raw[:n], padding, e.raw[n:]))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := receive(t, p, testLimits())
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("%d bytes of padding: %v, want ErrTooLarge", len(padding), err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("it took %d MB", used>>20)
	}
}

// TestReceiveBomb takes a small pack that would unpack to 4 GiB. It is refused early, and with little memory. What it counts is that
// of the whole program, so it runs alone.
func TestReceiveBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED in short mode: under the race detector its count of memory says nothing")
	}
	e := zeros(16 << 20)
	var raw [][]byte
	for range 256 {
		raw = append(raw, e.raw)
	}
	bomb := rawPack(256, raw...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, got, err := receive(t, bomb, testLimits())
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("bomb of %d bytes: %v, want ErrTooLarge", len(bomb), err)
	}
	if got.Objects > 20 {
		t.Errorf("%d objects were unpacked before it was refused", got.Objects)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 256<<20 {
		t.Errorf("it took %d MB", used>>20)
	}
	// The same by differences: each copies its base ten times.
	base := Encode(Blob, bytes.Repeat([]byte("x"), 1<<20), 9)
	deltas := [][]byte{base.raw}
	size, back := 1<<20, len(base.raw)
	for range 3 {
		var d []byte
		d = appendSize(d, size)
		d = appendSize(d, size*10)
		for range 10 {
			for off := 0; off < size; off += 0xffffff {
				n := min(size-off, 0xffffff)
				d = append(d, 0xff, byte(off), byte(off>>8), byte(off>>16), byte(off>>24), byte(n), byte(n>>8), byte(n>>16))
			}
		}
		z := deflated(d)
		e := append(appendHeader(nil, offsetDelta, len(d)), appendDistance(nil, back)...)
		e = append(e, z...)
		deltas = append(deltas, e)
		size, back = size*10, len(e)
	}
	if _, _, err := receive(t, rawPack(len(deltas), deltas...), testLimits()); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a bomb of deltas: %v, want ErrTooLarge", err)
	}
}

func appendSize(b []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// appendDistance writes how far back the base of a difference is.
func appendDistance(b []byte, n int) []byte {
	out := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		out = append([]byte{byte(n&0x7f) | 0x80}, out...)
	}
	return append(b, out...)
}

// TestEntry copies entries from packs as they stand.
func TestEntry(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := Create(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	var entries []Entry
	for i := range 50 {
		e := Encode(Blob, bytes.Repeat([]byte{byte(i)}, i*1000), i%10)
		entries = append(entries, e)
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d := OpenDir(dir)
	defer d.Close()
	for _, e := range entries {
		got, err := d.Entry(e.ID)
		if err != nil || !bytes.Equal(got.raw, e.raw) || got.crc != e.crc || got.Kind != e.Kind {
			t.Errorf("Entry(%s) = %d bytes, %v, want %d", e.ID, len(got.raw), err, len(e.raw))
		}
		if n, err := d.EntrySize(e.ID); err != nil || n != int64(e.Size()) {
			t.Errorf("EntrySize(%s) = %d, %v, want %d", e.ID, n, err, e.Size())
		}
	}
	if _, err := d.Entry(ID{1}); !errors.Is(err, ErrNotFound) {
		t.Errorf("Entry of nothing: %v, want ErrNotFound", err)
	}
	if err := Stream(io.Discard, 1, 5, func(yield func(Entry) error) error { return yield(entries[40]) }); !errors.Is(err, ErrChanged) {
		t.Errorf("Stream of more than was said: %v, want ErrChanged", err)
	}
	if err := Stream(io.Discard, 2, int64(entries[3].Size()), func(yield func(Entry) error) error { return yield(entries[3]) }); !errors.Is(err, ErrChanged) {
		t.Errorf("Stream of fewer than was said: %v, want ErrChanged", err)
	}
}

// TestReceiveTooLarge refuses an object that could not be read again.
func TestReceiveTooLarge(t *testing.T) {
	t.Parallel()
	l := testLimits()
	l.Object = 2 * MaxSize
	if _, _, err := receive(t, rawPack(1, appendHeader(nil, Blob, MaxSize+1)), l); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%d bytes: %v, want ErrTooLarge", MaxSize+1, err)
	}
}

// TestEntryTooLarge copies an entry after which the pack has a gap of a gigabyte, which takes no room on the disk: only
// the index says where an entry ends.
func TestEntryTooLarge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := Encode(Blob, []byte("a few bytes"), 0)
	name, err := Write(dir, "test", func(w *Writer) error { return w.Add(e) })
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, name+".pack")
	b, err := os.ReadFile(file)
	if err = errors.Join(err, os.Chmod(file, 0o600)); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(b[len(b)-idSize:], 1<<30)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	d := OpenDir(dir)
	defer d.Close()
	if _, err := d.Entry(e.ID); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Entry: %v, want ErrTooLarge", err)
	}
}

// TestEntryDamaged copies entries of which one byte was changed on the disk: they are refused.
func TestEntryDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	small, large := Encode(Blob, []byte("a few bytes"), 0), Encode(Blob, make([]byte, 1<<20), 0)
	name, err := Write(dir, "test", func(w *Writer) error { return errors.Join(w.Add(small), w.Add(large)) })
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, name+".pack")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[headerSize+small.Size()-6] ^= 1
	b[len(b)-100] ^= 1
	if err := errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, b, 0o600)); err != nil {
		t.Fatal(err)
	}
	d := OpenDir(dir)
	defer d.Close()
	for _, e := range []Entry{small, large} {
		if _, err := d.Entry(e.ID); !errors.Is(err, ErrCorrupt) {
			t.Errorf("Entry of %d bytes: %v, want ErrCorrupt", e.Size(), err)
		}
	}
}

// FuzzReceive takes in anything. What it accepts is read back under the names that it gave.
func FuzzReceive(f *testing.F) {
	good := Encode(Blob, []byte("hello"), 6)
	f.Add(rawPack(1, good.raw))
	f.Add(rawPack(2, good.raw, append(append(appendHeader(nil, offsetDelta, 4), byte(len(good.raw))), deflated([]byte{5, 1, 1, 'x'})...)))
	f.Add(rawPack(1, Encode(Blob, []byte("stored"), 0).raw))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= 20 { // or nearly all would fail at the checksum
			body := b[:len(b)-20]
			if len(body) >= 12 {
				binary.BigEndian.PutUint32(body[8:], binary.BigEndian.Uint32(body[8:])%4)
			}
			sum := sha1.Sum(body)
			b = append(append([]byte{}, body...), sum[:]...)
		}
		l := testLimits()
		l.Object = 1 << 20
		all, _, err := receive(t, b, l)
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooLarge) {
			t.Errorf("an error of another kind: %v", err)
		}
		for id, s := range all {
			k, data, _ := strings.Cut(s, " ")
			for _, kind := range []Kind{Commit, Tree, Blob, Tag} {
				if kind.String() == k && Name(kind, []byte(data)) != id {
					t.Errorf("%s holds %q", id, s)
				}
			}
		}
	})
}
