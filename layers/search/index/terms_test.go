package index

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func cutAll(text string) (all, parts []string) {
	var c Cutter
	c.Each(text, func(t Term) {
		all = append(all, string(t.Text))
		if !t.Whole {
			parts = append(parts, string(t.Text))
		}
	})
	return all, parts
}

func TestEach(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"the retries were failing":               "retri fail",
		"two lines of Ten":                       "2 line 10",
		"getUserName":                            "get user name getusername",
		"HTTPServer":                             "http server httpserver",
		"max_open_conns":                         "max open conn max_open_conns",
		"see layers/search/index.go.":            "see layer search index go layers/search/index.go index.go",
		"E0308: mismatched types":                "e0308 mismatch type",
		"v1.22.3":                                "v1 22 3 v1.22.3",
		"検索エンジン":                                 "検索 索エ エン ンジ ジン",
		"검색 x 語":                                 "검색 x 語",
		"naïve Élan":                             "naïve élan",
		"what is it?":                            "",
		"":                                       "",
		"---":                                    "",
		"_":                                      "",
		"user_":                                  "user",
		strings.Repeat("a", 300):                 "",
		"sha " + strings.Repeat("0123456789", 7): "sha",
	} {
		all, _ := cutAll(text)
		if got := strings.Join(all, " "); got != want {
			t.Errorf("terms of %q: %q, want %q", text, got, want)
		}
	}
}

// TestWholeCountsNot checks that the length of a text is that of its words.
func TestWholeCountsNot(t *testing.T) {
	t.Parallel()
	_, parts := cutAll("cmd/mem/search.go parseQuery")
	if want := []string{"cmd", "mem", "search", "go", "pars", "queri"}; !slices.Equal(parts, want) {
		t.Errorf("parts are %q, want %q", parts, want)
	}
}

func FuzzEach(f *testing.F) {
	for _, s := range []string{"a_b/c.d:e-f", "検索a索", "\xff\xfe", "A\u0301b", "x\x00y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		all, _ := cutAll(s)
		again, _ := cutAll(s)
		if !slices.Equal(all, again) {
			t.Fatal("the same text has other terms")
		}
		for _, w := range all {
			if w == "" || len(w) > 2*maxTerm+utf8.UTFMax {
				t.Fatalf("term of %d bytes", len(w))
			}
		}
	})
}

// TestBegin checks that a restricted Cutter finds every term of a query that an unrestricted one finds.
func TestBegin(t *testing.T) {
	t.Parallel()
	text := "Dying skies: the Checkpoint IDs of getUserName were lying in layers/search.go, 日本語 and Äpfel; re-used checkpoints are checked."
	terms := func(c *Cutter) (out []string) {
		c.Each(text, func(x Term) { out = append(out, string(x.Text)) })
		return out
	}
	all := terms(&Cutter{})
	for _, want := range all {
		var c Cutter
		c.Begin(want)
		count := func(list []string) (n int) {
			for _, s := range list {
				if s == want {
					n++
				}
			}
			return n
		}
		if got := terms(&c); count(got) != count(all) {
			t.Errorf("%q: %d of %d places", want, count(got), count(all))
		}
	}
}
