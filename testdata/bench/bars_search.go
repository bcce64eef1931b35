package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// queries are words that sessions have.
var queries = []string{"error", "test", "read file", "function returns error", "fix the test", "what does this file do", "config", "where is the list sorted"}

// barSearch measures the search index of 193 MB of sessions: how it is built, how large it is, and how long a query takes.
func (b *bench) barSearch() ([]row, error) {
	corpora, err := b.both(193e6, 270)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, c := range corpora {
		more, err := b.searchIn(c)
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func (b *bench) searchIn(c corpus) ([]row, error) {
	if err := b.initStore(); err != nil {
		return nil, err
	}
	if err := b.once(b.mem, "import", c.dir); err != nil {
		return nil, err
	}
	index := filepath.Join(b.store(), "cache", "search")
	build := &probe{name: "build", argv: b.searchFor(queries[0]), prep: func() error { return os.RemoveAll(index) }}
	if err := b.interleave(build); err != nil {
		return nil, err
	}
	size, err := bytesBelow(index)
	if err != nil {
		return nil, err
	}
	cpu, least := atMost(2000)
	mem, _ := atMost(100)
	share, _ := atMost(10)
	rows := []row{
		{Bar: "search", What: "build of the search index, processor time", Corpus: c.name, Unit: "ms", Demand: cpu, Least: least,
			Value: middle(milliseconds(build.cpu)), Detail: fmt.Sprint(build)},
		{Bar: "search", What: "build of the search index, memory", Corpus: c.name, Unit: "MB", Demand: mem, Least: least, Value: float64(build.rss) / 1e6},
		{Bar: "search", What: "search index / sessions", Corpus: c.name, Unit: "%", Demand: share, Least: least,
			Value: 100 * float64(size) / float64(c.bytes), Detail: fmt.Sprintf("%.1f of %.1f MB", float64(size)/1e6, float64(c.bytes)/1e6)},
	}
	more, err := b.queryTimes(c.name)
	if err != nil {
		return rows, err
	}
	rows = append(rows, more...)
	more, err = b.findNew(c)
	return append(rows, more...), err
}

func (b *bench) searchFor(words string) []string {
	return []string{b.mem, "search", "--all-projects", "-n", "10", words}
}

// queryTimes measures queries as whole processes.
func (b *bench) queryTimes(name string) ([]row, error) {
	query, hello := &probe{name: "query"}, &probe{name: "hello", argv: []string{b.hello}}
	version := &probe{name: "mem version", argv: []string{b.mem, "version"}}
	for range max(2, b.runs) {
		for _, q := range queries {
			query.argv = b.searchFor(q)
			if err := b.round(hello, version, query); err != nil {
				return nil, err
			}
		}
	}
	d50, least := atMost(5)
	d95, _ := atMost(15)
	memory, _ := atMost(30)
	detail := fmt.Sprintf("%v, %v, hello p50 %.1f p95 %.1f ms, %d runs", query, version, hello.median(), hello.p95(), len(query.wall))
	return []row{
		{Bar: "search", What: "query, p50", Corpus: name, Unit: "ms", Demand: d50, Least: least, Value: query.median(), Detail: detail},
		{Bar: "search", What: "query, p95", Corpus: name, Unit: "ms", Demand: d95, Least: least, Value: query.p95()},
		{Bar: "search", What: "query, memory", Corpus: name, Unit: "MB", Demand: memory, Least: least, Value: float64(query.rss) / 1e6},
	}, nil
}

// findNew measures the first query after a session of 1 MB was added.
func (b *bench) findNew(c corpus) ([]row, error) {
	more, err := b.generated(int64(b.runs)*1_000_000, b.runs)
	if err != nil {
		return nil, err
	}
	n := 0
	first := &probe{name: "query", argv: b.searchFor(queries[0]), prep: func() error {
		file := filepath.Join(b.tmp, "new", fmt.Sprintf("77777777-0000-4000-8000-%012d.jsonl", time.Now().UnixNano()%1e12))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := copyFile(file, more.files[n%len(more.files)], -1); err != nil {
			return err
		}
		n++
		return b.once(b.mem, "add", file)
	}}
	if err := b.interleave(first); err != nil {
		return nil, err
	}
	d, least := atMost(50)
	return []row{{Bar: "search", What: "first query after a session of 1 MB was added", Corpus: c.name, Unit: "ms", Demand: d, Least: least,
		Value: first.median(), Detail: fmt.Sprint(first)}}, nil
}

// bytesBelow returns the size of all files in a directory.
func bytesBelow(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

// typed makes the prompt of p the last text that a session has of its user.
func typed(p *probe, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	said := ""
	for line := range bytes.Lines(text) {
		var r struct {
			Type    string
			Message struct{ Content any }
		}
		if json.Unmarshal(line, &r) != nil || r.Type != "user" {
			continue
		}
		if s, ok := r.Message.Content.(string); ok && len(s) > 20 {
			said = s
		}
	}
	if said == "" {
		return fmt.Errorf("%s has no text of a user", file)
	}
	said = said[:min(len(said), 300)]
	quoted, err := json.Marshal(strings.ToValidUTF8(said, ""))
	if err != nil {
		return err
	}
	payload, err := os.ReadFile(p.in)
	if err != nil {
		return err
	}
	return os.WriteFile(p.in, bytes.ReplaceAll(payload, []byte(`"`+promptText+`"`), quoted), 0o600)
}

// barPrompt measures UserPromptSubmit at 200 MB of sessions, with a prompt about one of its project.
func (b *bench) barPrompt() ([]row, error) {
	c, err := b.generated(200e6, 250)
	if err != nil {
		return nil, err
	}
	dir, err := b.hookProjects()
	if err != nil {
		return nil, err
	}
	if err := b.initStore(); err != nil {
		return nil, err
	}
	if err := b.addAll(c.files); err != nil {
		return nil, err
	}
	session := filepath.Join(dir, "00000000-0000-4000-8000-000000000001.jsonl")
	start, err := b.hookProbe("SessionStart", "SessionStart", session, nil)
	if err != nil {
		return nil, err
	}
	for range 2 { // what the first start has no time to read is read behind it
		if err := b.run(start); err != nil {
			return nil, err
		}
		if err := b.once(b.mem, "hook", "work"); err != nil {
			return nil, err
		}
	}
	prompt, err := b.hookProbe("UserPromptSubmit", "UserPromptSubmit", session, nil)
	if err != nil {
		return nil, err
	}
	own := slices.DeleteFunc(slices.Clone(c.files), func(f string) bool { return filepath.Base(filepath.Dir(f)) != filepath.Base(dir) })
	if len(own) == 0 {
		return nil, fmt.Errorf("no session of %s", filepath.Base(dir))
	}
	if err := typed(prompt, own[len(own)/2]); err != nil {
		return nil, err
	}
	prompt.newSession().keep = true
	hello := &probe{name: "hello", argv: []string{b.hello}}
	for range 8 {
		if err := b.interleave(hello, prompt); err != nil {
			return nil, err
		}
	}
	if !bytes.Contains(prompt.stdout, []byte("<mem-context")) {
		return nil, fmt.Errorf("no answer to the prompt: %q", prompt.stdout)
	}
	what := "UserPromptSubmit with 200 MB of sessions in memory"
	d, least := atMost(10)
	p50 := row{Bar: "prompt", What: what + ", p50", Corpus: c.name, Unit: "ms", Demand: d, Least: least, Value: prompt.median()}
	return []row{p50, absolute("prompt", what, c.name, prompt, hello, 25)}, nil
}
