package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	manyRecords = 100_000
	fewAdds     = 50
)

// barOverhead measures what an add writes beside the session's own bytes, in a lane that already
// has many records.
func (b *bench) barOverhead() ([]row, error) {
	c, err := b.generated(2e6, 1)
	if err != nil {
		return nil, err
	}
	work := filepath.Join(b.tmp, "work")
	if err := b.fresh(work); err != nil {
		return nil, err
	}
	if err := b.initStore(); err != nil {
		return nil, err
	}
	steps := fewAdds + 1
	grown, err := c.grow(work, 1, steps)
	if err != nil {
		return nil, err
	}
	if err := b.addAll(grown); err != nil {
		return nil, err
	}
	if err := b.worker("records", strconv.Itoa(manyRecords)); err != nil {
		return nil, err
	}
	before, err := b.besides()
	if err != nil {
		return nil, err
	}
	for part := 2; part <= steps; part++ {
		if grown, err = c.grow(work, part, steps); err != nil {
			return nil, err
		}
		if err := b.addAll(grown); err != nil {
			return nil, err
		}
	}
	after, err := b.besides()
	if err != nil {
		return nil, err
	}
	d, least := atMost(8)
	return []row{{
		Bar: "overhead", What: "git bytes per add, packs merged, at 10^5 records", Unit: "KB", Demand: d, Least: least,
		Value:  float64(after-before) / fewAdds / 1000,
		Detail: fmt.Sprintf("packs and indexes without segments grew from %s to %s in %d adds", megabytes(before), megabytes(after), fewAdds),
	}}, nil
}

// besides merges all packs and returns how big they are without the segments in them.
func (b *bench) besides() (int64, error) {
	if _, err := b.mergePacks(); err != nil {
		return 0, err
	}
	var total int64
	for _, repo := range b.repositories() {
		n, err := size(filepath.Join(repo, "objects", "pack"), "")
		if err != nil {
			return 0, err
		}
		total += n
	}
	segments, err := b.segmentBytes()
	return total - segments, err
}

// segmentBytes adds up what the segments of all streams take in the packs.
func (b *bench) segmentBytes() (n int64, err error) {
	list := `for ref in $(git for-each-ref --format='%(refname)'); do git ls-tree -r "$ref" streams/; done |
		awk '{print $3}' | sort -u | git cat-file --batch-check='%(objectsize:disk)'`
	p := &probe{name: "git", dir: b.repositories()[0], argv: []string{"sh", "-c", list}, keep: true}
	if err := b.run(p); err != nil {
		return 0, err
	}
	for _, line := range strings.Fields(string(p.stdout)) {
		one, err := strconv.ParseInt(line, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("size of a segment: %w", err)
		}
		n += one
	}
	return n, nil
}

// barLists makes a memory of a thousand sessions that have grown ten times each.
func (b *bench) barLists() ([]row, error) {
	c, err := b.generated(80e6, 1000)
	if err != nil {
		return nil, err
	}
	projects := filepath.Join(b.tmp, "home", "claude", "projects")
	if err := b.fresh(projects); err != nil {
		return nil, err
	}
	defer os.RemoveAll(projects) // the next bar does without if this fails
	if err := b.initStore(); err != nil {
		return nil, err
	}
	if err := b.worker("operations", c.dir, projects, "10000"); err != nil {
		return nil, err
	}
	p := &probe{name: "git", dir: b.repositories()[0], argv: []string{"git", "rev-list", "--all", "--count"}, keep: true}
	if err := b.run(p); err != nil {
		return nil, err
	}
	commits := strings.TrimSpace(string(p.stdout))
	hello := &probe{name: "hello", argv: []string{b.hello}}
	probes := []*probe{hello}
	for _, name := range []string{"log", "ls", "status"} {
		argv := []string{b.mem, name, "--all-projects"}
		probes = append(probes, &probe{name: "mem " + name, argv: argv})
	}
	if err := b.repeat(2, probes...); err != nil {
		return nil, err
	}
	var rows []row
	for _, p := range probes[1:] {
		d, least := atMost(50)
		rows = append(rows, row{
			Bar: "lists", What: "`" + p.name + "` at 1,000 sessions and 10,000 operations", Unit: "ms", Demand: d, Least: least,
			Value: p.median(), Detail: fmt.Sprintf("%s commits, first run %.0f ms, peak %s, hello %.1f ms", commits, float64(p.wall[0].Milliseconds()), megabytes(p.rss), hello.median()),
		})
	}
	return rows, nil
}
