package main

import "fmt"

// barRedact measures what users wait for: with the rules of redaction, and without them beside it.
func (b *bench) barRedact() ([]row, error) {
	was := b.rules
	defer func() { b.rules = was }()
	with := func(on bool) func() error {
		return func() error {
			b.rules = on
			return b.initStore()
		}
	}
	var rows []row
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
	return rows, nil
}
