package derive

import (
	"fmt"
	"testing"

	"github.com/memvcs/mem/layers/tier"
)

// TestFactsOfSummaries reads back what is written, and refuses what is none.
func TestFactsOfSummaries(t *testing.T) {
	t.Parallel()
	in := []tier.Fact{{ID: "f:1", Session: "s", Kind: "decision", Text: "a <b>", Src: [][2]int{{1, 1}}},
		{ID: "f:2", Session: "t", Kind: "issue", Text: "c", Src: [][2]int{{2, 3}}}}
	out, err := decodeFacts(encodeFacts(in))
	if err != nil || fmt.Sprint(out["s"], out["t"]) != fmt.Sprint(in[:1], in[1:]) {
		t.Errorf("decode = %v, %v", out, err)
	}
	for _, bad := range []string{"{", "[]", `{"id":"f:1"}`, `{"src":"x"}`} {
		if _, err := decodeFacts([]byte(bad)); err == nil {
			t.Errorf("decodeFacts(%q) = nil", bad)
		}
	}
}

func FuzzFactsOfSummaries(f *testing.F) {
	f.Add([]byte(`{"id":"f:1","session":"s","kind":"decision","text":"a","src":[[1,1]]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		out, err := decodeFacts(b)
		if err != nil {
			return
		}
		for s, list := range out {
			again, err := decodeFacts(encodeFacts(list))
			if err != nil || fmt.Sprint(again[s]) != fmt.Sprint(list) {
				t.Fatalf("%v became %v: %v", list, again[s], err)
			}
		}
	})
}
