package incoming

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/refstest"
)

// lie makes a segment with any head and any frames.
func lie(head string, frames ...[]byte) string {
	b := binary.LittleEndian.AppendUint32(nil, 0x184D2A50)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(head)))
	b = append(b, head...)
	return string(append(b, slices.Concat(frames...)...))
}

// frame is a zstd frame of 4 MiB of zeros in 140 bytes, that says nothing of its size, or something.
func frame(says int64) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 0xFD2FB528)
	if says == 0 {
		b = append(b, 0, 12<<3) // no size, a window of 4 MiB
	} else {
		b = append(b, 3<<6, 12<<3)
		b = binary.LittleEndian.AppendUint64(b, uint64(says))
	}
	for i := range uint32(32) {
		h := i/31 | 1<<1 | 128<<10<<3 // the same byte 128 Ki times
		b = append(b, byte(h), byte(h>>8), byte(h>>16), 0)
	}
	return b
}

func headOf(length int64) string {
	return fmt.Sprintf(`{"o":0,"l":%d,"d":0,"b3":"%s"}`, length, objects.Sum(make([]byte, 4<<20)))
}

// TestBombs signs streams that unpack to far more than they say, or say nothing, or too much: none is taken, and none of it is held.
func TestBombs(t *testing.T) {
	many := slices.Repeat([][]byte{frame(0)}, 2000) // 8 GB
	fine := lie(headOf(4<<20), frame(4<<20))
	for name, c := range map[string]struct {
		blob string
		err  error // nil: it is in order
	}{
		"what is in order":             {fine, nil},
		"what is in order, no size":    {lie(headOf(4<<20), frame(0)), nil},
		"many frames":                  {lie(headOf(4<<20), many...), objects.ErrCorrupt},
		"many frames with their sizes": {lie(headOf(4<<20), slices.Repeat([][]byte{frame(4 << 20)}, 2000)...), objects.ErrCorrupt},
		"many frames for few bytes":    {lie(headOf(1000), many...), objects.ErrCorrupt},
		"one frame for few bytes":      {lie(headOf(1000), frame(0)), objects.ErrCorrupt},
		"a frame that says less":       {lie(headOf(4<<20), frame(1000)), objects.ErrCorrupt},
		"a frame that says far more":   {lie(headOf(4<<20), frame(1<<50)), objects.ErrCorrupt},
		"no length":                    {lie(fmt.Sprintf(`{"o":0,"d":0,"b3":"%s"}`, objects.Sum(nil)), many...), stream.ErrFormat},
		"a length of less than none":   {lie(headOf(-1), many...), stream.ErrFormat},
		"a length of a petabyte":       {lie(headOf(1<<50), many...), stream.ErrFormat},
		"a long segment":               {lie(headOf(4<<20), frame(4<<20), make([]byte, stream.MaxBlob)), pack.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := refstest.New(t), refstest.New(t)
			refstest.Add(t, a, refstest.Project, "x")
			refstest.ForgerOf(a).Commit(t, func(f *refstest.Forgery) error {
				return f.Put(c.blob, lane.SegmentPath(stream.Name("s1", 0), 0)...)
			})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			q, _, err := carry(t, a, b, refstest.OwnLane(t, a))
			runtime.ReadMemStats(&after)
			if c.err == nil && err != nil || c.err != nil && (!errors.Is(err, ErrRefused) || !errors.Is(err, c.err)) {
				t.Errorf("Check = %v, want %v", err, c.err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 128<<20 {
				t.Errorf("it took %d MB of memory", n>>20)
			}
			if err := q.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestMuchOfNothing carries a stream of zeros in all kinds of order: one that unpacks to more than is allowed is refused.
func TestMuchOfNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a := refstest.New(t)
	refstest.Grow(t, a, stream.Name("s1", 0), &stream.Tail{Hash: objects.NewHasher()}, make([]byte, 24<<20))
	for _, order := range []string{"as it is", "backwards"} {
		ids := refstest.InOrder(t, a)
		if order == "backwards" {
			slices.Reverse(ids)
		}
		p := refstest.Packed(t, a, ids)
		for _, allowed := range []int64{10 << 20, 30 << 20} {
			b := refstest.New(t)
			q, err := Begin(ctx, b)
			if err != nil {
				t.Fatal(err)
			}
			w, err := q.Writer()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Receive(bytes.NewReader(p), pack.Limits{Bytes: 1 << 30, Objects: 1000, Object: 1 << 30, Ratio: 100}); err != nil {
				t.Fatal(err)
			}
			if err := q.Finish(w); err != nil {
				t.Fatal(err)
			}
			q.unpack.Store(allowed)
			_, err = q.Check(ctx, refstest.OwnLane(t, a), "")
			if small := allowed < 24<<20; small != errors.Is(err, pack.ErrTooLarge) || small != errors.Is(err, ErrRefused) || !small && err != nil {
				t.Errorf("%s, %d bytes allowed: %v", order, allowed, err)
			}
			if err := q.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestCompactBesideFetch compacts while a fetch is under way: nothing of that goes.
func TestCompactBesideFetch(t *testing.T) {
	t.Parallel()
	r := refstest.New(t)
	q, err := Begin(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(r.Git().PackDir(), "tmp_pack_fetch_1")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Compact(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{mine, filepath.Join(q.Git().Dir(), "HEAD")} {
		if _, err := os.Lstat(f); err != nil {
			t.Errorf("of a fetch that lives: %v", err)
		}
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}

// TestFetchOverSuperseded fetches a pack that was here, was merged, and of whose removal a kill left the mark alone: it is there, and stays.
func TestFetchOverSuperseded(t *testing.T) {
	t.Parallel()
	r := refstest.New(t)
	q, err := Begin(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	w, err := q.Writer()
	if err != nil {
		t.Fatal(err)
	}
	e := pack.Encode(pack.Blob, []byte("what came"), 1)
	if err := errors.Join(w.Add(e), q.Finish(w)); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(q.git.PackDir(), "*.pack"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	mark := strings.TrimSuffix(filepath.Base(names[0]), ".pack") + ".superseded"
	if err := os.WriteFile(filepath.Join(r.Git().PackDir(), mark), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := q.adoptPacks(map[pack.ID]struct{}{e.ID: {}}); err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Git().Has(e.ID); !ok || err != nil {
		t.Errorf("Has = %v, %v", ok, err)
	}
	if err := pack.Expire(r.Git().PackDir(), 0); err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Git().Has(e.ID); !ok || err != nil {
		t.Errorf("after Expire Has = %v, %v", ok, err)
	}
}
