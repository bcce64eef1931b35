package trust_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/memvcs/mem/layers/trust"
)

func TestNamesHostBesideText(t *testing.T) {
	for text, want := range map[string]bool{
		"see “evil.example”":            true,
		"evil.example—really":           true,
		"• evil.example…":               true,
		"•EVIL.example":                 true,
		"a.evil.example":                true,
		"\\nevil.example\\n":            true,
		"bücher-evil.example":           false,
		"üevil.example":                 false,
		"evil.exampleü":                 false,
		"notevil.example":               false,
		"evil.example.org":              false,
		"evil.example-x.org":            false,
		"evil.example.":                 true,
		"\xffevil.example":              true,
		"访evil.example is another host": false,
	} {
		if got := trust.NamesHost(text, "evil.example"); got != want {
			t.Errorf("namesHost(%q) = %v, want %v", text, got, want)
		}
	}
}

// FuzzNamesHost compares NamesHost with a search that examines each place.
func FuzzNamesHost(f *testing.F) {
	for _, s := range []string{"https://evil.example/x", "evil.example.", "notevil.example", "evil.example.org",
		`\nevil.example`, "EVIL.EXAMPLE", "a.evil.example:8080", "evil.example-x", "“evil.example”"} {
		f.Add(s, "evil.example")
	}
	f.Add("\xbc", "\ufffd") // which is longer in lower case
	label := func(r rune) bool {
		return unicode.In(r, unicode.Letter, unicode.Number, unicode.Mark) || r == '-' || r == '_'
	}
	f.Fuzz(func(t *testing.T, text, host string) {
		host = strings.ToLower(host)
		if host == "" {
			t.Skip()
		}
		lower, want := strings.ToLower(text), false
		for i := range len(lower) {
			if !strings.HasPrefix(lower[i:], host) {
				continue
			}
			before, after := []rune(lower[:i]), []rune(strings.TrimPrefix(lower[i+len(host):], "."))
			n := len(before)
			free := n == 0 || !label(before[n-1]) || n > 1 && before[n-2] == '\\'
			want = want || free && (len(after) == 0 || !label(after[0]))
		}
		if got := trust.NamesHost(text, host); got != want {
			t.Errorf("namesHost(%q, %q) = %t, want %t", text, host, got, want)
		}
	})
}
