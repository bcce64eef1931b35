package term

import (
	"slices"
	"strings"
	"testing"
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
		if got := strings.Join(Suggest(word, names), " "); got != want {
			t.Errorf("suggest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Suggest("", names); len(got) > len(names) {
		t.Errorf("suggest of nothing = %q", got)
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "a", 0}, {"ab", "ba", SwapCost}, {"a", "b", SubstituteCost}, {"", "abc", 3 * InsertCost},
		{"abc", "", 3 * DeleteCost}, {"lgo", "log", 0}, {"blmae", "blame", 0}, {"kätze", "katze", SubstituteCost},
	} {
		if got := Distance(tt.a, tt.b); got != tt.want {
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
		if d := Distance(a, b); d < 0 || a == b && d != 0 {
			t.Errorf("distance(%q, %q) = %d", a, b, d)
		}
		Suggest(a, slices.Compact([]string{a, b}))
	})
}
