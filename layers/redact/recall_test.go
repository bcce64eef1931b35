package redact

import (
	"os"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/redact/scanner"
	"github.com/memvcs/mem/testdata/gen/plants"
)

// TestRecall measures how many passwords of each alphabet are found whole in each position, and holds the bars that docs/trust.md
// states. MEM_MISSED names a cell, alphabet/position, whose misses are printed.
func TestRecall(t *testing.T) {
	t.Parallel()
	rules, err := New(scanner.Config{})
	if err != nil {
		t.Fatal(err)
	}
	wanted, printed := os.Getenv("MEM_MISSED"), 0
	table := plants.Measure(13, 250, func(alphabet, position string, line []byte, from, to int) bool {
		var n Numbers
		_, cuts := rules.Redact(line, &n)
		ok := plants.Covers(from, to, spansOf(cuts))
		if !ok && printed < 40 && wanted != "" && strings.HasPrefix(alphabet+"/"+position, wanted) {
			printed++
			t.Logf("%s/%s: %q in %s", alphabet, position, line[from:to], line)
		}
		return ok
	})
	t.Logf("\n%v", table)
	total := table.Total()
	t.Logf("recall %.2f %% of %d", total.Percent(), total.All)
	if total.Percent() < 99.5 {
		t.Errorf("%.2f %% of the passwords are found, want 99.5", total.Percent())
	}
	if c, alphabet, position := table.Least(); c.Percent() < 98 {
		t.Errorf("%s in %s: %.1f %% are found, want 98", alphabet, position, c.Percent())
	}
}

// spansOf returns where the cuts were in the raw bytes.
func spansOf(cuts []Cut) (spans [][2]int) {
	grown := 0
	for _, c := range cuts {
		from := int(c.At) + grown
		spans = append(spans, [2]int{from, from + len(c.Bytes)})
		grown += len(c.Bytes) - c.Len
	}
	return spans
}
