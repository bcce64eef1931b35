package forget

import (
	"cmp"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/objects"
)

// TestNames looks for many names in one pass.
func TestNames(t *testing.T) {
	hash := objects.Sum([]byte("one")).String()
	v := &Prover{names: map[string]bool{hash: true}, Needles: [][]byte{[]byte("zaphod")}}
	calls := map[string]bool{"toolu_1": true, "x": true}
	for text, want := range map[string]struct{ proof, call bool }{
		"":                                 {},
		`"`:                                {},
		hash:                               {proof: true},
		"b3:" + hash + ".json":             {proof: true},
		"0123" + hash + "ab":               {proof: true},
		hash[:63]:                          {},
		hash[:32] + "-" + hash[32:]:        {},
		strings.ToUpper(hash):              {},
		"of zaphod":                        {proof: true},
		`{"id":"toolu_1"}`:                 {call: true},
		`{"id":"toolu_12","to":"atoolu_1"`: {},
		`"said \"x\" and "y`:               {},
		`"said \"" x"x"`:                   {call: true},
	} {
		if found, err := v.finds(strings.NewReader(text), nil); err != nil || found != want.proof {
			t.Errorf("finds(%q) = %v, %v, want %v", text, found, err, want.proof)
		}
		if got := namesOne([]byte(text), calls); got != want.call {
			t.Errorf("namesOne(%q) = %v, want %v", text, got, want.call)
		}
	}
}

// TestCompareItems: the order of items does not depend on the order in which they were found.
func TestCompareItems(t *testing.T) {
	want := []DeletedItem{
		{Kind: "session", Name: "s1"},
		{Kind: "composition", Name: "c"},
		{Kind: "composition", Name: "d", Composition: &records.Composition{}},
		{Kind: "composition", Name: "d"},
		{Kind: "part of a record", Name: "use"},
		{Kind: "record", Name: "use"},
		{Kind: "session", Name: "s1", Device: "d2"},
	}
	for i, a := range want {
		for j, b := range want {
			if got := compareItems(a, b); got != cmp.Compare(i, j) {
				t.Errorf("compareItems(%+v, %+v) = %d", a, b, got)
			}
		}
	}
}

func TestIsID(t *testing.T) {
	hash, session := objects.Sum([]byte("one")).String(), "6ecd8c99-4036-403d-bf84-cf8400f67836"
	for _, s := range []string{hash, hash[:32], session, "session/" + session, "version/" + hash, "exchange/" + hash} {
		if !isID(s) {
			t.Errorf("isID(%q) = false", s)
		}
	}
	for _, s := range []string{"", "555-0199", "4111-1111-1111-1111", "session/555-0199", "composition/" + session,
		"/home/zaphod/" + session, strings.ToUpper(session), "deadbeef", session + "0"} {
		if isID(s) {
			t.Errorf("isID(%q) = true", s)
		}
	}
}

func TestAround(t *testing.T) {
	a, b := strings.Repeat("ä", 200), strings.Repeat("b", 200)
	for _, c := range []struct {
		text string
		at   int
		want string
	}{
		{"", 0, ""},
		{"short", 2, "short"},
		{b[:80], 50, b[:80]},
		{a[:200], 0, a[:200]}, // 100 runes
		{a, 0, a[:200] + "…"},
		{a + b, len(a), "…" + a[:66] + b[:67] + "…"},
		{a + "bb", len(a), "…" + a[:66] + "bb"},
		{"aa" + b, 2, "aa" + b[:98] + "…"},
		{b + "\xff", 200, "…" + b[:33] + "\ufffd"},
	} {
		if got := around(c.text, c.at); got != c.want {
			t.Errorf("around(%q, %d) = %q, want %q", c.text, c.at, got, c.want)
		}
	}
}
