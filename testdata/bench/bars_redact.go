package main

import (
	"fmt"
	"path/filepath"
)

// barRedact measures what the rules find, and what users wait for: with the rules of redaction, and without them beside it.
func (b *bench) barRedact() ([]row, error) {
	rows, err := b.barRecall()
	if err != nil {
		return rows, err
	}
	was := b.rules
	defer func() { b.rules = was }()
	with := func(on bool) func() error {
		return func() error {
			b.rules = on
			return b.initStore()
		}
	}
	for _, job := range []struct {
		what  string
		bytes int64
		count int
		most  float64 // seconds
	}{{"cold `mem add` of 20 MB with rules", 20e6, 1, 0.8}, {"`mem import --no-l1` of 500 MB with rules", 500e6, 120, 12}} {
		c, err := b.generated(job.bytes, job.count)
		if err != nil {
			return rows, err
		}
		argv := []string{b.mem, "import", "--no-l1", c.dir}
		if job.count == 1 {
			argv = []string{b.mem, "add", c.files[0]}
		}
		on := &probe{name: "with rules", prep: with(true), argv: argv}
		off := &probe{name: "without", prep: with(false), argv: argv}
		if err := b.interleave(on, off); err != nil {
			return rows, err
		}
		most, least := atMost(job.most * 1000)
		rows = append(rows, row{Bar: "redact", What: job.what, Corpus: c.name, Value: on.median(), Unit: "ms", Demand: most, Least: least,
			Detail: fmt.Sprintf("%.0f ms without rules, peak %s", off.median(), megabytes(on.rss))})
	}
	found, err := b.redactRules()
	return append(rows, found...), err
}

// redactRules runs the tests and the benchmark of the rules alone: what they find, what they find wrongly, how fast.
func (b *bench) redactRules() ([]row, error) {
	test, err := b.testBinary("layers/redact")
	if err != nil {
		return nil, err
	}
	run := func(re, dir string, args ...string) (float64, error) {
		p := &probe{name: "redact", keep: true, dir: filepath.Join(b.root, "layers", "redact"), env: []string{"MEM_TRANSCRIPTS=" + dir}, argv: append([]string{test, "-test.v"}, args...)}
		if err := b.run(p); err != nil {
			return 0, err
		}
		return field(p.stdout, re)
	}
	recall, err := run(`recall ([0-9.]+) %`, "", "-test.run", "^TestPlanted$")
	if err != nil {
		return nil, err
	}
	d, least := atLeast(99)
	rows := []row{{Bar: "redact", What: "recall on 1,000 secrets of 33 classes, in 5 codings each", Unit: "%", Value: recall, Demand: d, Least: least}}
	var speeds []float64
	for range b.runs {
		mb, err := run(`BenchmarkRedact/clean.* ([0-9.]+) MB/s`, "", "-test.run", "^$", "-test.bench", "^BenchmarkRedact$/^clean$", "-test.benchtime", "10x", "-test.cpu", "1")
		if err != nil {
			return rows, err
		}
		speeds = append(speeds, mb)
	}
	d, least = atLeast(30)
	rows = append(rows, row{Bar: "redact", What: "rules on one core, text full of their keywords", Unit: "MB/s", Value: middle(speeds), Demand: d, Least: least})
	c, ok, err := b.real()
	if err != nil || !ok {
		return append(rows, row{Bar: "redact", What: "false findings a MB of real sessions", Skip: "no -transcripts"}), err
	}
	wrong, err := run(`: ([0-9.]+) a MB`, c.dir, "-test.run", "^TestRealFindings$")
	d, least = atMost(0.5)
	return append(rows, row{Bar: "redact", What: "false findings a MB", Corpus: c.name, Unit: "/MB", Value: wrong, Demand: d, Least: least}), err
}
