package main

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// travelBytes is how many bytes of incompressible transcripts make a history of 500 MB.
const travelBytes = 670e6

// barTravel pushes, fetches and clones histories of 500 MB, against git with the same objects, to a directory, over http and over
// ssh: one of 500 MB of objects that do not get smaller, and one of sessions that take 500 MB.
func (b *bench) barTravel() ([]row, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	ways, skipped := b.ways(git)
	var rows []row
	for _, name := range slices.Sorted(maps.Keys(skipped)) {
		rows = append(rows, row{Bar: "travel", What: "push, fetch and clone over " + name, Skip: tail(skipped[name].Error())})
	}
	defer func() {
		for _, w := range ways {
			w.stop()
		}
	}()
	for _, h := range []struct {
		name string
		make func() error
	}{{"500 MB of objects", b.randomStore}, {"500 MB of sessions", b.sessionStore}} {
		if err := h.make(); err != nil {
			return rows, err
		}
		for _, w := range ways {
			got, err := b.travel(git, w, h.name)
			rows = append(rows, got...)
			if err != nil {
				return rows, err
			}
		}
		got, err := b.travelSealed(git, h.name)
		rows = append(rows, got...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// rulesOn lets commands run with the rules of redaction, as users have them.
func (b *bench) rulesOn(do func() error) error {
	was := b.rules
	b.rules = true
	defer func() { b.rules = was }()
	return do()
}

// randomStore makes a memory of sessions that do not get smaller.
func (b *bench) randomStore() error {
	return b.rulesOn(func() error {
		if err := b.initStore(); err != nil {
			return err
		}
		dir := filepath.Join(b.tmp, "random", "projects", "-home-dev-big")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		const files = 100
		for i := range files {
			if err := randomSession(dir, i, travelBytes/files); err != nil {
				return err
			}
		}
		return b.once(b.mem, "-q", "import", "--no-l1", filepath.Join(b.tmp, "random"))
	})
}

// sessionStore makes a memory of 120 sessions.
func (b *bench) sessionStore() error {
	return b.rulesOn(func() error {
		c, err := b.generated(500e6, 120)
		if err != nil {
			return err
		}
		if err := b.initStore(); err != nil {
			return err
		}
		return b.once(b.mem, "-q", "import", "--no-l1", c.dir)
	})
}

func randomSession(dir string, i int, size int) error {
	id := fmt.Sprintf("%08x-0000-4000-8000-%012x", i+1, i+1)
	f, err := os.Create(filepath.Join(dir, id+".jsonl"))
	if err != nil {
		return err
	}
	defer f.Close()
	raw := make([]byte, 3000)
	for n, done := 0, 0; done < size; n++ {
		if _, err := rand.Read(raw); err != nil {
			return err
		}
		k, err := fmt.Fprintf(f, `{"type":"user","uuid":"%d-%d","timestamp":"2026-01-15T10:00:00Z","cwd":"/home/dev/big","sessionId":"%s","message":{"role":"user","content":"%s"}}`+"\n",
			i, n, id, base64.StdEncoding.EncodeToString(raw))
		if err != nil {
			return err
		}
		done += k
	}
	return f.Close()
}

// at returns where something of the benchmark lies.
func (b *bench) at(name string) string { return filepath.Join(b.tmp, name) }

// remove removes things of the benchmark.
func (b *bench) remove(names ...string) error {
	for _, name := range names {
		if err := os.RemoveAll(b.at(name)); err != nil {
			return err
		}
	}
	return nil
}

// bare makes an empty repository to push to, in the place of what was there.
func (b *bench) bare(git, name string) error {
	if err := b.remove(name); err != nil {
		return err
	}
	if err := b.once(git, "init", "-q", "--bare", b.at(name)); err != nil {
		return err
	}
	return b.once(git, "-C", b.at(name), "config", "http.receivepack", "true")
}

// lanes are the branches that travel.
const lanes = "refs/heads/p/*:refs/heads/p/*"

// travel measures one way to reach a remote.
func (b *bench) travel(git string, w way, corpus string) ([]row, error) {
	at, remove := b.at, b.remove
	bare := func(name string) func() error { return func() error { return b.bare(git, name) } }
	remote := "r" + w.name
	if err := b.once(b.mem, "remote", "add", remote, w.base+"/ours.git"); err != nil {
		return nil, err
	}
	all := lanes
	of := func(name string, prep func() error, argv ...string) *probe {
		return &probe{name: name, prep: prep, env: w.env, argv: argv}
	}
	in := func(name string) []string { return []string{b.mem, "--mem-dir", at(name), "-q"} }
	mem := func(store string, args ...string) []string { return append(in(store), args...) }
	gitPush := of("git push", bare("theirs.git"), git, "-C", at("store")+"/memory.git", "-c", "http.postBuffer=1073741824", "push", "-q", w.base+"/theirs.git", all)
	push := of("mem push", bare("ours.git"), b.mem, "push", "--all", "--yes", remote)
	gitFetch := of("git fetch", bare("fetch.git"), git, "-C", at("fetch.git"), "fetch", "-q", w.base+"/theirs.git", all)
	fetch := of("mem fetch", func() error {
		err := remove("fetch")
		if err == nil {
			err = b.once(mem("fetch", "init")...)
		}
		if err == nil {
			err = b.once(mem("fetch", "remote", "add", "origin", w.base+"/ours.git")...)
		}
		return err
	}, mem("fetch", "fetch")...)
	gitClone := of("git clone", func() error { return remove("clone.git") }, git, "clone", "-q", "--bare", "--no-local", w.base+"/theirs.git", at("clone.git"))
	clone := of("mem clone", func() error { return remove("clone") }, mem("clone", "clone", w.base+"/ours.git")...)
	if err := b.interleave(gitPush, push, gitFetch, fetch, gitClone, clone); err != nil {
		return nil, err
	}
	again, err := b.pushAgain(remote, w)
	if err != nil {
		return nil, err
	}
	what := corpus + ", " + w.name
	d, least := atMost(1.3)
	rows := []row{ratio("travel", "mem push, which looks for secrets, / git push", what, push, gitPush, nil, false), ratio("travel", "mem fetch / git fetch", what, fetch, gitFetch, d, least),
		ratio("travel", "mem clone / git clone", what, clone, gitClone, d, least)}
	d, least = atMost(300)
	for _, p := range []*probe{push, fetch, clone} {
		rows = append(rows, row{Bar: "travel", What: "peak memory of " + p.name, Corpus: what, Unit: "MB", Value: float64(p.rss) / 1e6, Demand: d, Least: least})
	}
	d, least = atMost(1000)
	return append(rows, row{Bar: "travel", What: "push after one more session", Corpus: what, Unit: "ms", Value: again.median(), Demand: d, Least: least}), nil
}

// pushAgain pushes one more session each time.
func (b *bench) pushAgain(remote string, w way) (*probe, error) {
	n := 0
	again := &probe{name: "mem push", env: w.env, argv: []string{b.mem, "push", "--all", "--yes", remote}, prep: func() error {
		dir := filepath.Join(b.tmp, "one")
		if err := b.fresh(dir); err != nil {
			return err
		}
		n++
		if err := randomSession(dir, 1000*len(w.name)+n, 200_000); err != nil {
			return err
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil {
			return err
		}
		return b.once(append([]string{b.mem, "-q", "add"}, files...)...)
	}}
	return again, b.interleave(again)
}
