//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// An oddity is something in the place of a file or a directory of the store.
type oddity struct {
	name string
	put  func(path, moved string) error // moved is where the real one is now
}

func oddities() []oddity {
	return []oddity{
		{"a link to it", func(path, moved string) error { return os.Symlink(moved, path) }},
		{"a link to nothing", func(path, moved string) error { return os.Symlink(moved+".none", path) }},
		{"a pipe", func(path, _ string) error { return syscall.Mkfifo(path, 0o600) }},
		{"a device", func(path, _ string) error { return syscall.Mknod(path, syscall.S_IFCHR|0o600, 1<<8|5) }}, // of endless zeros
		{"a directory or a file", func(path, moved string) error {
			if fi, err := os.Stat(moved); err != nil || fi.IsDir() {
				return errors.Join(err, os.WriteFile(path, []byte("something\n"), 0o600))
			}
			return os.Mkdir(path, 0o700)
		}},
	}
}

// mayBeLink is the file of settings, which many keep among their other dotfiles.
const mayBeLink = "config.json"

// mayBeStrange lists files that are created again if something else is in their place, that have no content, or that only other commands
// open.
var mayBeStrange = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(cache(/|$)|reserve$|config\.json\.sum$|.*\.lock$|scratch|.*\.git/mem/known/.*|.*\.git/(refs/tags|objects/info|info|branches|description)$)`)
})

// TestOddities puts links, pipes, devices and directories in the place of every file and directory of a store. No command hangs or
// follows them: they are refused, or replaced where nothing is lost by that.
func TestOddities(t *testing.T) {
	t.Parallel()
	s := newDamagedStore(t)
	s.ok(s.dir, "fsck")
	var paths []string
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(s.dir, path); rel != "." {
			paths = append(paths, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(s.home, "33333333-4444-4555-a666-777777777777.jsonl")
	line := `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"33333333-4444-4555-a666-777777777777","cwd":"/home/user/shop","timestamp":"2026-03-01T09:00:00.000Z","message":{"role":"user","content":"hello"}}` + "\n"
	if err := os.WriteFile(fresh, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	all := oddities()
	for i, path := range paths {
		for j, x := range all {
			if os.Getenv("MEM_TORTURE") == "" && j+len(all)*(i%2) != i%len(all) {
				continue // a taste
			}
			s.meets(path, x, fresh)
		}
	}
}

// meets lets commands meet one oddity.
func (s *damagedStore) meets(path string, x oddity, fresh string) {
	s.t.Helper()
	dir := s.copy()
	defer os.RemoveAll(dir) // of a copy
	at, moved := filepath.Join(dir, filepath.FromSlash(path)), filepath.Join(s.home, "moved")
	if err := errors.Join(os.RemoveAll(moved), os.Rename(at, moved)); err != nil {
		s.t.Fatal(err)
	}
	before := shapeOf(s.t, moved)
	if err := x.put(at, moved); errors.Is(err, syscall.EPERM) {
		return // only root makes devices
	} else if err != nil {
		s.t.Fatal(err)
	}
	what := fmt.Sprintf("%s is %s", path, x.name)
	refused := false
	for _, args := range [][]string{{"ls", "--all-projects"}, {"config", "list"}, {"fsck"}, {"add", fresh}, {"compress", "6ecd", "--ratio", "5"}, {"push", "--all"}} {
		code, out := s.soon(dir, what, args)
		if code != app.ExitDone && !strings.Contains(out, "error: ") && !strings.Contains(out, "problem: ") {
			s.t.Errorf("%s: mem %v: exit status %d, and nothing is said\n%s", what, args, code, out)
		}
		refused = refused || code != app.ExitDone
	}
	if after := shapeOf(s.t, moved); after != before {
		s.t.Errorf("%s: it was followed: what it led to was\n%s\nand is\n%s", what, before, after)
	}
	follows := path == mayBeLink && strings.HasPrefix(x.name, "a link to")
	if !refused && !mayBeStrange().MatchString(path) && !follows {
		s.t.Errorf("%s, and nobody refused it", what)
	}
}

// soon runs a command that must end.
func (s *damagedStore) soon(dir, what string, args []string) (code int, out string) {
	s.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		code, out = s.run(dir, args...)
	}()
	select {
	case <-done:
	case <-time.After(4 * time.Minute):
		s.t.Fatalf("%s: mem %v hangs", what, args)
	}
	return code, out
}

// shapeOf lists the entries at a path with their sizes and times.
func shapeOf(t *testing.T, path string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, path, fi.Mode(), fi.Size(), fi.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
