package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// initStore makes an empty memory.
func (b *bench) initStore() error {
	if err := os.RemoveAll(b.store()); err != nil {
		return err
	}
	if err := b.once(b.mem, "init"); err != nil || b.rules {
		return err
	}
	return b.once(b.mem, "config", "set", "redact.rules", "off")
}

// initGit makes an empty git repository that holds the file as its only one.
func (b *bench) initGit(file string) func() error {
	return func() error {
		if err := b.fresh(b.gitDir()); err != nil {
			return err
		}
		if err := b.once("git", "init", "-q", b.gitDir()); err != nil {
			return err
		}
		return copyFile(filepath.Join(b.gitDir(), "session.jsonl"), file, -1)
	}
}

func (b *bench) gitDir() string { return filepath.Join(b.tmp, "git") }

const gitCommit = "git add -A && git commit -q -m x"

func (b *bench) initRestic() error {
	if err := b.fresh(filepath.Join(b.tmp, "restic")); err != nil {
		return err
	}
	return b.once("restic", "init", "-q")
}

func zstdOf(file string) *probe {
	return &probe{name: "zstd -3", argv: []string{"zstd", "-q", "-3", "-T1", "-c", file}}
}

// each runs measure on the largest session of the generated corpus and of the real one.
func (b *bench) each(measure func(corpus) ([]row, error)) ([]row, error) {
	both, err := b.both(20e6, 1)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, c := range both {
		one, err := c.one(filepath.Join(b.tmp, fmt.Sprintf("one%d", i)))
		if err != nil {
			return rows, err
		}
		got, err := measure(one)
		rows = append(rows, got...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func (b *bench) barAdd() ([]row, error) {
	return b.each(func(c corpus) ([]row, error) {
		file := c.files[0]
		zstd := zstdOf(file)
		add := &probe{name: "mem add", prep: b.initStore, argv: []string{b.mem, "add", file}}
		git := &probe{name: "git add+commit", prep: b.initGit(file), dir: b.gitDir(), argv: []string{"sh", "-c", gitCommit}}
		restic := &probe{name: "restic", prep: b.initRestic, argv: []string{"restic", "backup", "-q", file}}
		probes := []*probe{zstd, add, git}
		_, none := exec.LookPath("restic")
		if none == nil {
			probes = append(probes, restic)
		}
		if err := b.interleave(probes...); err != nil {
			return nil, err
		}
		three, least := atMost(3)
		rows := []row{ratio("add", "cold `mem add` / `zstd -3 -T1`", c.name, add, zstd, three, least)}
		two, least := atLeast(2)
		rows = append(rows, ratio("add", "`git add` + `git commit` / cold `mem add`", c.name, git, add, two, least))
		six, least := atLeast(6)
		last := row{Bar: "add", What: "`restic backup` / cold `mem add`", Corpus: c.name, Demand: six, Least: least, Skip: "restic is not installed"}
		if none == nil {
			last = ratio("add", last.What, c.name, restic, add, six, least)
		}
		return append(rows, last), nil
	})
}

func (b *bench) barReadd() ([]row, error) {
	return b.each(func(c corpus) ([]row, error) {
		work := filepath.Join(b.tmp, "work")
		if err := b.fresh(work); err != nil {
			return nil, err
		}
		before, after := filepath.Join(b.tmp, "before"), filepath.Join(b.tmp, "after")
		if err := b.initStore(); err != nil {
			return nil, err
		}
		var file string
		for _, s := range []struct {
			part int
			save string
		}{{99, before}, {100, after}} {
			grown, err := c.grow(work, s.part, 100)
			if err != nil {
				return nil, err
			}
			file = grown[0]
			if err := b.once(b.mem, "add", file); err != nil {
				return nil, err
			}
			if err := b.copyStore(b.store(), s.save); err != nil {
				return nil, err
			}
		}
		hash := &probe{name: "read+BLAKE3", argv: []string{b.hashfile, file}}
		grown := &probe{name: "mem add", argv: []string{b.mem, "add", file}, prep: func() error { return b.copyStore(before, b.store()) }}
		same := &probe{name: "mem add", argv: []string{b.mem, "add", file}, prep: func() error { return b.copyStore(after, b.store()) }}
		if err := b.interleave(hash, grown, same); err != nil {
			return nil, err
		}
		a, least := atMost(3.5)
		rows := []row{ratio("readd", "re-add after +1 % / read and BLAKE3", c.name, grown, hash, a, least)}
		u, least := atMost(1.6)
		return append(rows, ratio("readd", "re-add unchanged / read and BLAKE3", c.name, same, hash, u, least)), nil
	})
}

// copyStore makes dst a copy of the store src, times and modes included.
func (b *bench) copyStore(src, dst string) error {
	if err := os.RemoveAll(dst); err != nil {
		return err
	}
	return b.once("cp", "-a", src, dst)
}

func (b *bench) barImport() ([]row, error) {
	both, err := b.both(500e6, 120)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, c := range both {
		zstd := &probe{name: "cat | zstd -3", argv: append([]string{"sh", "-c", `cat "$@" | zstd -q -3 -T1 -c >/dev/null`, "sh"}, c.files...)}
		bare := &probe{name: "mem import --no-l1", prep: b.initStore, argv: []string{b.mem, "import", "--no-l1", c.dir}}
		full := &probe{name: "mem import", prep: b.initStore, argv: []string{b.mem, "import", c.dir}}
		if err := b.interleave(zstd, bare, full); err != nil {
			return rows, err
		}
		max, least := atMost(1.3)
		r := ratio("import", "import, capture alone / `cat \\| zstd -3 -T1`", c.name, bare, zstd, max, least)
		r.Detail += ", peak " + megabytes(bare.rss)
		l1 := ratio("import", "import with L1 and tokens / the same", c.name, full, zstd, nil, false)
		l1.Detail += ", peak " + megabytes(full.rss)
		rows = append(rows, r, l1)
	}
	return rows, nil
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// zstdSize returns how many bytes zstd -3 makes of all the files together.
func (b *bench) zstdSize(files []string) (int64, error) {
	dst := filepath.Join(b.tmp, "all.zst")
	argv := append([]string{"sh", "-c", `cat "$@" | zstd -q -3 -T1 -c >` + dst, "sh"}, files...)
	if err := b.once(argv...); err != nil {
		return 0, err
	}
	info, err := os.Stat(dst)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// addAll adds the files in one command.
func (b *bench) addAll(files []string) error {
	if err := b.once(append([]string{b.mem, "add"}, files...)...); err != nil {
		return fmt.Errorf("add %s: %w", strings.Join(files[:min(2, len(files))], " "), err)
	}
	return nil
}
