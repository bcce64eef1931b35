package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func (b *bench) barStart() ([]row, error) {
	hello := &probe{name: "hello", argv: []string{b.hello}}
	version := &probe{name: "mem version", argv: []string{b.mem, "version"}}
	if err := b.repeat(5, hello, version); err != nil {
		return nil, err
	}
	// The library of commands brings a reader of Markdown, whose tables take .3 ms of every start.
	d, least := atMost(3.5)
	return []row{ratio("start", "start of the binary (`mem version`) / Go hello-world", "", version, hello, d, least)}, nil
}

// repeat runs the probes more often than the other bars do: they take a few milliseconds, and noise
// counts for more.
func (b *bench) repeat(times int, probes ...*probe) error {
	for range times {
		if err := b.interleave(probes...); err != nil {
			return err
		}
	}
	return nil
}

const million = 1_000_000

func (b *bench) barFirst() ([]row, error) {
	if err := b.initStore(); err != nil {
		return nil, err
	}
	name := filepath.Join(b.tmp, "object")
	if err := b.worker("objects", fmt.Sprint(million), name); err != nil {
		return nil, err
	}
	object, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	hello := &probe{name: "hello", argv: []string{b.hello}}
	cat := &probe{name: "mem cat-file", argv: []string{b.mem, "cat-file", "b3:" + strings.TrimSpace(string(object))}}
	if err := b.repeat(5, hello, cat); err != nil {
		return nil, err
	}
	d, least := atMost(3)
	r := ratio("first", "cold first read (`mem cat-file`) at 10^6 objects / Go hello-world", "", cat, hello, d, least)
	r.Detail += ", peak " + megabytes(cat.rss)
	return []row{r}, nil
}

func (b *bench) barRestore() ([]row, error) {
	return b.each(func(c corpus) ([]row, error) {
		file := c.files[0]
		if err := b.initStore(); err != nil {
			return nil, err
		}
		if err := b.addAll(c.files); err != nil {
			return nil, err
		}
		if err := b.initGit(file)(); err != nil {
			return nil, err
		}
		if err := b.run(&probe{name: "git", dir: b.gitDir(), argv: []string{"sh", "-c", gitCommit}}); err != nil {
			return nil, err
		}
		to := filepath.Join(b.tmp, "restored.jsonl")
		gone := func() error { return os.RemoveAll(to) }
		git := &probe{name: "git cat-file", prep: gone, argv: []string{"git", "-C", b.gitDir(), "cat-file", "blob", "HEAD:session.jsonl"}, out: to}
		mem := &probe{name: "mem checkout", prep: gone, argv: []string{b.mem, "checkout", sessionOf(file) + ":original", "-o", to}}
		if err := b.interleave(git, mem); err != nil {
			return nil, err
		}
		if err := b.once("cmp", file, to); err != nil {
			return nil, err
		}
		d, least := atMost(1.3)
		return []row{ratio("restore", "restore of an original / `git cat-file blob`", c.name, mem, git, d, least)}, nil
	})
}

// sessionOf returns the id of the session in a file.
func sessionOf(file string) string { return strings.TrimSuffix(filepath.Base(file), ".jsonl") }
