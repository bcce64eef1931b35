package sessions

import (
	"slices"
	"testing"

	"github.com/memvcs/mem/layers/transcript"
)

// TestRuns: 'c' is a copied record, 'o' the session's own, '.' one that cannot be told.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		records string
		want    transcript.Spans
		prefix  int
	}{
		{"", nil, 0},
		{"oo", nil, 0},
		{"cco", transcript.Spans{{1, 2}}, 2},
		{".c.co.", transcript.Spans{{1, 4}}, 4},
		{"cc.", transcript.Spans{{1, 3}}, 3},
		{"cc.o", transcript.Spans{{1, 2}}, 2},
		{"oc.co", transcript.Spans{{2, 4}}, 0},
		{"coc.", transcript.Spans{{1, 1}, {3, 4}}, 1},
		{"..", nil, 0},
	} {
		var r runs
		for i, k := range c.records {
			r.add(i+1, k != '.', k == 'c')
		}
		got := r.end(len(c.records))
		if !slices.Equal(got, c.want) || CopiedPrefix(got) != c.prefix {
			t.Errorf("the runs of %q are %v with prefix %d, want %v with %d", c.records, got, CopiedPrefix(got), c.want, c.prefix)
		}
	}
}
