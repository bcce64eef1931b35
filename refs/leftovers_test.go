package refs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// TestLeftoversGo looks whether all that killed processes can have left is gone after a sweep, and after a Compact
// beside which nobody writes.
func TestLeftoversGo(t *testing.T) {
	t.Parallel()
	for name, sweep := range map[string]func(r *Repo) error{
		"compact": func(r *Repo) error { _, _, err := r.Compact(t.Context(), false); return err },
		"sweep":   func(r *Repo) error { return r.Sweep(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			var left []string
			for _, dir := range []string{MemoryDir, OriginalsDir} {
				packs := filepath.Join(r.dir, dir, "objects", "pack")
				for _, f := range []string{"pack-ffeeddccbbaa99887766554433221100ffeeddcc.idx", "tmp_pack_fetch_1", "tmp_idx_fetch_2", "tmp_pack_repair_3", "tmp_idx_merge_4",
					"pack-00112233445566778899aabbccddeeff00112233.idx", "pack-00112233445566778899aabbccddeeff00112233.superseded"} {
					left = append(left, filepath.Join(packs, f))
				}
			}
			left = append(left, filepath.Join(r.dir, scratchDir, "fetch.git", "HEAD"))
			swept(t, left, func() error { return sweep(r) })
			if _, err := check(t.Context(), r, func(p string) { t.Error(p) }); err != nil {
				t.Error(err)
			}
		})
	}
}

// swept makes files and checks that a sweep removes them all.
func swept(t *testing.T, left []string, sweep func() error) {
	t.Helper()
	for _, f := range left {
		if err := errors.Join(os.MkdirAll(filepath.Dir(f), 0o700), os.WriteFile(f, []byte("x"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := sweep(); err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if _, err := os.Lstat(f); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", filepath.Base(f), err)
		}
	}
}

// TestScratchGoes does the same with what a killed process left of an encrypted remote; what a live one has stays.
func TestScratchGoes(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	live, err := r.Scratch(t.Context(), "in-live")
	if err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(r.dir, scratchDir, "in-dead.git")
	if err := os.MkdirAll(filepath.Join(dead, "objects"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Compact(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dead); err == nil {
		t.Error("what a killed process left is there")
	}
	if _, err := os.Lstat(filepath.Join(live.Dir(), "HEAD")); err != nil {
		t.Errorf("what a live process has: %v", err)
	}
	if err := live.Close(); err != nil {
		t.Error(err)
	}
}

// TestUpdateInBareCopy writes to a copy of a store without the directories that hold locks.
func TestUpdateInBareCopy(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	packs := r.originals.PackDir()
	for i := range maxPacks + 1 {
		w, err := pack.Create(packs, "test")
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(pack.Encode(pack.Blob, []byte{byte(i)}, 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{MemoryDir, OriginalsDir} {
		if err := os.RemoveAll(filepath.Join(r.dir, dir, "mem")); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Update(t.Context(), testProject, "one", func(tx *Tx) error { _, err := tx.Add("set", map[string]string{"a": "b"}); return err }); err != nil {
		t.Errorf("Update: %v", err)
	}
}

// What a command that was killed left of the small files beside the repositories is gone after Compact; what is being
// written stays.
func TestSmallFilesAreSwept(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	if err := r.WriteNote("note.json", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"note.json": true, lane.DeviceFile: true}
	for _, name := range []string{".mem-%s", "keys/.mem-%s", "hooks/.mem-%s", "hooks/%s.off"} {
		for age, left := range map[time.Duration]string{2 * leftoverAge: "1", leftoverAge / 2: "2"} {
			file := filepath.Join(r.dir, filepath.FromSlash(fmt.Sprintf(name, left)))
			at := r.opts.Now().Add(-age)
			err := os.MkdirAll(filepath.Dir(file), 0o700)
			if err = errors.Join(err, os.WriteFile(file, []byte("x"), 0o600), os.Chtimes(file, at, at)); err != nil {
				t.Fatal(err)
			}
			want[fmt.Sprintf(name, left)] = left == "2" || strings.HasSuffix(name, ".off")
		}
	}
	if _, _, err := r.Compact(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for name, stays := range want {
		if _, err := os.Lstat(filepath.Join(r.dir, filepath.FromSlash(name))); (err == nil) != stays {
			t.Errorf("%s: %v, want it there: %v", name, err, stays)
		}
	}
}
