package sync

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/remote"
)

const sampleLane = "refs/heads/p/0123456789abcdef/0123456789abcdef0123456789abcdef"

// sample returns an archive of one push.
func sample(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	a := &archiveWriter{branches: Branches{Created: time.Unix(1, 0).UTC(), Device: "laptop", Lanes: map[string]string{}},
		write: func(f func(io.Writer) error) error { return f(&out) }}
	s, err := a.Open(t.Context(), remote.Receive)
	if err != nil {
		t.Fatal(err)
	}
	e := pack.Encode(pack.Blob, bytes.Repeat([]byte("some bytes\x00"), 50), 0)
	b := remote.Batch{Updates: []remote.Update{{Ref: sampleLane, New: e.ID}}, Objects: 1, Size: int64(e.Size()),
		Entries: func(yield func(pack.Entry) error) error { return yield(e) }}
	if err := a.finish(s.Push(t.Context(), b)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// content returns all that an archive has.
func content(ctx context.Context, b []byte) (all string, err error) {
	a := &archiveReader{file: bytes.NewReader(b), size: int64(len(b))}
	if err := a.check(ctx, func(int64) {}); err != nil {
		return "", err
	}
	err = a.each(func(name string, r io.Reader) error {
		b, err := io.ReadAll(r)
		all += name + "\n" + string(b) + "\n"
		return err
	})
	return all + fmt.Sprint(a.branches), err
}

// TestArchiveDamage flips every byte of an archive, and cuts it everywhere: it is found each time, but where the compressed
// stream has bits that say nothing. Then all is as it was.
func TestArchiveDamage(t *testing.T) {
	b := sample(t)
	whole, err := content(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if again := sample(t); !bytes.Equal(b, again) {
		t.Error("the same memory makes other bytes")
	}
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 0x20
		if all, err := content(t.Context(), bad); err == nil && all != whole || err != nil && !errors.Is(err, ErrArchive) {
			t.Errorf("byte %d of %d: %v", i, len(b), err)
		}
		if _, err := content(t.Context(), b[:i]); !errors.Is(err, ErrArchive) {
			t.Errorf("cut at %d of %d: %v", i, len(b), err)
		}
	}
}

// TestArchiveHostile reads archives that somebody made to do harm.
func TestArchiveHostile(t *testing.T) {
	commit := strings.Repeat("01", 20)
	good := map[string]string{sampleLane: commit}
	type file struct{ name, content string }
	start := file{formatName, archiveStart}
	for name, c := range map[string]struct {
		files []file
		lanes map[string]string
		link  bool
		zeros int // more bytes of each pack
		want  error
	}{
		"none":       {files: []file{start}, lanes: good},
		"one":        {files: []file{start, {"memory/000000.pack", "x"}}, lanes: good},
		"up":         {files: []file{start, {"../../evil", "x"}}, want: ErrArchive},
		"up as pack": {files: []file{start, {"memory/../../evil.pack", "x"}}, want: ErrArchive},
		"absolute":   {files: []file{start, {"/tmp/evil", "x"}}, want: ErrArchive},
		"hook":       {files: []file{start, {"hooks/post-update", "x"}}, want: ErrArchive},
		"a link":     {files: []file{start, {"memory/000000.pack", ""}}, link: true, want: ErrArchive},
		"no start":   {files: []file{{"memory/000000.pack", "x"}}, lanes: good, want: ErrArchive},
		"foreign":    {files: []file{{formatName, "other 1\n"}}, lanes: good, want: ErrArchive},
		"later":      {files: []file{{formatName, "mem archive 2\n"}}, lanes: good, want: ErrNewerArchive},
		"a bad lane": {files: []file{start}, lanes: map[string]string{"refs/heads/../../x": commit}, want: ErrArchive},
		"no commit":  {files: []file{start}, lanes: map[string]string{sampleLane: "x"}, want: ErrArchive},
		"a zero":     {files: []file{start}, lanes: map[string]string{sampleLane: strings.Repeat("0", 40)}, want: ErrArchive},
		"many lanes": {files: []file{start}, lanes: manyLanes(maxArchiveLanes + 1), want: ErrArchive},
		"a bomb":     {files: []file{start, {"memory/000000.pack", "x"}}, zeros: minUnpacked + 4<<20, lanes: good, want: errBomb},
	} {
		t.Run(name, func(t *testing.T) {
			branches, err := json.Marshal(Branches{Lanes: c.lanes})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			z, err := zstd.NewWriter(&out)
			if err != nil {
				t.Fatal(err)
			}
			w := tar.NewWriter(z)
			for _, f := range append(c.files, file{branchesName, string(branches)}) {
				b := []byte(f.content)
				if strings.HasSuffix(f.name, ".pack") {
					b = append(b, make([]byte, c.zeros)...)
				}
				h := tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(b)), Mode: 0o600}
				if c.link && strings.HasSuffix(f.name, ".pack") {
					h.Typeflag, h.Linkname = tar.TypeSymlink, "/etc/passwd"
				}
				if err := w.WriteHeader(&h); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Write(b); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(w.Close(), z.Close()); err != nil {
				t.Fatal(err)
			}
			if _, err := content(t.Context(), out.Bytes()); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// TestIsArchive tells archives from other files.
func TestIsArchive(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		content []byte
		want    bool
	}{"a": {sample(t), true}, "short": {[]byte{0x28}, false}, "empty": {nil, false}, "json": {[]byte(`{"type":1}`), false}} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := IsArchive(path); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := IsArchive(dir); got || err != nil {
		t.Errorf("a directory: %v, %v", got, err)
	}
}

// manyLanes returns n lanes of one project.
func manyLanes(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprintf("refs/heads/p/0123456789abcdef/%032x", i)] = strings.Repeat("1", 40)
	}
	return out
}

// TestArchiveCancelled interrupts the reading of an archive: that is no damage.
func TestArchiveCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := content(ctx, sample(t)); !errors.Is(err, context.Canceled) || errors.Is(err, ErrArchive) {
		t.Errorf("check = %v, want context canceled", err)
	}
}
