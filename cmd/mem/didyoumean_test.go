package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/term"
)

func TestSuggest(t *testing.T) {
	t.Parallel()
	names := strings.Fields("init demo add import rm status ls log show versions keepit compress compose checkout fsck cat-file hash-object ls-objects rev-parse config project count completion help version forget remote stats hook next reflect")
	for word, want := range map[string]string{
		"lgo": "log", "satus": "status", "stauts": "status", "xyzzyplugh": "", "comprss": "compress", "chekout": "checkout",
		"comp": "completion compose compress", "ver": "version versions", "hepl": "help", "versoin": "version",
		"catfile": "cat-file", "confg": "config", "6": "", "x": "", "nope": "", "adds": "add", "logs": "log",
		"foo": "", "bar": "", "sttaus": "status", "fooo": "", "reset": "", "test": "", "shoe": "show", "shwo": "show", "imprt": "import", "expot": "", "forgte": "forget",
	} {
		if got := strings.Join(term.Suggest(word, names), " "); got != want {
			t.Errorf("suggest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := term.Suggest("", names); len(got) > len(names) {
		t.Errorf("suggest of nothing = %q", got)
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "a", 0}, {"ab", "ba", term.SwapCost}, {"a", "b", term.SubstituteCost}, {"", "abc", 3 * term.InsertCost},
		{"abc", "", 3 * term.DeleteCost}, {"lgo", "log", 0}, {"blmae", "blame", 0}, {"kätze", "katze", term.SubstituteCost},
	} {
		if got := term.Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func FuzzDistance(f *testing.F) {
	f.Add("log", "lgo")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 200 || len(b) > 200 {
			return
		}
		if d := term.Distance(a, b); d < 0 || a == b && d != 0 {
			t.Errorf("distance(%q, %q) = %d", a, b, d)
		}
		term.Suggest(a, slices.Compact([]string{a, b}))
	})
}
