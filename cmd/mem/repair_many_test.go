package main

import (
	"fmt"
	mrand "math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// TestRepairSeveral damages several files of the synced data together, each in one of the ways. The data of the remote is restored with the same
// root hash, and the store remains the same device: it fetches without a warning and pushes.
func TestRepairSeveral(t *testing.T) {
	t.Parallel()
	s := newDamagedStore(t)
	meaning, _ := s.files()
	home := regexp.MustCompile(`^memory\.git/refs/heads/p/0{16}/`)
	var files []string
	for _, f := range meaning {
		if strings.HasPrefix(f, "memory.git/") && !home.MatchString(f) {
			files = append(files, f)
		}
	}
	n, from := 12, 0
	if os.Getenv("MEM_TORTURE") != "" {
		n = 400
	}
	if v, err := strconv.Atoi(os.Getenv("MEM_TORTURE_SEED")); err == nil {
		from = (v - 1) << 20
	}
	for i := range n {
		rng := mrand.New(mrand.NewPCG(uint64(from+i), 21))
		dir := s.copy()
		var what []string
		rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		for _, f := range files[:2+rng.IntN(4)] {
			h := harms()[rng.IntN(len(harms()))]
			h.file(t, filepath.Join(dir, filepath.FromSlash(f)), rng)
			what = append(what, f+", "+h.name)
		}
		said := fmt.Sprintf("%d:\n%s\n", i, strings.Join(what, "\n"))
		code, out := s.run(dir, "fsck", "--repair")
		if code != app.ExitDone && !(code == app.ExitPartial && strings.Contains(out, "lost: [this device's own]")) {
			t.Errorf("%sexit status %d\n%s", said, code, out)
		}
		if root := s.ok0(dir, "fsck", "--root"); !strings.HasPrefix(root, s.root) {
			t.Errorf("%sthe root is another\n%s\n%s", said, root, out)
		}
		for _, args := range [][]string{{"fetch"}, {"push", "--all", "--yes"}, {"pull"}, {"fsck", "--full"}, {"show", "6ecd:v001"}} {
			if code, out2 := s.run(dir, args...); code != app.ExitDone || strings.Contains(out2, "warning") {
				t.Errorf("%s%v: exit status %d\n%s\nthe repair said\n%s", said, args, code, out2, out)
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}
