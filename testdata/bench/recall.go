package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/testdata/gen/plants"
)

// barRecall measures how many passwords of each alphabet the rules find whole in each position, prints that as a table, and counts what
// they find in the source of libraries.
func (b *bench) barRecall() ([]row, error) {
	rules, err := redact.New(redact.Config{})
	if err != nil {
		return nil, err
	}
	table := plants.Measure(1, 400, func(_, _ string, line []byte, from, to int) bool {
		var n redact.Numbers
		_, cuts := rules.Redact(line, &n)
		return plants.Covers(from, to, spansOf(cuts))
	})
	if !b.json {
		fmt.Println(table)
	}
	total := table.Total()
	cell, alphabet, position := table.Least()
	all, least := atLeast(99.5)
	each, _ := atLeast(98)
	rows := []row{
		{Bar: "redact", What: "passwords found whole, all alphabets and positions", Unit: "%", Value: total.Percent(), Demand: all, Least: least, Detail: fmt.Sprintf("%d of %d", total.Found, total.All)},
		{Bar: "redact", What: "passwords found whole, the worst cell", Unit: "%", Value: cell.Percent(), Demand: each, Least: least, Detail: alphabet + " in " + position},
	}
	source, err := b.sourceFindings(rules)
	return append(rows, source), err
}

// spansOf returns where the cuts were in the raw bytes.
func spansOf(cuts []redact.Cut) (spans [][2]int) {
	grown := 0 // by how much the raw bytes are longer so far
	for _, c := range cuts {
		from := int(c.At) + grown
		spans = append(spans, [2]int{from, from + len(c.Bytes)})
		grown += len(c.Bytes) - c.Len
	}
	return spans
}

// sourceFindings counts the findings in Go's standard library and in the module cache, each file as the text of a message. Private keys are
// not counted: tests of libraries hold real ones.
func (b *bench) sourceFindings(rules redact.Rules) (row, error) {
	out, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		return row{}, fmt.Errorf("go env: %w", err)
	}
	dirs := strings.Fields(string(out))
	if len(dirs) > 0 {
		dirs[0] = filepath.Join(dirs[0], "src")
	}
	size, found := 0, 0
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil || len(raw) > 4<<20 || bytes.IndexByte(raw, 0) >= 0 || !utf8.Valid(raw) {
				return err
			}
			var n redact.Numbers
			clean, cuts := rules.Redact([]byte(plants.AsText(string(raw))), &n)
			for _, c := range cuts {
				if redact.RuleOf(clean[c.At:int(c.At)+c.Len]) != "private-key" {
					found++
				}
			}
			size += len(raw)
			return nil
		})
		if err != nil {
			return row{}, err
		}
	}
	d, least := atMost(2)
	return row{Bar: "redact", What: "findings a MB of the source of libraries", Corpus: "Go and its module cache", Unit: "/MB", Value: float64(found) * 1e6 / float64(max(1, size)), Demand: d, Least: least,
		Detail: fmt.Sprintf("%d in %.0f MB", found, float64(size)/1e6)}, nil
}
