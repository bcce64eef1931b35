package main

import (
	"fmt"
	"path/filepath"
)

// barSize adds every session at a fifth, two fifths ... of its length, and commits the same files
// to git.
func (b *bench) barSize() ([]row, error) {
	both, err := b.both(100e6, 20)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, c := range both {
		if err := b.initStore(); err != nil {
			return rows, err
		}
		work := b.gitDir()
		if err := b.fresh(work); err != nil {
			return rows, err
		}
		if err := b.once("git", "init", "-q", work); err != nil {
			return rows, err
		}
		var grown []string
		for part := 1; part <= 5; part++ {
			if grown, err = c.grow(work, part, 5); err != nil {
				return rows, err
			}
			if err := b.addAll(grown); err != nil {
				return rows, err
			}
			if err := b.run(&probe{name: "git", dir: work, argv: []string{"sh", "-c", gitCommit}}); err != nil {
				return rows, err
			}
		}
		got, err := b.sizes(c, grown)
		rows = append(rows, got...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func (b *bench) sizes(c corpus, files []string) ([]row, error) {
	if err := b.once("git", "-C", b.gitDir(), "-c", "gc.pruneExpire=now", "gc", "-q"); err != nil {
		return nil, err
	}
	git, err := size(filepath.Join(b.gitDir(), ".git", "objects"), "")
	if err != nil {
		return nil, err
	}
	if _, err := b.mergePacks(); err != nil {
		return nil, err
	}
	store, err := size(b.store(), "cache")
	if err != nil {
		return nil, err
	}
	zstd, err := b.zstdSize(files)
	if err != nil {
		return nil, err
	}
	a, least := atMost(1.15)
	rows := []row{{
		Bar: "size", What: "store after 5 growth points, packs merged / `zstd -3` of the final files", Corpus: c.name, Unit: "x", Demand: a, Least: least,
		Value: float64(store) / float64(zstd), Detail: fmt.Sprintf("store %s, zstd %s, raw %s", megabytes(store), megabytes(zstd), megabytes(c.bytes)),
	}}
	g, least := atLeast(1.35)
	return append(rows, row{
		Bar: "size", What: "`git gc`ed commits of the same growth / store", Corpus: c.name, Unit: "x", Demand: g, Least: least,
		Value: float64(git) / float64(store), Detail: fmt.Sprintf("git %s, store %s", megabytes(git), megabytes(store)),
	}), nil
}

// barOften adds one session a hundred times, as a hook would.
func (b *bench) barOften() ([]row, error) {
	return b.each(func(c corpus) ([]row, error) {
		work := filepath.Join(b.tmp, "work")
		if err := b.fresh(work); err != nil {
			return nil, err
		}
		if err := b.initStore(); err != nil {
			return nil, err
		}
		var grown []string
		add := &probe{name: "mem add"}
		for part := 1; part <= 100; part++ {
			var err error
			if grown, err = c.grow(work, part, 100); err != nil {
				return nil, err
			}
			add.argv = []string{b.mem, "add", grown[0]}
			if err := b.run(add); err != nil {
				return nil, err
			}
		}
		packs, err := b.mergePacks()
		if err != nil {
			return nil, err
		}
		store, err := size(b.store(), "cache")
		if err != nil {
			return nil, err
		}
		zstd, err := b.zstdSize(grown)
		if err != nil {
			return nil, err
		}
		d, least := atMost(1.25)
		return []row{{
			Bar: "often", What: "store after 100 adds of one session, packs merged / `zstd -3` of it", Corpus: c.name, Unit: "x", Demand: d, Least: least,
			Value:  float64(store) / float64(zstd),
			Detail: fmt.Sprintf("store %s in %d packs before the merge, zstd %s, median add %.1f ms", megabytes(store), packs, megabytes(zstd), add.median()),
		}}, nil
	})
}

// repositories are the two git repositories of a memory.
func (b *bench) repositories() []string {
	return []string{filepath.Join(b.store(), "memory.git"), filepath.Join(b.store(), "originals.git")}
}

// mergePacks lets mem merge the packs and free what earlier merges have left, and returns how many there
// were.
func (b *bench) mergePacks() (packs int, err error) {
	for _, repo := range b.repositories() {
		list, err := filepath.Glob(filepath.Join(repo, "objects", "pack", "*.pack"))
		if err != nil {
			return 0, err
		}
		packs += len(list)
	}
	return packs, b.once(b.mem, "gc")
}
