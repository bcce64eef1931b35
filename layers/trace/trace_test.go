package trace

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
)

func piece(role, text string, src ...int) Piece {
	p := Piece{Source: "s", Segment: version.Segment{Role: role, Text: text}}
	for i := 0; i+1 < len(src); i += 2 {
		p.Src = append(p.Src, [2]int{src[i], src[i+1]})
	}
	return p
}

func mark(n int, weight keepit.Weight, kept bool, text string) Mark {
	m := Mark{Source: "s"}
	m.Mark.Message, m.Mark.Weight, m.Mark.Text, m.Kept = n, weight, text, kept
	m.Mark.TextEnd = len(text)
	return m
}

func TestDiff(t *testing.T) {
	t.Parallel()
	kept := piece("user", " Architecture is layered.", 12, 12)
	kept.Keep = "1.00"
	a := Side{
		Pieces: []Piece{
			kept,
			piece("assistant", "Repositories return domain types; sqlc generates the queries.\nMigrations run with goose.", 13, 18),
			piece("user", "sqlc, not gorm", 77, 77),
			piece("tool", "$ go test ./... -> exit 1\nstore_test.go:12: connection refused", 90, 90),
			piece("assistant", "We decided to retry three times. The policy is in retry.go.", 301, 340),
		},
		Marks: []Mark{mark(12, 100, true, " Architecture is layered."), mark(77, 50, true, "sqlc, not gorm")},
	}
	b := Side{
		Pieces: []Piece{kept, piece("assistant", "Repositories return domain types; sqlc generates everything.", 13, 15), piece("assistant", "Done.", 400, 400)},
		Marks:  []Mark{mark(12, 100, true, " Architecture is layered."), mark(77, 50, false, "sqlc, not gorm")},
	}
	d := Diff(a, b, tokens.For(""))
	var got []string
	for _, g := range d.Groups {
		line := fmt.Sprint(g.Src, g.Pieces)
		for _, c := range g.Changes() {
			if c.Words != nil {
				line += " " + c.Role + ": " + shown(c.Words)
			} else {
				line += " " + c.Role + " -" + c.A + " +" + c.B
			}
		}
		for _, k := range g.Keepits {
			line += fmt.Sprintf(" keepit %s %v %v %v", k.Text, k.Sides[0].Kept, k.Sides[1].Kept, k.Changed)
		}
		got = append(got, line)
	}
	want := []string{
		"[[13 18]] [1 1] assistant: Repositories return domain types; sqlc generates [-the queries.\nMigrations run with goose-]{+everything+}.",
		"[[77 77]] [1 0] user -sqlc, not gorm + keepit sqlc, not gorm true false true",
		"[[90 90]] [1 0] tool -$ go test ./... -> exit 1\nstore_test.go:12: connection refused +",
		"[[301 340]] [1 0] assistant -We decided to retry three times. The policy is in retry.go. +",
		"[[400 400]] [0 1] assistant - +Done.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	s := d.Summary
	if s.Segments != [2]int{5, 3} || s.Messages != [2]int{49, 5} || s.Both != 4 || s.Kept != [2]int{2, 1} || s.Marks != [2]int{2, 2} {
		t.Errorf("summary %+v", s)
	}
	lost := map[string][]string{}
	for _, x := range s.Anchors {
		lost[x.Kind] = x.Lost
	}
	for kind, want := range map[string][]string{
		"decisions": {"We decided to retry three times."}, "commands": {"go test ./..."}, "files": {"store_test.go", "retry.go"},
		"errors": {"go test ./... -> exit 1", "store_test.go:12: connection refused"},
	} {
		if !slices.Equal(lost[kind], want) {
			t.Errorf("lost %s: %q, want %q", kind, lost[kind], want)
		}
	}
}

// TestScattered checks that a list of all changed files does not tie the session together.
func TestScattered(t *testing.T) {
	t.Parallel()
	a := Side{Pieces: []Piece{piece("user", "one", 1, 1), piece("user", "three", 3, 3), piece("user", "five", 5, 5), piece("tool", "Changed: a.go, b.go", 1, 1, 3, 3, 5, 5)}}
	b := Side{Pieces: []Piece{piece("user", "one", 1, 1), piece("user", "drei", 3, 3), piece("user", "five", 5, 5), piece("tool", "Changed: a.go", 1, 1, 5, 5, 9, 9)}}
	d := Diff(a, b, tokens.For(""))
	if len(d.Groups) != 2 || !reflect.DeepEqual(d.Groups[0].Src, [][2]int{{1, 1}, {3, 3}, {5, 5}, {9, 9}}) || !reflect.DeepEqual(d.Groups[1].Src, [][2]int{{3, 3}}) {
		t.Errorf("groups %+v", d.Groups)
	}
}

// TestElsewhere checks that what is said of one message in a text and of another in the other text is not lost.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	a := Side{Pieces: []Piece{piece("tool", "$ git status\nerror: failed to push some refs", 1, 1), piece("user", "Never force-push. We use Postgres.", 2, 2),
		piece("tool", "$ git status\nerror: failed to push some refs", 3, 3), piece("user", "Never force-push.", 4, 4)}}
	b := Side{Pieces: []Piece{piece("tool", "$ git status | head -3\nerror: failed to push some refs", 3, 3), piece("user", "Never force-push.", 4, 4)}}
	for _, x := range Diff(a, b, tokens.For("")).Summary.Anchors {
		want := []string{}
		if x.Kind == "decisions" {
			want = []string{"We use Postgres."}
		}
		if !slices.Equal(x.Lost, want) || len(x.Gained) > 0 {
			t.Errorf("%s: lost %q, want %q; gained %q", x.Kind, x.Lost, want, x.Gained)
		}
	}
}

// randomSide returns a text that stands for up to n messages of two conversations.
func randomSide(rng *rand.Rand, n int) Side {
	words := strings.Fields("We decided to use PostgreSQL store.go never fails error goose the a cache parseTime 1234 データ 정리")
	var s Side
	at := 1
	for at < n {
		p := Piece{Source: "s", Segment: version.Segment{Role: []string{"user", "assistant", "tool"}[rng.IntN(3)]}}
		if at > n/2 {
			p.Source = "t"
		}
		for range 1 + rng.IntN(4) {
			to := at + rng.IntN(3)
			p.Src = append(p.Src, [2]int{at, to})
			at = to + 1 + rng.IntN(3)
		}
		for range rng.IntN(20) {
			p.Text += words[rng.IntN(len(words))] + []string{" ", " ", "\n"}[rng.IntN(3)]
		}
		if rng.IntN(8) == 0 {
			p.Role, p.Keep = "user", "0.80"
		}
		if rng.IntN(4) == 0 {
			m := mark(p.Src[0][0], keepit.Weight(rng.IntN(101)), rng.IntN(2) == 0, p.Text)
			m.Source = p.Source
			s.Marks = append(s.Marks, m)
		}
		s.Pieces = append(s.Pieces, p)
	}
	return s
}

// TestDiffProperties compares texts with themselves and with others: nothing differs from itself, groups do not
// overlap and lie in range, what one side lost the other way round is gained, and the same question has one answer.
func TestDiffProperties(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		a, b := randomSide(rng, 60), randomSide(rng, 60)
		if d := Diff(a, a, tokens.For("")); !d.Same() || d.Summary.Both != d.Summary.Messages[0] {
			t.Fatalf("a differs from itself: %+v", d)
		}
		d, back := Diff(a, b, tokens.For("")), Diff(b, a, tokens.For(""))
		if again := Diff(a, b, tokens.For("")); !reflect.DeepEqual(d, again) {
			t.Fatal("two answers to one question")
		}
		if d.Same() != back.Same() || len(d.Groups) != len(back.Groups) || d.Summary.Both != back.Summary.Both {
			t.Fatalf("%d groups one way, %d the other", len(d.Groups), len(back.Groups))
		}
		for i, x := range d.Summary.Anchors {
			y := back.Summary.Anchors[i]
			slices.Sort(x.Lost)
			slices.Sort(y.Gained)
			if !slices.Equal(x.Lost, y.Gained) || x.A != y.B {
				t.Fatalf("%s: lost %q, gained the other way %q", x.Kind, x.Lost, y.Gained)
			}
		}
		for _, g := range d.Groups {
			if len(g.Src) == 0 || g.Src[0][0] < 1 || !reflect.DeepEqual(g.Src, version.Runs(g.Src...)) {
				t.Fatalf("group of messages %v", g.Src)
			}
			for _, c := range g.Changes() {
				if x, y := rebuild(c.Words); c.A == c.B || c.Words != nil && (x != c.A || y != c.B) {
					t.Fatalf("change %+v", c)
				}
			}
		}
	}
}

func TestBlame(t *testing.T) {
	t.Parallel()
	messages := map[int]string{
		12: "Let us talk. Architecture is layered, storage never knows the domain.",
		13: "I agree. sqlc generates the queries.",
		14: "Migrations run with goose in store.go.",
		15: "214 tests pass.",
	}
	kept := piece("user", " Architecture is layered,\nstorage never knows the domain.", 12, 12)
	kept.Keep = "1.00"
	pieces := []Piece{
		kept,
		piece("assistant", "Migrations run with goose in store.go.\nThe queries are generated by sqlc, migrated with goose.\nCI is green on main since the merge.", 12, 15),
		piece("user", "...\nLet us talk.", 12, 12),
	}
	lines := VersionLines(pieces)
	var segs []version.Segment
	for _, p := range pieces {
		segs = append(segs, p.Segment)
	}
	var text []string
	for _, l := range lines {
		text = append(text, l.Text+"\n")
	}
	if got, want := strings.Join(text, ""), version.Markdown(segs); got != want {
		t.Errorf("lines %q, want %q", got, want)
	}
	var got []string
	for _, o := range Blame(lines, pieces, func(_ string, n int) string { return messages[n] }) {
		got = append(got, fmt.Sprint(o.Line, o.Frame, o.Messages, o.Supported, o.Confidence))
	}
	want := []string{
		"1 true [] false 0", "2 true [] false 0",
		"3 false [[12 12]] true 100", "4 false [[12 12]] true 100", "5 true [] false 0",
		"6 false [[14 14]] true 100", "7 false [[13 14]] true 100", "8 false [[12 15]] false 0", "9 true [] false 0",
		"10 false [[12 12]] true 100", "11 false [[12 12]] true 100",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	pieces := []Piece{piece("user", "one\ntwo", 1, 1), piece("assistant", " \n", 2, 2), piece("assistant", "two", 2, 2), piece("assistant", "not there", 3, 3), piece("user", "end", 4, 4)}
	var got []int
	for _, l := range Locate("# head\n\n[tag]\none\ntwo\n\ntwo\nmore\nend\n", pieces) {
		got = append(got, l.Piece)
	}
	if want := []int{-1, -1, -1, 0, 0, -1, 2, -1, 4}; !slices.Equal(got, want) {
		t.Errorf("pieces of the lines %v, want %v", got, want)
	}
}

// TestBlameProperties blames texts for messages that they were cut from, and for others: every line has one origin,
// in the messages that its piece names, and what was said word for word is supported by where it was said.
func TestBlameProperties(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		side := randomSide(rng, 40)
		lines := VersionLines(side.Pieces)
		said := func(source string, n int) string {
			for _, p := range side.Pieces {
				if p.Source == source && In(p.Src, n) && n%2 == 1 {
					return p.Text
				}
			}
			return ""
		}
		origins := Blame(lines, side.Pieces, said)
		if len(origins) != len(lines) {
			t.Fatalf("%d origins of %d lines", len(origins), len(lines))
		}
		if again := Blame(lines, side.Pieces, said); !reflect.DeepEqual(origins, again) {
			t.Fatal("two answers to one question")
		}
		for i, o := range origins {
			if o.Line != i+1 || o.Text != lines[i].Text || o.Confidence < 0 || o.Confidence > 100 || o.Piece != lines[i].Piece {
				t.Fatalf("origin %+v of line %+v", o, lines[i])
			}
			if o.Piece < 0 {
				continue
			}
			p := side.Pieces[o.Piece]
			odd := false
			for n := range eachMessage(version.Runs(p.Src...)) {
				odd = odd || n%2 == 1
			}
			if odd && !o.Supported {
				t.Fatalf("line %q of %v is not supported", o.Text, p)
			}
			for n := range eachMessage(o.Messages) {
				if !In(p.Src, n) {
					t.Fatalf("line %q of %v came from %d", o.Text, p.Src, n)
				}
			}
		}
	}
}

func FuzzBlame(f *testing.F) {
	f.Add("one\ntwo", "two three", 3)
	f.Add("`a.go`\n\n> 表", "", 1)
	f.Fuzz(func(t *testing.T, text, said string, n int) {
		n = 1 + n&7
		pieces := []Piece{piece("assistant", text, 1, n)}
		lines := VersionLines(pieces)
		for _, o := range Blame(lines, pieces, func(string, int) string { return said }) {
			if o.Confidence < 0 || o.Confidence > 100 || len(o.Messages) == 0 && !o.Frame || len(o.Messages) > 0 && (o.Messages[0][0] < 1 || o.Messages[0][1] > n) {
				t.Fatalf("origin %+v", o)
			}
		}
		if text != said {
			return
		}
		for _, o := range Blame(lines, pieces, func(string, int) string { return said }) {
			if o.Text == version.Legend || o.Text == "" { // the first line says how to read
				continue
			}
			if !o.Supported {
				t.Fatalf("line %q of itself is not supported", o.Text)
			}
			break
		}
	})
}

// TestShortCommands checks that a command which only lost where it ran or its pager is not
// lost, and that one which does something else is.
func TestShortCommands(t *testing.T) {
	t.Parallel()
	side := func(lines ...string) Side {
		var s Side
		for i, l := range lines {
			s.Pieces = append(s.Pieces, piece("tool", l, i+1, i+1))
		}
		return s
	}
	a := side("$ cd /home/dev/shop && go test ./cart/... 2>&1 | tail -20 -> exit 1", "$ go vet /home/dev/shop/cart/sum.go 2>&1 | head -5", "$ npm run lint | tail -3")
	b := side("$ go test ./cart/... -> exit 1", "$ go vet /home/dev/shop/cart/sum.go", "$ git push origin")
	for _, x := range Diff(a, b, tokens.For("")).Summary.Anchors {
		want := []string{}
		if x.Kind == "commands" {
			want = []string{"npm run lint | tail -3"}
		}
		if x.Kind != "files" && !slices.Equal(x.Lost, want) {
			t.Errorf("lost %s: %q, want %q", x.Kind, x.Lost, want)
		}
	}
}
