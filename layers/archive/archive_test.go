package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
)

// sample returns an archive of a repository with one lane.
func sample(t *testing.T) []byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "memory.git")
	if err := gitstore.InitTemporary(dir); err != nil {
		t.Fatal(err)
	}
	for _, ext := range []string{".pack", ".idx"} {
		name := filepath.Join(dir, "objects/pack", "pack-0123456789012345678901234567890123456789"+ext)
		if err := os.WriteFile(name, bytes.Repeat([]byte(ext+" bytes\x00"), 50), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer git.Close()
	var out bytes.Buffer
	if err := Write(&out, git, Manifest{Created: time.Unix(1, 0).UTC(), Device: "laptop"}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func unpack(t *testing.T, b []byte) (string, error) {
	dir := filepath.Join(t.TempDir(), "memory.git")
	_, err := Unpack(t.Context(), bytes.NewReader(b), dir, func(int64) {})
	return dir, err
}

// content returns everything in a directory.
func content(t *testing.T, dir string) (all string) {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all += strings.TrimPrefix(path, dir) + "\n" + string(b) + "\n"
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestDamage flips every byte of an archive, and cuts it everywhere: it is found each time, but where the compressed
// stream has bits that say nothing. Then all is as it was.
func TestDamage(t *testing.T) {
	b := sample(t)
	dir, err := unpack(t, b)
	if err != nil {
		t.Fatal(err)
	}
	whole := content(t, dir)
	if again := sample(t); !bytes.Equal(b, again) {
		t.Error("the same memory makes other bytes")
	}
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 0x20
		if dir, err := unpack(t, bad); err == nil && content(t, dir) != whole || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d of %d: %v", i, len(b), err)
		}
		if _, err := unpack(t, b[:i]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut at %d of %d: %v", i, len(b), err)
		}
	}
}

// TestHostile reads archives that somebody made to do harm.
func TestHostile(t *testing.T) {
	good := "objects/pack/pack-0123456789012345678901234567890123456789.pack"
	lane := Lane{"refs/heads/p/0123456789abcdef/0123456789abcdef0123456789abcdef",
		"0123456789012345678901234567890123456789"}
	for name, c := range map[string]struct {
		files []string
		lanes []Lane
		link  bool
		extra string
		ver   int
		zeros int64 // more bytes of each file
		want  error
	}{
		"up":         {files: []string{"../../evil"}, want: ErrDamaged},
		"absolute":   {files: []string{"/tmp/evil"}, want: ErrDamaged},
		"config":     {files: []string{"config"}, want: ErrDamaged},
		"hook":       {files: []string{"hooks/post-update"}, want: ErrDamaged},
		"twice":      {files: []string{good, good}, want: ErrDamaged},
		"a link":     {files: []string{good}, link: true, want: ErrDamaged},
		"more":       {files: []string{good}, extra: "hooks/post-update", want: ErrDamaged},
		"a bad lane": {lanes: []Lane{{"refs/heads/../../x", lane.Commit}}, want: ErrDamaged},
		"no commit":  {lanes: []Lane{{lane.Ref, "x"}}, want: ErrDamaged},
		"a zero":     {lanes: []Lane{{lane.Ref, strings.Repeat("0", 40)}}, want: ErrDamaged},
		"a lane":     {lanes: []Lane{lane}},
		"lane twice": {lanes: []Lane{lane, lane}, want: ErrDamaged},
		"many lanes": {lanes: manyLanes(maxLanes + 1), want: ErrDamaged},
		"a bomb":     {files: []string{good}, zeros: minUnpacked + 4<<20, want: errBomb},
		"later":      {ver: 2, want: ErrNewer},
	} {
		t.Run(name, func(t *testing.T) {
			content := append([]byte("content"), make([]byte, c.zeros)...)
			h := objects.NewHasher()
			h.Write(content)
			m := Manifest{Format: Format, Version: max(c.ver, 1), Lanes: c.lanes}
			for _, f := range c.files {
				m.Files = append(m.Files, File{f, int64(len(content)), h.Sum()})
			}
			head, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			z, err := zstd.NewWriter(&out)
			if err != nil {
				t.Fatal(err)
			}
			w := tar.NewWriter(z)
			add := func(name string, b []byte) {
				header := tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(b)), Mode: 0o600}
				if c.link && name != manifestName {
					header.Typeflag, header.Linkname, header.Size, b = tar.TypeSymlink, "/etc/passwd", 0, nil
				}
				if err := w.WriteHeader(&header); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Write(b); err != nil {
					t.Fatal(err)
				}
			}
			add(manifestName, head)
			for _, f := range c.files {
				add(f, content)
			}
			if c.extra != "" {
				add(c.extra, content)
			}
			if err := errors.Join(w.Close(), z.Close()); err != nil {
				t.Fatal(err)
			}
			dir, err := unpack(t, out.Bytes())
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "hooks")); err == nil {
				t.Error("it wrote hooks")
			}
		})
	}
}

// TestIs tells archives from other files.
func TestIs(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		content []byte
		want    bool
	}{"a": {sample(t), true}, "short": {[]byte{0x28}, false}, "empty": {nil, false}, "json": {[]byte(`{"type":1}`), false}} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Is(path); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := Is(dir); got || err != nil {
		t.Errorf("a directory: %v, %v", got, err)
	}
}

// manyLanes returns n lanes of one project.
func manyLanes(n int) (out []Lane) {
	for i := range n {
		out = append(out, Lane{fmt.Sprintf("refs/heads/p/0123456789abcdef/%032x", i), strings.Repeat("1", 40)})
	}
	return out
}

// TestCancelled interrupts the reading of an archive: that is no damage.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read := 0
	_, err := Unpack(ctx, bytes.NewReader(sample(t)), filepath.Join(t.TempDir(), "memory.git"), func(int64) {
		if read++; read == 2 { // the last file
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrDamaged) {
		t.Errorf("Unpack = %v, want context canceled", err)
	}
}
