package handover

import (
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/search"
)

func TestCut(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"short": "short", "One sentence. Another sentence that is long.": "One sentence. …", strings.Repeat("가", 30): strings.Repeat("가", 8) + " …",
		"The parser rounds (twice, in all)":      "The parser rounds …",
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
	for _, p := range []string{"yes", "continue", "ok, commit this", "thanks, looks good", "go on", "please push", "run the tests again", "",
		"I have renamed the parser of the prices. Please push to main and merge it."} {
		if q := ParsePrompt(p); !q.Empty() {
			t.Errorf("%q asks for %v", p, q)
		}
	}
	d := []Digest{{Session: "s", Files: []File{{Path: "lib/price.go", Edits: 2, N: 3, Symbols: []string{"roundPrice"}}, {Path: "lib/tax.go", Reads: 1, N: 4}},
		Turns: []Turn{{Asked: Said{N: 1, Text: "Mend rounding in the price parser"}, Answered: Said{N: 5, Text: "Rounding is settled."}}}}}
	prompt := func(text string, delivered map[string]bool) []brief.Section {
		q := ParsePrompt(text)
		f := digestFile{List: []storedDigest{{Digest: d[0]}}}
		f.Words = post(f.List)
		return Prompt(q, d, f.turnsWith(q.words), nil, delivered)
	}
	got := prompt("why does roundPrice in lib/price.go round the price twice?", nil)
	if len(got) == 0 || !strings.Contains(got[1].Items[0].Text, "lib/price.go") {
		t.Fatalf("a spelled file is not found: %+v", got)
	}
	if again := prompt("why does roundPrice in lib/price.go round the price twice?", map[string]bool{"lib/price.go": true, "s#1": true}); len(again) > 0 {
		t.Errorf("it is told twice: %+v", again)
	}
	if q := ParsePrompt("Merge the two parsers of the prices into one, and keep the rounding of the old one."); q.Empty() {
		t.Error("a request for work asks for nothing")
	}
	if got := passageItems([]search.Passage{{Session: "s", Who: "assistant", Text: "Build, tests, and lint all pass."}, {Session: "s", Who: "assistant", Text: "The lint fails in the parser."}}); len(got) != 1 {
		t.Errorf("that checks passed once answers a prompt: %+v", got)
	}
	if other := prompt("Deploy kubernetes ingress certificates for staging", nil); len(other) > 0 {
		t.Errorf("a prompt about something else is answered: %+v", other)
	}
}

// TestNamed asks for files in words and by a symbol: a file that is only recent, or of a similar request, is not named.
func TestNamed(t *testing.T) {
	t.Parallel()
	list := []Digest{
		{Session: "c", Turns: []Turn{{Asked: Said{N: 1, Text: "Mend the layout of the settings page"}}}, Files: []File{{Path: "web/layout.css", Edits: 1, N: 2}}},
		{Session: "b", Turns: []Turn{{Asked: Said{N: 1, Text: "Retry invoices that the payment gateway refused"}}},
			Files: []File{{Path: "billing/retry_queue.go", Edits: 3, N: 2}, {Path: "web/queue-logo.svg", Reads: 1, N: 2}, {Path: "billing/ledger.go", Reads: 1, N: 3, Symbols: []string{"bookInvoice"}}, {Path: "billing/tax_table.go", Edits: 1, N: 4}}},
	}
	f := digestFile{List: []storedDigest{{Digest: list[0]}, {Digest: list[1]}}}
	f.Words = post(f.List)
	q := ParsePrompt("Invoices that the payment gateway refused stay in the queue, does bookInvoice never retry?")
	sections := Prompt(q, list, f.turnsWith(q.words), nil, nil)
	if len(sections) == 0 {
		t.Fatal("the prompt is not answered")
	}
	var got []string
	for _, it := range sections[1].Items {
		got = append(got, it.Text)
	}
	want := []string{"billing/ledger.go, 1 read: the prompt names a symbol in it", "billing/retry_queue.go, 3 edits: words of its name are in the prompt"}
	if !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}
