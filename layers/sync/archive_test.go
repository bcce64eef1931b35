package sync

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
)

const sampleLane = "refs/heads/p/0123456789abcdef/0123456789abcdef0123456789abcdef"

// sample returns an archive of one push.
func sample(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	a := &archiveWriter{}
	s, err := a.Open(t.Context(), remote.Receive)
	if err != nil {
		t.Fatal(err)
	}
	e := pack.Encode(pack.Blob, bytes.Repeat([]byte("some bytes\x00"), 50), 0)
	b := remote.Batch{Updates: []remote.Update{{Ref: sampleLane, New: e.ID}}, Objects: 1, Size: int64(e.Size()),
		Entries: func(yield func(pack.Entry) error) error { return yield(e) }}
	if err := errors.Join(s.Push(t.Context(), b), a.writeTo(&out)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// content returns all that an archive has.
func content(ctx context.Context, b []byte) (all string, err error) {
	a := &archiveReader{file: bytes.NewReader(b)}
	if err := a.read(ctx, int64(len(b)), func(int64) {}); err != nil {
		return "", err
	}
	for _, part := range a.bundles {
		b, err := io.ReadAll(io.NewSectionReader(part.pack, 0, part.pack.Size()))
		if all += fmt.Sprintf("%v\n%s\n", part.lanes, b); err != nil {
			return "", err
		}
	}
	return all, nil
}

// TestArchiveDamage flips every byte of an archive, and cuts it everywhere: it is found each time.
func TestArchiveDamage(t *testing.T) {
	b := sample(t)
	if _, err := content(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if again := sample(t); !bytes.Equal(b, again) {
		t.Error("the same memory makes other bytes")
	}
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 0x20
		if _, err := content(t.Context(), bad); !errors.Is(err, ErrArchive) && !errors.Is(err, ErrNewerArchive) {
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
	exact := refs.Lane{Project: "0123456789abcdef", Device: "0123456789abcdef0123456789abcdef", Originals: true}.Ref()
	empty := func(n int64) string { return string(make([]byte, n)) }
	part := func(size int64, pack string, lanes ...string) string {
		return bundleStart + headLine(size, lanes) + "\n" + strings.Join(lanes, "\n") + "\n\n" + pack
	}
	sum := sha1.Sum(nil)
	good := string(sum[:]) // the end of a pack without objects and without a head
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"one":         {part(20, good, commit+" "+sampleLane), nil},
		"two":         {part(20, good, commit+" "+sampleLane) + part(20, good, commit+" "+exact), nil},
		"turned":      {part(20, good, commit+" "+exact) + part(20, good, commit+" "+sampleLane), ErrArchive},
		"mixed":       {part(20, good, commit+" "+sampleLane, commit+" "+exact), ErrArchive},
		"thrice":      {part(20, good, commit+" "+sampleLane) + part(20, good, commit+" "+exact) + part(20, good, commit+" "+exact), ErrArchive},
		"nothing":     {"", ErrArchive},
		"foreign":     {bundleStart + commit + " refs/heads/main\n" + commit + " " + sampleLane + "\n\n" + good, ErrArchive},
		"no lanes":    {bundleStart + commit + " refs/heads/main\n\n" + good, ErrArchive},
		"later":       {strings.Replace(part(20, good, commit+" "+sampleLane), archiveRef+"1/", archiveRef+"2/", 1), ErrNewerArchive},
		"short pack":  {part(19, good[1:], commit+" "+sampleLane), ErrArchive},
		"long":        {part(1<<62, good, commit+" "+sampleLane), ErrArchive},
		"negative":    {part(-1, good, commit+" "+sampleLane), ErrArchive},
		"more":        {part(20, good, commit+" "+sampleLane) + "x", ErrArchive},
		"other sum":   {part(20, empty(20), commit+" "+sampleLane), ErrArchive},
		"a bad lane":  {part(20, good, commit+" refs/heads/../../x"), ErrArchive},
		"no commit":   {part(20, good, "x "+sampleLane), ErrArchive},
		"a zero":      {part(20, good, strings.Repeat("0", 40)+" "+sampleLane), ErrArchive},
		"a long line": {bundleStart + empty(1<<20), ErrArchive},
		"many lanes":  {part(20, good, slices.Repeat([]string{commit + " " + sampleLane}, maxArchiveLanes+1)...), ErrArchive},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := content(t.Context(), []byte(c.text)); !errors.Is(err, c.want) {
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
	}{"a": {sample(t), true}, "short": {[]byte("# v2"), false}, "empty": {nil, false}, "json": {[]byte(`{"type":1}`), false}} {
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

// TestArchiveCancelled interrupts the reading of an archive: that is no damage.
func TestArchiveCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := content(ctx, sample(t)); !errors.Is(err, context.Canceled) || errors.Is(err, ErrArchive) {
		t.Errorf("check = %v, want context canceled", err)
	}
}
