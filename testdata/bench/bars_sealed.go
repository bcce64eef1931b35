package main

import (
	"fmt"
	"os"
)

// travelSealed pushes a history to an encrypted remote in a directory and clones it, beside git, which sends the same objects in the
// clear. It does more than git, so nothing is demanded: what it takes is stated.
func (b *bench) travelSealed(git, corpus string) ([]row, error) {
	round := 0
	push := &probe{name: "mem push, encrypted"}
	push.prep = func() error {
		round++
		if err := b.bare(git, "sealed.git"); err != nil {
			return err
		}
		name := fmt.Sprintf("sealed%d", round) // what a remote has seen is remembered under its name
		key, err := b.output(b.mem, "remote", "add", "--encrypt", name, b.at("sealed.git"))
		if err != nil {
			return err
		}
		push.argv = []string{b.mem, "push", "--all", "--yes", name}
		return os.WriteFile(b.at("paper"), key, 0o600)
	}
	gitPush := &probe{name: "git push", prep: func() error { return b.bare(git, "theirs.git") },
		argv: []string{git, "-C", b.at("store") + "/memory.git", "push", "-q", b.at("theirs.git"), lanes}}
	gitClone := &probe{name: "git clone", prep: func() error { return b.remove("clone.git") },
		argv: []string{git, "clone", "-q", "--bare", "--no-local", b.at("theirs.git"), b.at("clone.git")}}
	clone := &probe{name: "mem clone, encrypted", prep: func() error { return b.remove("clone") },
		argv: []string{b.mem, "--mem-dir", b.at("clone"), "-q", "clone", "--recovery-key", b.at("paper"), b.at("sealed.git")}}
	if err := b.interleave(gitPush, push, gitClone, clone); err != nil {
		return nil, err
	}
	rows := []row{ratio("travel", "mem push, encrypted / git push in the clear", corpus+", directory", push, gitPush, nil, false),
		ratio("travel", "mem clone, encrypted / git clone in the clear", corpus+", directory", clone, gitClone, nil, false)}
	for _, p := range []*probe{push, clone} {
		rows = append(rows, row{Bar: "travel", What: "peak memory of " + p.name, Corpus: corpus + ", directory", Unit: "MB", Value: float64(p.rss) / 1e6})
	}
	return rows, nil
}
