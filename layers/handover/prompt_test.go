package handover

import (
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/brief"
)

func TestCut(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"short": "short", "One sentence. Another sentence that is long.": "One sentence. …", strings.Repeat("가", 30): strings.Repeat("가", 8) + " …",
		"one" + strings.Repeat(" ", 300) + "two": "one …", "": "", strings.Repeat(" ", 300): "",
	} {
		if got := Cut(in, 28); got != want || len(got) > 28 {
			t.Errorf("Cut(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestIdle gives prompts that ask for nothing.
func TestIdle(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"yes", "continue", "ok, commit this", "thanks, looks good", "go on", "please push", "run the tests again", ""} {
		if q := ParsePrompt(p); !q.Empty() {
			t.Errorf("%q asks for %v", p, q)
		}
	}
	d := []Digest{{Session: "s", Files: []File{{Path: "lib/price.go", Edits: 2, N: 3, Symbols: []string{"roundPrice"}}, {Path: "lib/tax.go", Reads: 1, N: 4}},
		Turns: []Turn{{Asked: Said{1, "Mend rounding in the price parser"}, Answered: Said{5, "Rounding is settled."}}}}}
	id := func(s string) string { return s }
	prompt := func(text string, delivered map[string]bool) []brief.Section {
		q := ParsePrompt(text)
		f := digestFile{List: []storedDigest{{Digest: d[0]}}}
		f.Words = post(f.List)
		return Prompt(q, d, f.turnsWith(q.words), nil, delivered, id)
	}
	got := prompt("why does roundPrice in lib/price.go round the price twice?", nil)
	if len(got) == 0 || !strings.Contains(got[1].Items[0].Text, "lib/price.go") {
		t.Fatalf("a spelled file is not found: %+v", got)
	}
	if again := prompt("why does roundPrice in lib/price.go round the price twice?", map[string]bool{"lib/price.go": true, "s#1": true}); len(again) > 0 {
		t.Errorf("it is told twice: %+v", again)
	}
	if other := prompt("Deploy kubernetes ingress certificates for staging", nil); len(other) > 0 {
		t.Errorf("a prompt about something else is answered: %+v", other)
	}
}

// TestChance asks for files whose names the prompt does not spell: those of the session with a similar request
// rank first, and a file that is only recent is not named.
func TestChance(t *testing.T) {
	t.Parallel()
	turn := func(text string) []Turn { return []Turn{{Asked: Said{1, text}}} }
	list := []Digest{
		{Session: "c", Turns: turn("Mend the layout of the settings page"), Files: []File{{Path: "web/page.css", Edits: 1, N: 2}}},
		{Session: "b", Turns: turn("Retry invoices that the payment gateway refused"),
			Files: []File{{Path: "billing/retry_queue.go", Edits: 3, N: 2}, {Path: "billing/ledger.go", Reads: 1, N: 3}}},
	}
	for i := range 8 {
		list = append(list, Digest{Session: string(rune('d' + i)), Turns: turn("Translate the handbook"),
			Files: []File{{Path: "handbook/chapter.md", Edits: 1, N: 2}}})
	}
	f := digestFile{}
	for _, d := range list {
		f.List = append(f.List, storedDigest{Digest: d})
	}
	f.Words = post(f.List)
	q := ParsePrompt("Invoices that the payment gateway refused stay in the queue, why is there no retry?")
	sections := Prompt(q, list, f.turnsWith(q.words), nil, nil, func(s string) string { return s })
	if len(sections) == 0 {
		t.Fatal("the prompt is not answered")
	}
	var got []string
	for _, it := range sections[1].Items {
		got = append(got, it.Keys...)
	}
	if want := []string{"billing/retry_queue.go", "billing/ledger.go"}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

// TestAnswered asks for what an earlier exchange answered: the answer is told, but not if the user contradicted it.
func TestAnswered(t *testing.T) {
	t.Parallel()
	const text = "Mend rounding of discounts in the invoice parser"
	for denied, want := range map[int]bool{0: true, 6: false} {
		d := []Digest{{Session: "s", Turns: []Turn{{Asked: Said{1, text}, Answered: Said{5, "Rounding is settled."}, Denied: denied}}}}
		for i := range 20 {
			d = append(d, Digest{Session: string(rune('a' + i)), Turns: []Turn{{Asked: Said{1, "Change the layout of the page"}}}})
		}
		f := digestFile{}
		for _, one := range d {
			f.List = append(f.List, storedDigest{Digest: one})
		}
		f.Words = post(f.List)
		q := ParsePrompt(text)
		asked, answered := false, false
		for _, s := range Prompt(q, d, f.turnsWith(q.words), nil, nil, same) {
			for _, it := range s.Items {
				asked = asked || strings.HasPrefix(it.Text, "Asked: ")
				answered = answered || strings.HasPrefix(it.Text, "Answered: ")
			}
		}
		if !asked || answered != want {
			t.Errorf("contradicted in %d: asked %v, answered %v, want %v", denied, asked, answered, want)
		}
	}
}
