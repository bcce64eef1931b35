package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/memvcs/mem/objects"
)

// text makes n bytes that compress as transcripts do: repeated words in a changing order.
func text(rng *rand.Rand, n int) []byte {
	words := []string{`{"type":"user"`, `,"text":`, "payment ", "결제 ", "retry ", "0123456789", "}\n"}
	b := make([]byte, 0, n+20)
	for len(b) < n {
		b = append(b, words[rng.IntN(len(words))]...)
		b = append(b, byte('a'+rng.IntN(26)))
	}
	return b[:n]
}

// grow appends content in pieces of the given lengths and returns the segments and the name at each point.
func grow(t testing.TB, content []byte, lengths []int) (blobs [][]byte, points []objects.Hash, counts []int) {
	tail := &Tail{Hash: objects.NewHasher()}
	for _, n := range lengths {
		for s, err := range Append(context.Background(), tail, bytes.NewReader(content[:n])) {
			if err != nil {
				t.Fatal(err)
			}
			blobs = append(blobs, s.Blob)
		}
		content = content[n:]
		points = append(points, tail.Hash.Sum())
		counts = append(counts, len(blobs))
	}
	return blobs, points, counts
}

func reader(blobs [][]byte, n int) *Reader {
	return NewReader(n, func(i int) ([]byte, error) { return blobs[i], nil })
}

func TestAnySplitRestores(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	if !testing.Short() { // over a key frame, which is slow under the race detector
		long := text(rng, KeyFrame+5<<20)
		restores(t, long, []int{len(long)})
		restores(t, long, []int{KeyFrame - 1, 1, 1, len(long) - KeyFrame - 1})
	}
	short := text(rng, 6<<20)
	restores(t, short, []int{1, 2, 3, len(short) - 6})
	restores(t, short, []int{MaxSegment, 100, len(short) - MaxSegment - 100})
}

// restores grows content in pieces of the given lengths and reads each point back.
func restores(t *testing.T, content []byte, lengths []int) {
	t.Helper()
	blobs, points, counts := grow(t, content, lengths)
	at := 0
	for i, n := range lengths {
		at += n
		if want := objects.Sum(content[:at]); points[i] != want {
			t.Fatalf("split %v: point %d is %s, want %s", lengths, i, points[i], want)
		}
	}
	last := len(lengths) - 1
	got, err := io.ReadAll(reader(blobs, counts[last]))
	if err != nil || !bytes.Equal(got, content) {
		t.Fatalf("split %v: read %d bytes, %v, want %d", lengths, len(got), err, len(content))
	}
	var first bytes.Buffer
	if _, err := io.Copy(&first, reader(blobs, counts[0])); err != nil || !bytes.Equal(first.Bytes(), content[:lengths[0]]) {
		t.Fatalf("split %v: first point: %d bytes, %v", lengths, first.Len(), err)
	}
}

// TestHasherGoesOn goes on from where a reader is, which reads on.
func TestHasherGoesOn(t *testing.T) {
	t.Parallel()
	content := text(rand.New(rand.NewPCG(5, 6)), 10_000)
	blobs, points, counts := grow(t, content, []int{3000, 1, 6999})
	at := []int{3000, 3001, 10_000}
	for i, n := range counts {
		r := reader(blobs, n)
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Fatal(err)
		}
		h := r.Hasher()
		h.Write(content[at[i]:])
		if got, want := h.Sum(), objects.Sum(content); got != want {
			t.Errorf("from point %d on: %s, want %s", i, got, want)
		}
		if r.Sum() != points[i] {
			t.Errorf("the reader of point %d is at %s, want %s", i, r.Sum(), points[i])
		}
	}
}

// TestReadersInTurns reads streams in turns, a little of each at a time.
func TestReadersInTurns(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(21, 22))
	content := text(rng, 9<<20)
	whole, _, _ := grow(t, content, []int{5 << 20, 1000, 2<<20 - 1000, 2 << 20})
	short, _, _ := grow(t, content[:3000], []int{1000, 500, 1500})
	var wait sync.WaitGroup
	for range 2 {
		seed := rng.Uint64()
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 1))
			type one struct {
				r    *Reader
				want []byte
			}
			open := make([]one, 5)
			buf := make([]byte, 3<<20)
			for range 60 {
				o := &open[rng.IntN(len(open))]
				if len(o.want) == 0 {
					if *o = (one{reader(whole, len(whole)), content}); rng.IntN(2) == 0 {
						*o = one{reader(short, len(short)), content[:3000]}
					}
				}
				n, err := io.ReadFull(o.r, buf[:min(len(o.want), rng.IntN(len(buf)))])
				if err != nil || !bytes.Equal(buf[:n], o.want[:n]) {
					t.Errorf("%d bytes, %v: not what was written", n, err)
					return
				}
				if o.want = o.want[n:]; len(o.want) > 0 {
					continue
				}
				if n, err := o.r.Read(buf); n != 0 || err != io.EOF {
					t.Errorf("at the end: %d, %v", n, err)
				}
			}
		})
	}
	wait.Wait()
}

func TestRandomGrowth(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		content := text(rng, rng.IntN(1<<20))
		var lengths []int
		for left := len(content); left > 0; {
			n := 1 + rng.IntN(left)
			lengths = append(lengths, n)
			left -= n
		}
		blobs, points, counts := grow(t, content, lengths)
		for i := range points {
			b, err := io.ReadAll(reader(blobs, counts[i]))
			if err != nil || objects.Sum(b) != points[i] {
				t.Fatalf("point %d of %v: %v", i, lengths, err)
			}
		}
	}
}

func TestSameBytesEachTime(t *testing.T) {
	split, runs := []int{4 << 20, 6 << 20}, 3
	if testing.Short() {
		split, runs = []int{1 << 20, 5 << 20}, 1 // two segments are compressed at once all the same
	}
	content := text(rand.New(rand.NewPCG(7, 8)), split[0]+split[1])
	first, _, _ := grow(t, content, split)
	for range runs {
		again, _, _ := grow(t, content, split)
		for i := range first {
			if !bytes.Equal(first[i], again[i]) {
				t.Fatalf("segment %d differs from run to run", i)
			}
		}
	}
}

func TestFlippedBitIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	content := text(rng, 200_000)
	blobs, _, _ := grow(t, content, []int{100_000, 100_000})
	for range 300 {
		s, bit := rng.IntN(len(blobs)), 0
		bad := [][]byte{bytes.Clone(blobs[0]), bytes.Clone(blobs[1])}
		bit = rng.IntN(8 * len(bad[s]))
		bad[s][bit/8] ^= 1 << (bit % 8)
		got, err := io.ReadAll(reader(bad, 2))
		if !errors.Is(err, objects.ErrCorrupt) && !bytes.Equal(got, content) {
			t.Fatalf("bit %d of segment %d flipped: %d wrong bytes, error %v", bit, s, len(got), err)
		}
	}
}

func TestReadErrorsArrive(t *testing.T) {
	broken := errors.New("disk gone")
	r := NewReader(2, func(int) ([]byte, error) { return nil, broken })
	if _, err := io.ReadAll(r); !errors.Is(err, broken) {
		t.Errorf("ReadAll = %v, want %v", err, broken)
	}
	tail := &Tail{Hash: objects.NewHasher()}
	for _, err := range Append(context.Background(), tail, io.MultiReader(bytes.NewReader([]byte("x")), &failing{broken})) {
		if !errors.Is(err, broken) {
			t.Errorf("Append = %v, want %v", err, broken)
		}
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// TestPlainZstd restores a stream with the zstd command alone, as docs/formats.md tells.
func TestPlainZstd(t *testing.T) {
	if _, err := exec.LookPath("zstd"); err != nil {
		t.Skip("SKIPPED: no zstd command on this machine")
	}
	content := text(rand.New(rand.NewPCG(11, 12)), 3<<20)
	blobs, _, _ := grow(t, content, []int{1 << 20, 300_000, len(content) - 1<<20 - 300_000})
	dir := t.TempDir()
	var got []byte
	for i, b := range blobs {
		h, _, err := ParseHead(b)
		if err != nil {
			t.Fatal(err)
		}
		seg, dict := filepath.Join(dir, "seg"), filepath.Join(dir, "dict")
		if err := errors.Join(os.WriteFile(seg, b, 0o600), os.WriteFile(dict, got[int64(len(got))-h.Dict:], 0o600)); err != nil {
			t.Fatal(err)
		}
		args := []string{"-dc", seg}
		if h.Dict > 0 {
			args = append([]string{"-D", dict}, args...)
		}
		out, err := exec.Command("zstd", args...).Output()
		if err != nil {
			t.Fatalf("zstd %v on segment %d: %v", args, i, err)
		}
		got = append(got, out...)
	}
	if !bytes.Equal(got, content) {
		t.Fatalf("zstd restored %d bytes, want the %d of the content", len(got), len(content))
	}
}

// TestDictionaryIsTheWriters reads segments whose dictionaries are shorter than those that Append takes.
func TestDictionaryIsTheWriters(t *testing.T) {
	t.Parallel()
	content := text(rand.New(rand.NewPCG(15, 16)), 9000)
	hash := objects.NewHasher()
	var blobs [][]byte
	for i, d := range []int{0, 100, 0} {
		at := 3000 * i
		piece := content[at : at+3000]
		hash.Write(piece)
		var opts []zstd.EOption
		if d > 0 {
			opts = append(opts, zstd.WithEncoderDictRaw(0, content[at-d:at]))
		}
		e, err := zstd.NewWriter(nil, opts...)
		if err != nil {
			t.Fatal(err)
		}
		head := Head{Offset: int64(at), Length: 3000, Dict: int64(d), Sum: hash.Sum()}
		blobs = append(blobs, e.EncodeAll(piece, appendHead(nil, head)))
	}
	got, err := io.ReadAll(reader(blobs, 3))
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v; want the %d of the content", len(got), err, len(content))
	}
	far := appendHead(nil, Head{Offset: 3000, Length: 1, Dict: 3001, Sum: hash.Sum()})
	if _, _, err := ParseHead(far); !errors.Is(err, ErrFormat) {
		t.Errorf("a dictionary longer than what is before it: %v, want ErrFormat", err)
	}
}

func FuzzReader(f *testing.F) {
	content := text(rand.New(rand.NewPCG(13, 14)), 5000)
	blobs, _, _ := grow(f, content, []int{2500, 2500})
	f.Add(blobs[0], blobs[1])
	f.Add([]byte("x"), []byte{})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		r := reader([][]byte{a, b}, 2)
		got, err := io.ReadAll(r)
		if err == nil && r.Sum() != objects.Sum(got) {
			t.Fatal("content was handed out that its hash does not name")
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	content := text(rand.New(rand.NewPCG(1, 1)), 20<<20)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		grow(b, content, []int{len(content)})
	}
}

func BenchmarkRead(b *testing.B) {
	content := text(rand.New(rand.NewPCG(1, 1)), 20<<20)
	blobs, _, _ := grow(b, content, []int{len(content)})
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		if _, err := io.Copy(io.Discard, reader(blobs, len(blobs))); err != nil {
			b.Fatal(err)
		}
	}
}
