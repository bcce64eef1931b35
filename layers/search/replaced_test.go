package search

import (
	"path/filepath"
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
