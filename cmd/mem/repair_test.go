package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	mrand "math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/objects/gitstore"
)

// A damagedStore is a store with a remote that has all of it but what never travels.
type damagedStore struct {
	t    *testing.T
	dir  string // the pristine store
	home string
	root string
}

// newDamagedStore makes a store of the sample sessions with versions and a composition, all of it pushed.
func newDamagedStore(t *testing.T) *damagedStore {
	t.Helper()
	s := &damagedStore{t: t, dir: filepath.Join(t.TempDir(), "memory"), home: t.TempDir()}
	hub := filepath.Join(t.TempDir(), "hub.git")
	if err := gitstore.Init(hub); err != nil {
		t.Fatal(err)
	}
	sample, err := filepath.Abs(filepath.Join("..", "..", "testdata", "transcripts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "--device", "desk"}, {"import", sample}, {"compress", "6ecd", "--ratio", "10"}, {"compose", "feature-x", "6ecd", "--budget", "2k"},
		{"config", "set", "defaults.model", "sonnet"}, {"remote", "add", "origin", hub}, {"push", "--all", "--yes"},
	} {
		s.ok(s.dir, args...)
	}
	s.root = s.ok(s.dir, "fsck", "--root")
	return s
}

func (s *damagedStore) run(dir string, args ...string) (code int, out string) {
	var stdout, stderr bytes.Buffer
	code = run(s.t.Context(), testEnv(s.t, dir, &stdout, &stderr), args)
	return code, stdout.String() + stderr.String()
}

func (s *damagedStore) ok(dir string, args ...string) string {
	s.t.Helper()
	code, out := s.run(dir, args...)
	if code != app.ExitDone {
		s.t.Fatalf("mem %v: exit status %d\n%s", args, code, out)
	}
	return out
}

// copy makes a copy of the store.
func (s *damagedStore) copy() string {
	s.t.Helper()
	dir, err := os.MkdirTemp(s.home, "copy")
	if err == nil {
		err = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(s.dir, path)
			to := filepath.Join(dir, rel)
			switch {
			case err != nil:
				return err
			case d.IsDir():
				return os.MkdirAll(to, 0o700)
			}
			fi, err := d.Info()
			if err != nil {
				return err
			}
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(to, b, fi.Mode())
			}
			return errors.Join(err, os.Chtimes(to, fi.ModTime(), fi.ModTime()))
		})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return dir
}

// meaningless are the files whose bytes say nothing: locks, names of branches that were here, and what can be made again.
var meaningless = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(cache/|reserve$|.*\.lock$|(memory|originals)\.git/mem/)`)
})

// files lists the files of the store that carry meaning, and the others.
func (s *damagedStore) files() (meaning, none []string) {
	s.t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(s.dir, path)
		if fi, ferr := d.Info(); ferr != nil || fi.Size() == 0 {
			return errors.Join(err, ferr)
		}
		if rel = filepath.ToSlash(rel); meaningless().MatchString(rel) {
			none = append(none, rel)
		} else {
			meaning = append(meaning, rel)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return meaning, none
}

// A harm is a way to damage a file. The time of the file does not change, as when a disk fails.
type harm struct {
	name string
	do   func(b []byte, rng *mrand.Rand) []byte
}

func harms() []harm {
	return []harm{
		{"a bit", func(b []byte, rng *mrand.Rand) []byte { b[rng.IntN(len(b))] ^= 1 << rng.IntN(8); return b }},
		{"a byte", func(b []byte, rng *mrand.Rand) []byte { b[rng.IntN(len(b))] += byte(1 + rng.IntN(255)); return b }},
		{"a page of zeros", func(b []byte, rng *mrand.Rand) []byte {
			at := rng.IntN(len(b))
			b[at] |= 1
			clear(b[at:min(len(b), at+4096)])
			return b
		}},
		{"cut off", func(b []byte, rng *mrand.Rand) []byte { return b[:rng.IntN(len(b))] }},
		{"gone", nil},
	}
}

func (h harm) file(t *testing.T, path string, rng *mrand.Rand) {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err == nil && h.do != nil {
		err = errors.Join(os.WriteFile(path, h.do(b, rng), fi.Mode()), os.Chtimes(path, fi.ModTime(), fi.ModTime()))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRepair damages every file of a store in every way. All is detected. What the remote has comes back with the same root hash; what is
// nowhere else is named, and the store is usable.
func TestRepair(t *testing.T) {
	t.Parallel()
	s := newDamagedStore(t)
	meaning, none := s.files()
	rng := mrand.New(mrand.NewPCG(11, 12))
	for i, file := range meaning {
		for j, h := range harms() {
			if os.Getenv("MEM_TORTURE") == "" && j != i%len(harms()) {
				continue // a taste
			}
			dir := s.copy()
			h.file(t, filepath.Join(dir, filepath.FromSlash(file)), rng)
			s.repaired(dir, file, h)
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, file := range none {
		dir := s.copy()
		harms()[0].file(t, filepath.Join(dir, filepath.FromSlash(file)), rng)
		if code, out := s.run(dir, "fsck", "--full"); code != app.ExitDone || !strings.Contains(out, "ok") {
			t.Errorf("%s means nothing, but: %d\n%s", file, code, out)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRepairBranchAndCommits damages the branch of a project together with each pack in turn: the pack may contain the newest commits of the
// branch, and no other local file names them. The remote does, and the store remains the same device.
func TestRepairBranchAndCommits(t *testing.T) {
	t.Parallel()
	s := newDamagedStore(t)
	meaning, _ := s.files()
	rng := mrand.New(mrand.NewPCG(13, 14))
	home := regexp.MustCompile(`^memory\.git/refs/heads/p/0{16}/`)
	pack := regexp.MustCompile(`^memory\.git/.*\.pack$`)
	behind := 0
	for i, file := range meaning {
		if !pack.MatchString(file) {
			continue
		}
		dir := s.copy()
		for _, b := range meaning {
			if strings.HasPrefix(b, "memory.git/refs/heads/p/") && !home.MatchString(b) {
				harms()[3+i%2].file(t, filepath.Join(dir, filepath.FromSlash(b)), rng)
			}
		}
		harms()[4].file(t, filepath.Join(dir, filepath.FromSlash(file)), rng)
		_, out := s.run(dir, "fsck", "--repair")
		if root := s.ok0(dir, "fsck", "--root"); root != s.root {
			t.Errorf("%s: the root is another\n%s\n%s", file, root, out)
		}
		if strings.Contains(out, "restored from the remote") {
			behind++
		}
		if code, out := s.run(dir, "fetch"); code != app.ExitDone || strings.Contains(out, "warning") {
			t.Errorf("%s: fetch: exit status %d\n%s", file, code, out)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if behind < 3 {
		t.Errorf("only %d of the packs were of use", behind)
	}
}

// mayGo are files that may be deleted: there is no telling whether the user did it.
var mayGo = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^config\.json(\.sum)?$|^remotes\.json$|\.idx$`)
})

func (s *damagedStore) repaired(dir, file string, h harm) {
	s.t.Helper()
	what := file + ", " + h.name
	code, out := s.run(dir, "fsck")
	if h.do == nil && mayGo().MatchString(file) && code == app.ExitDone {
		return
	}
	if code != app.ExitNo || !strings.Contains(out, "problem") {
		s.t.Errorf("%s: fsck: exit status %d, want 1\n%s", what, code, out)
		return
	}
	if code, out := s.run(dir, "fsck", "--repair", "-n"); code != app.ExitNo && code != app.ExitFatal {
		s.t.Errorf("%s: fsck --repair -n: exit status %d, want 1\n%s", what, code, out)
	}
	code, out = s.run(dir, "fsck", "--repair")
	kept := regexp.MustCompile(`kept as (.*)`).FindAllStringSubmatch(out, -1)
	for _, k := range kept {
		if _, err := os.Stat(filepath.Join(dir, k[1])); err != nil {
			s.t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
	if h.do != nil && len(kept) == 0 && code == app.ExitDone {
		s.t.Errorf("%s: no damaged file was kept\n%s", what, out)
	}
	if file == "device.json" && code != app.ExitDone || file == "remotes.json" && code != app.ExitDone { // nowhere else
		if !strings.Contains(out, file) {
			s.t.Errorf("%s: exit status %d\n%s", what, code, out)
		}
		return
	}
	if strings.HasPrefix(file, "originals.git/") && code == app.ExitPartial {
		if !regexp.MustCompile(`lost: \[.*|problem: project shop: original of [0-9a-f]{8}`).MatchString(out) {
			s.t.Errorf("%s: nothing is said of what is lost\n%s", what, out)
		}
		if !strings.Contains(out, "problem: ") {
			code = app.ExitDone // the lane began anew, and lacks nothing that anybody needs
		}
	} else if own := strings.Contains(out, "lost: [this device's own]") || file == "config.json"; code == app.ExitPartial && own {
		code = app.ExitDone // what no remote has: it begins anew without
	} else if code != app.ExitDone {
		s.t.Errorf("%s: repair: exit status %d\n%s", what, code, out)
	}
	if root := s.ok0(dir, "fsck", "--root"); !strings.HasPrefix(root, s.root) {
		s.t.Errorf("%s: the root is another\n%s\n%s", what, root, out)
	}
	if code2, out := s.run(dir, "fsck", "--repair"); code2 != code || code == app.ExitDone && !strings.Contains(out, "nothing is damaged") {
		s.t.Errorf("%s: repair again: exit status %d\n%s", what, code2, out)
	}
	if code, out := s.run(dir, "show", "6ecd:v001"); code != app.ExitDone {
		s.t.Errorf("%s: show: %d\n%s", what, code, out)
	}
}

// ok0 returns what a command prints whatever its status.
func (s *damagedStore) ok0(dir string, args ...string) string {
	_, out := s.run(dir, args...)
	return out
}

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
