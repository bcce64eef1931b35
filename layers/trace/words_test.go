package trace

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// rebuild returns both texts of a list of edits.
func rebuild(edits []Edit) (a, b string) {
	var x, y strings.Builder
	for _, e := range edits {
		if e.Op != Add {
			x.WriteString(e.Text)
		}
		if e.Op != Del {
			y.WriteString(e.Text)
		}
	}
	return x.String(), y.String()
}

// shown writes edits as the command does.
func shown(edits []Edit) string {
	var b strings.Builder
	for _, e := range edits {
		switch e.Op {
		case Same:
			b.WriteString(e.Text)
		case Del:
			b.WriteString("[-" + e.Text + "-]")
		case Add:
			b.WriteString("{+" + e.Text + "+}")
		}
	}
	return b.String()
}

func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"one", "one", "one"},
		{"", "one two", "{+one two+}"},
		{"one two three", "one three", "one [-two -]three"},
		{"We use SQLite here.", "We use PostgreSQL here.", "We use [-SQLite-]{+PostgreSQL+} here."},
		{"will use the cache", "will drop the cache", "will [-use-]{+drop+} the cache"},
		{"데이터베이스를 만든다", "데이터베이스를 지운다", "데이터베이스를 [-만든다-]{+지운다+}"},
		{"表を作る", "表を消す", "表を[-作る-]{+消す+}"},
	} {
		if got := shown(Words(c.a, c.b)); got != c.want {
			t.Errorf("Words(%q, %q) = %s, want %s", c.a, c.b, got, c.want)
		}
	}
}

// TestWordsOfLongTexts changes, drops and adds words of long texts.
func TestWordsOfLongTexts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	for range 60 {
		var a, b []string
		for range rng.IntN(3000) {
			w := string(rune('a'+rng.IntN(26))) + string(rune('a'+rng.IntN(26))) + " "
			switch rng.IntN(12) {
			case 0:
				a = append(a, w)
			case 1:
				b = append(b, w)
			default:
				a, b = append(a, w), append(b, w)
			}
		}
		x, y := strings.Join(a, ""), strings.Join(b, "")
		edits := Words(x, y)
		if gx, gy := rebuild(edits); gx != x || gy != y {
			t.Fatalf("the edits do not give the texts back")
		}
		n := 0
		for _, e := range edits {
			if e.Op == Same {
				n += len(e.Text)
			}
		}
		if n*100 < 70*len(x) {
			t.Errorf("%d of %d bytes found in common", n, len(x))
		}
	}
}

// TestHostileLists compares lists in which every split at a unique element makes one more element unique. In quadratic
// time it would not end.
func TestHostileLists(t *testing.T) {
	t.Parallel()
	const n = 100_000
	list := func(other int) []int {
		out := []int{other, 1, other, 0, other}
		for i := range n {
			out = append(out, other, i+2, other, i+1)
		}
		return append(out, other)
	}
	a, b := list(-1), list(-2)
	x, y := 0, 0
	for _, op := range listEdits(a, b) {
		switch {
		case op == Del:
			x++
		case op == Add:
			y++
		case a[x] != b[y]:
			t.Fatalf("%d and %d are the same", a[x], b[y])
		default:
			x, y = x+1, y+1
		}
	}
	if x != len(a) || y != len(b) {
		t.Fatalf("the operations cover %d and %d elements, want %d and %d", x, y, len(a), len(b))
	}
}

func TestLongestCommon(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a, b := letterList(rng, 12), letterList(rng, 12)
		same := 0
		for _, op := range listEdits(a, b) {
			if op == Same {
				same++
			}
		}
		if want := longestCommon(a, b); same != want {
			t.Fatalf("compare(%v, %v) has %d in common, want %d", a, b, same, want)
		}
	}
}

func letterList(rng *rand.Rand, most int) []string {
	out := make([]string, rng.IntN(most+1))
	for i := range out {
		out[i] = string(rune('a' + rng.IntN(4)))
	}
	return out
}

func longestCommon(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diag := 0
		for j, y := range b {
			up := row[j+1]
			row[j+1] = max(up, row[j])
			if x == y {
				row[j+1] = max(row[j+1], diag+1)
			}
			diag = up
		}
	}
	return row[len(b)]
}

func FuzzWords(f *testing.F) {
	f.Add("one two", "two one")
	f.Add("a\nb\nc", "b\n")
	f.Add("\xff\xfe 表", "表 \x00")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 20_000 {
			return
		}
		edits := Words(a, b)
		if x, y := rebuild(edits); x != a || y != b {
			t.Fatalf("Words(%q, %q) = %v", a, b, edits)
		}
		for i := range edits {
			if edits[i].Text == "" || i > 0 && edits[i].Op == edits[i-1].Op {
				t.Fatalf("Words(%q, %q): edit %d of %v", a, b, i, edits)
			}
		}
		if a == b && slices.ContainsFunc(edits, func(e Edit) bool { return e.Op != Same }) {
			t.Fatalf("Words of equal texts: %v", edits)
		}
	})
}

// TestUnified checks hunks against what diff -u prints.
func TestUnified(t *testing.T) {
	t.Parallel()
	a := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n"
	for _, c := range []struct{ a, b, want string }{
		{a, a, ""},
		{"", "x\n", "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n"},
		{"x\n", "", "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n"},
		{a, strings.Replace(a, "5\n6\n", "five\n6\n", 1), "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{a, strings.Replace(strings.Replace(a, "1\n2\n", "2\n", 1), "14\n15\n", "14\n15\n16\n", 1),
			"--- a\n+++ b\n@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n@@ -13,3 +12,4 @@\n 13\n 14\n 15\n+16\n"},
		{a, strings.Replace(strings.Replace(a, "3\n", "", 1), "10\n", "", 1),
			"--- a\n+++ b\n@@ -1,13 +1,11 @@\n 1\n 2\n-3\n 4\n 5\n 6\n 7\n 8\n 9\n-10\n 11\n 12\n 13\n"},
	} {
		if got := unified(c.a, c.b); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// unified compares two texts.
func unified(a, b string) string {
	var out strings.Builder
	for line := range UnifiedDiff("a", "b", a, b) {
		out.WriteString(line + "\n")
	}
	return out.String()
}
