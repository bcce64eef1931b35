package derive_test

import (
	"testing"

	"github.com/memvcs/mem/layers/derive"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/lineage"
)

// TestKeptMarks: a text whose typed marker was removed counts nothing, unless another marker was added on it.
func TestKeptMarks(t *testing.T) {
	t.Parallel()
	v := &records.Version{Label: "v001"}
	v.Derivation.Recipe = lineage.Recipe{Params: []byte(`{"kept":[{"message":3,"start":5,"end":9,"weight":"0.80"}]}`)}
	segs := []version.Segment{{Keep: "k1", Text: "text"}}
	removed := state.Keepit{Removed: true, Mark: markAt(80)}
	for _, tt := range []struct {
		name string
		now  []state.Keepit
		want keepit.Weight
	}{
		{"none", nil, 80},
		{"removed", []state.Keepit{removed}, 0},
		{"removed, another added", []state.Keepit{removed, {Mark: markAt(100)}}, 100},
		{"another added, removed", []state.Keepit{{Mark: markAt(100)}, removed}, 100},
	} {
		got, err := derive.KeptMarks(v, segs, tt.now)
		if err != nil || len(got) != 1 || got[0].Weight != tt.want {
			t.Errorf("%s: %+v, %v, want the weight %d", tt.name, got, err, tt.want)
		}
	}
}

func markAt(w keepit.Weight) planning.Mark {
	m := planning.Mark{Message: 3}
	m.Weight, m.TextStart, m.TextEnd = w, 5, 9
	return m
}
