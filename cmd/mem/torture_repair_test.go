package main_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tortureRepair damages stores, and kills repairs of them. The next repair finishes: from a remote that has the lost data, everything is
// restored, and every damaged file is kept.
func tortureRepair(t *testing.T, r *rig) {
	hub := filepath.Join(r.Home, "hub.git")
	var ids []string
	var want [][]byte
	for i := range 4 {
		w := NewGenerator(uint64(700+i), "/home/user/app")
		text := w.More(30)
		r.ok("add", r.write("in/"+w.ID+".jsonl", text))
		ids, want = append(ids, w.ID), append(want, text)
	}
	r.ok("compress", ids[0], "--ratio", "3")
	if res := r.run("git", "init", "-q", "--bare", hub); res.Code != 0 {
		t.Skipf("SKIPPED: the repository to repair from is made with git: %s", res.Stderr)
	}
	r.ok("remote", "add", "origin", hub)
	r.ok("push", "--all", "--yes")
	root := r.ok("fsck", "--root")
	rng := rand.New(rand.NewPCG(seed(t), 31))
	dir, kills := t.TempDir(), 0
	for range amount(t, 2, 8, 400) {
		c := r.clone(dir)
		c.harm(rng)
		for range 3 {
			if c.kill(time.Duration(1+rng.IntN(120_000))*time.Microsecond, "fsck", "--repair").Code == -1 {
				kills++
			}
		}
		if res := c.mem("fsck", "--repair"); res.Code != 0 && !strings.Contains(res.Stdout, "lost: [this device's own]") {
			t.Fatalf("after repairs that were killed: %s", res)
		}
		if got := c.ok("fsck", "--root"); got != root {
			t.Fatalf("the root is\n%s\nand was\n%s", got, root)
		}
		if res := c.mem("fsck", "--full"); res.Code != 0 {
			t.Fatal(res)
		}
		for i, id := range ids {
			c.same(id, want[i], "after a repair")
		}
		if kept, err := filepath.Glob(filepath.Join(c.Dir, "damaged", "memory.git", "*")); err != nil || len(kept) == 0 {
			t.Fatalf("no damaged file was kept: %v", err)
		}
		if _, err := c.Private(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d repairs killed", kills)
}

// harm flips a byte in some packs and branches of memory.git.
func (r *rig) harm(rng *rand.Rand) {
	r.t.Helper()
	var files []string
	err := filepath.WalkDir(filepath.Join(r.Dir, "memory.git"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && (filepath.Ext(path) == ".pack" || filepath.Ext(path) == ".idx" || strings.Contains(path, "refs/heads/p/")) {
			files = append(files, path)
		}
		return err
	})
	for range 1 + rng.IntN(3) {
		file := files[rng.IntN(len(files))]
		var b []byte
		if err == nil {
			b, err = os.ReadFile(file)
		}
		if err == nil {
			b[rng.IntN(len(b))] ^= byte(1 + rng.IntN(255))
			err = errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, b, 0o600))
		}
	}
	if err != nil {
		r.t.Fatal(err)
	}
}
