package main_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/memvcs/mem/objects"
)

// tortureWriters lets 16 processes at a time write, half of them to one lane, while others read.
func tortureWriters(t *testing.T, r *rig) {
	const writers = 16
	rounds := amount(t, 4, 100, 500)
	ctx, stop := context.WithCancel(t.Context())
	var readers, writing sync.WaitGroup
	for _, argv := range [][]string{
		{r.bin, "ls", "--all-projects", "--json"},
		{r.bin, "log", "--all-projects", "--json"},
		{"git", "-C", filepath.Join(r.store, "memory.git"), "log", "--all", "--format=%H"},
		{"git", "-C", filepath.Join(r.store, "memory.git"), "fsck", "--strict", "--no-dangling"},
		{"git", "-C", filepath.Join(r.store, "originals.git"), "fsck", "--strict", "--no-dangling"},
	} {
		readers.Go(func() { r.readOn(ctx, argv) })
	}
	all := make([]writer, writers)
	for i := range all {
		project := 0
		if i%2 == 1 {
			project = 1 + i%4
		}
		all[i] = writer{rig: r, teller: newTeller(uint64(100+i), fmt.Sprintf("/home/user/app%d", project))}
		writing.Go(func() { all[i].work(rounds) })
	}
	writing.Wait()
	stop()
	readers.Wait()
	if t.Failed() {
		return
	}
	for i := range all {
		all[i].check()
	}
	linear(r)
	if res := r.mem("fsck", "--full"); res.code != 0 {
		t.Fatal(res)
	}
	r.gitFsck()
}

// readOn repeats a reading command, which must never fail.
func (r *rig) readOn(ctx context.Context, argv []string) {
	for ctx.Err() == nil && !r.t.Failed() {
		if res := r.run(0, argv); res.code != 0 {
			r.t.Errorf("a reader failed: %s: %s", argv[0], res)
		}
	}
}

// A writer is one session that grows.
type writer struct {
	*rig
	*teller
	content  []byte
	names    []objects.Hash // of the acknowledged states
	versions []string
}

// work adds round after round, and now and then compresses. It runs beside the others, so it only
// marks the test as failed.
func (w *writer) work(rounds int) {
	file := filepath.Join(w.dir, "writers", w.id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		w.t.Error(err)
		return
	}
	for i := range rounds {
		if w.t.Failed() {
			return
		}
		w.content = append(w.content, w.more(1+w.rng.IntN(5))...)
		if err := os.WriteFile(file, w.content, 0o600); err != nil {
			w.t.Error(err)
			return
		}
		if res := w.mem("add", file); res.code != 0 {
			w.t.Errorf("round %d: %s", i, res)
			return
		}
		w.names = append(w.names, objects.Sum(w.content))
		if i%20 == 19 {
			if res := w.mem("compress", w.id, "--ratio", fmt.Sprint(2+i%7), "--json"); res.code != 0 {
				w.t.Errorf("round %d: %s", i, res)
				return
			}
		}
	}
}

// check looks for every acknowledged state.
func (w *writer) check() {
	w.t.Helper()
	w.same(w.id, w.content, "at the end")
	for i, name := range w.names {
		res := w.mem("cat-file", "b3:"+name.String())
		if res.code != 0 || objects.Sum([]byte(res.stdout)) != name {
			w.t.Fatalf("state %d of %s is lost: exit %d, %s", i, w.id, res.code, res.stderr)
		}
	}
}

// linear checks that every lane is one line of commits from one root.
func linear(r *rig) {
	r.t.Helper()
	for _, repo := range []string{"memory.git", "originals.git"} {
		if merges := r.git(repo, "rev-list", "--min-parents=2", "--all"); merges != "" {
			r.t.Errorf("%s has merges:\n%s", repo, merges)
		}
		for _, ref := range strings.Fields(r.git(repo, "for-each-ref", "--format=%(refname)")) {
			if roots := strings.Fields(r.git(repo, "rev-list", "--max-parents=0", ref)); len(roots) != 1 {
				r.t.Errorf("lane %s of %s has %d roots", ref, repo, len(roots))
			}
		}
	}
}
