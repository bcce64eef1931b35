package web

import (
	"strings"
	"testing"
	"time"
)

// TestHard renders texts that would take minutes.
func TestHard(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for _, part := range []string{"> ", ">", "- ", "1. ", "[", "[a](", "![a](b", "**a_ ", "*a ", "[a](\n", "**a_ \n"} {
		if got := NewMarkdown().HTML(strings.Repeat(part, maxMarkdown/len(part))); !strings.HasPrefix(string(got), "<pre>") {
			t.Errorf("%q many times is rendered", part)
		}
	}
	if d := time.Since(start); d > time.Minute {
		t.Errorf("it took %v", d)
	}
	for _, text := range []string{
		strings.Repeat("Use `a[i]` and **b**, see [c](d.md).\n\n", 2000), // many paragraphs
		strings.Repeat("-", 1000), strings.Repeat("1 ", 500), "> a\n>> b\n> > > c", strings.Repeat("- a\n", 2000),
	} {
		if got := NewMarkdown().HTML(text); strings.HasPrefix(string(got), "<pre>") {
			t.Errorf("%.40q is not rendered", text)
		}
	}
}

// TestTable renders a table. HTML of its cells is text.
func TestTable(t *testing.T) {
	t.Parallel()
	got := string(NewMarkdown().HTML("| A | B |\n|---|:-:|\n| **1** `<i>` | <b>x</b> |\n"))
	if want := "<table><tr><th>A</th><th>B</th></tr><tr><td>1 <code>&lt;i&gt;</code></td><td>&lt;b&gt;x&lt;/b&gt;</td></tr></table>"; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
