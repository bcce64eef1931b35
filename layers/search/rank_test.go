package search

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/search/index"
)

// TestReplacedTexts checks that a word of all texts is found while the index still contains texts that were replaced.
func TestReplacedTexts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	update := func(version string, b ...string) []Corpus {
		p := index.Plan{Key: version}
		for i, all := range [][]string{{"fox"}, b} {
			name := string(rune('a' + i))
			p.Sessions = append(p.Sessions, index.Session{ID: name, Last: 1000})
			p.Sources = append(p.Sources, index.Source{Name: name, Version: strings.Join(all, "|"), Session: i,
				Docs: func(add func(index.Doc)) error {
					for n, text := range all {
						add(index.Doc{N: n + 1, Class: index.Assistant, Text: text})
					}
					return nil
				}})
		}
		if err := index.Update(dir, p, func() bool { return true }); err != nil {
			t.Fatal(err)
		}
		r, err := index.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		return []Corpus{{"p", r}}
	}
	update("1", "fox one")
	got := names(t, update("2", "fox one two", "fox three"), Query{Words: "fox"})
	if want := 3; len(strings.Fields(got)) != want {
		t.Errorf("found %q, want %d messages", got, want)
	}
}

// TestByFile checks that the number of files is not limited by the number of calls, and that a call that changes
// several files is found by each.
func TestByFile(t *testing.T) {
	t.Parallel()
	var docs []index.Doc
	for range 2 * maxCounted {
		docs = append(docs, index.Doc{Text: "Edit a.go", File: "a.go", Class: index.Tool})
	}
	docs = append(docs, index.Doc{Text: "Edit several", File: "b.go\nx/c.go", Class: index.Tool})
	c := corpus(t, map[string][]index.Doc{"a": docs})
	for _, x := range []struct {
		q    Query
		want []string
	}{
		{Query{Words: "edit", By: ByFile, Limit: 5}, []string{"a.go 2000", "b.go 1", "x/c.go 1"}},
		{Query{Words: "edit", By: ByFile}, []string{"a.go 2000", "b.go 1", "x/c.go 1"}},
		{Query{By: ByFile, Filter: Filter{Files: []string{"c.go"}}}, []string{"x/c.go 1"}},
	} {
		found, err := Search(c, x.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range found.Hits {
			got = append(got, fmt.Sprintf("%s %d", h.File, h.Count))
			if h.Doc.File != h.File {
				t.Errorf("the document of %s names %q", h.File, h.Doc.File)
			}
		}
		if slices.Sort(got); !slices.Equal(got, x.want) || found.AtLeast || found.Total != len(x.want) {
			t.Errorf("%+v: %q of %d, want %q", x.q, got, found.Total, x.want)
		}
	}
}
