package pack_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/memvcs/mem/objects/pack"
)

const million = 1_000_000

// bigDir makes, once, a pack of a million objects. It is the caller's to leave as it is.
var bigDir = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "pack-bench-")
	if err != nil {
		return "", err
	}
	w, err := pack.Create(dir, "bench")
	if err != nil {
		return dir, err
	}
	for i := range million {
		if err := w.Add(pack.Encode(pack.Blob, number(i), 0)); err != nil {
			return dir, err
		}
	}
	_, err = w.Close()
	return dir, err
})

func number(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)) }

func big(b *testing.B) string {
	b.Helper()
	if testing.Short() {
		b.Skip("makes a million objects")
	}
	dir, err := bigDir()
	if err != nil {
		b.Fatal(err)
	}
	return dir
}

// BenchmarkFindCold is what the first object costs that a process reads, among a million.
func BenchmarkFindCold(b *testing.B) {
	dir := big(b)
	for i := 0; b.Loop(); i++ {
		d := pack.OpenDir(dir)
		if _, _, err := d.Get(pack.Name(pack.Blob, number(i*7919%million))); err != nil {
			b.Fatal(err)
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFindWarm(b *testing.B) {
	d := pack.OpenDir(big(b))
	defer d.Close()
	for i := 0; b.Loop(); i++ {
		if _, _, err := d.Get(pack.Name(pack.Blob, number(i*7919%million))); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMiss(b *testing.B) {
	d := pack.OpenDir(big(b))
	defer d.Close()
	for i := 0; b.Loop(); i++ {
		if ok, err := d.Has(pack.Name(pack.Tree, number(i))); ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

// BenchmarkWriter writes packs of 64 blobs of 64 KiB, all synced.
func BenchmarkWriter(b *testing.B) {
	data := randomBytes(1, 64<<10)
	b.SetBytes(64 * int64(len(data)))
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		w, err := pack.Create(dir, "bench")
		if err != nil {
			b.Fatal(err)
		}
		for j := range 64 {
			copy(data, number(64*i+j))
			if err := w.Add(pack.Encode(pack.Blob, data, 0)); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSmall writes what a small command writes: six small objects, all synced.
func BenchmarkSmall(b *testing.B) {
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		w, err := pack.Create(dir, "bench")
		if err != nil {
			b.Fatal(err)
		}
		for j := range 6 {
			if err := w.Add(pack.Encode(pack.Tree, randomBytes(uint64(6*i+j), 600), 6)); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeStored(b *testing.B) { benchmarkEncode(b, 0) }
func BenchmarkEncode6(b *testing.B)      { benchmarkEncode(b, 6) }

func benchmarkEncode(b *testing.B, level int) {
	data := randomBytes(1, 256<<10)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		pack.Encode(pack.Blob, data, level)
	}
}

func BenchmarkGetStored(b *testing.B) { benchmarkGet(b, 0) }
func BenchmarkGet6(b *testing.B)      { benchmarkGet(b, 6) }

func benchmarkGet(b *testing.B, level int) {
	dir := b.TempDir()
	e := pack.Encode(pack.Blob, randomBytes(1, 256<<10), level)
	writePack(b, dir, e)
	d := pack.OpenDir(dir)
	defer d.Close()
	b.SetBytes(256 << 10)
	for b.Loop() {
		if _, _, err := d.Get(e.ID); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMerge merges 500 packs of 6 small objects.
func BenchmarkMerge(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		dir := filepath.Join(b.TempDir(), "p")
		if err := os.Mkdir(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		for p := range 500 {
			var es []pack.Entry
			for j := range 6 {
				es = append(es, pack.Encode(pack.Blob, randomBytes(uint64(p*6+j), 600), 0))
			}
			writePack(b, dir, es...)
		}
		b.StartTimer()
		if n, err := pack.MergeAll(dir, "bench"); n != 500 || err != nil {
			b.Fatal(n, err)
		}
	}
}
