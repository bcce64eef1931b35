package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A lean is a command whose peak memory is measured, in the state that the ones before it left.
type lean struct {
	args []string
	most float64 // MB
}

// barMemory measures the peak memory of the commands on a transcript that is one line of 500 MB, on
// one of 20 MB, of an import, and of all that a session goes through whose tool result is a file of 300 MB.
func (b *bench) barMemory() ([]row, error) {
	c, err := b.generated(20e6, 1)
	if err != nil {
		return nil, err
	}
	line := filepath.Join(b.tmp, "line", "5c1f0b3e-0000-4000-a000-000000000001.jsonl")
	if err := b.worker("line", line, strconv.Itoa(500e6), c.files[0]); err != nil {
		return nil, err
	}
	rows, err := b.leans("one line of 500 MB", line, []lean{
		{[]string{"add", line}, 64},
		{[]string{"checkout", sessionOf(line) + ":original", "-o", filepath.Join(b.tmp, "restored")}, 300},
		{[]string{"compress", sessionOf(line), "--ratio", "50"}, 300},
		{[]string{"fsck", "--full"}, 300},
	})
	if err != nil {
		return rows, err
	}
	id := sessionOf(c.files[0])
	more, err := b.leans("generated, 20 MB", c.files[0], []lean{
		{[]string{"add", c.files[0]}, 300},
		{[]string{"add", c.files[0]}, 300},
		{[]string{"show", id + ":L1", "--format", "jsonl"}, 300},
		{[]string{"compress", id, "--ratio", "10"}, 300},
		{[]string{"compose", "context", id, "--budget", "16k"}, 300},
		{[]string{"checkout", "context", "-o", filepath.Join(b.tmp, "context")}, 300},
		{[]string{"log"}, 300},
		{[]string{"ls"}, 300},
		{[]string{"fsck", "--full"}, 300},
	})
	rows = append(rows, more...)
	if err != nil {
		return rows, err
	}
	many, err := b.generated(500e6, 120)
	if err != nil {
		return rows, err
	}
	more, err = b.leans(many.name, many.dir, []lean{{[]string{"import", many.dir}, 300}})
	rows = append(rows, more...)
	if err != nil {
		return rows, err
	}
	more, err = b.leanFile(c.files[0])
	return append(rows, more...), err
}

// leanFile measures the peak memory of what happens to an overflow file of 300 MB.
func (b *bench) leanFile(from string) ([]row, error) {
	dir, hub, back := filepath.Join(b.tmp, "overflow"), filepath.Join(b.tmp, "overflow.git"), filepath.Join(b.tmp, "overflow-back.jsonl")
	session := filepath.Join(dir, "5c1f0b3e-0000-4000-a000-000000000002.jsonl")
	text, err := os.ReadFile(from)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(strings.TrimSuffix(session, ".jsonl"), "tool-results", "dump.txt")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(text[:1<<20]), "\n")
	out, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	for range 1 + 300_000_000/len(text) { // what this process holds would count as held by the commands
		if _, err := out.Write(text); err != nil {
			return nil, errors.Join(err, out.Close())
		}
	}
	if err := errors.Join(out.Close(), os.WriteFile(session, []byte(first+"\n"), 0o600)); err != nil {
		return nil, err
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	if err := b.run(&probe{name: "git init", argv: []string{git, "init", "-q", "--bare", hub}}); err != nil {
		return nil, err
	}
	second := "--mem-dir=" + filepath.Join(b.tmp, "overflow-second")
	return b.leans("an overflow file of 300 MB", session, []lean{
		{[]string{"import", dir}, 150},
		{[]string{"import", dir}, 150},
		{[]string{"checkout", sessionOf(session), "--files", "-o", back}, 150},
		{[]string{"fsck", "--full"}, 150},
		{[]string{"remote", "add", "origin", hub}, 150},
		{[]string{"push", "--all", "--yes"}, 150},
		{[]string{"clone", hub, second}, 150},
		{[]string{"forget", sessionOf(session), "--yes"}, 150},
	})
}

// leans runs commands in a new memory, one after the other, and states the peak of each.
func (b *bench) leans(what, file string, commands []lean) ([]row, error) {
	if err := b.initStore(); err != nil {
		return nil, err
	}
	var rows []row
	seen := map[string]bool{}
	for _, l := range commands {
		name := l.args[0]
		if seen[name] {
			name += " again"
		}
		seen[name] = true
		p := &probe{name: "mem " + name, argv: append([]string{b.mem}, l.args...)}
		r := row{Bar: "memory", What: "peak memory of `" + p.name + "`", Corpus: what, Unit: "MB"}
		r.Demand, r.Least = atMost(l.most)
		err := b.run(p)
		r.Value, r.Detail = float64(p.rss)/1e6, fmt.Sprintf("in %.0f ms", p.median())
		if err != nil {
			lines := strings.Split(err.Error(), "\n")
			r.Detail += ", refused: " + lines[len(lines)-1]
		}
		rows = append(rows, r)
	}
	return rows, nil
}
