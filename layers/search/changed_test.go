package search

import (
	"testing"

	"github.com/memvcs/mem/layers/search/index"
)

// TestChanged checks which later edits change what a hit shows.
func TestChanged(t *testing.T) {
	t.Parallel()
	edit := func(time int64, exchange int, file, diff, printed string) index.Doc {
		text := "Edit " + file + ":7\n" + diff
		return index.Doc{Class: index.Tool, Flags: index.Edit, Name: "Edit", File: file, Text: text + printed, Said: len(text),
			Time: time, Exchange: exchange}
	}
	const first = "+\tfox := den.Occupant(3)"
	for _, x := range []struct {
		name  string
		later index.Doc
		want  bool
	}{
		{"removes the line", edit(20, 1, "fox.go", "-\tfox := den.Occupant(3)\n+\twolf := forest.Wolves(night, moon, howl)", ""), true},
		{"of another place", edit(20, 1, "fox.go", "-\tbear := cave.Occupant(3)\n+\twolf := forest.Wolves(night, moon, howl)", ""), false},
		{"of another file", edit(20, 1, "den/fox.go", "-\tfox := den.Occupant(3)", ""), false},
		{"failed", edit(20, 1, "fox.go", "-\tfox := den.Occupant(3)", "\n=> not found"), false},
		{"older", edit(5, 1, "fox.go", "-\tfox := den.Occupant(3)", ""), false},
		{"adds the line elsewhere", edit(20, 1, "fox.go", first, ""), false},
	} {
		c := corpus(t, map[string][]index.Doc{"a": {edit(10, 1, "fox.go", first, "")}, "b": {x.later}})
		found, err := Search(c, Query{Words: "den fox"})
		if err != nil {
			t.Fatal(err)
		}
		got := false
		for _, h := range found.Hits {
			if h.Session.ID == "a" && h.Changed != nil {
				if got = true; *h.Changed != (Change{"b", 1}) {
					t.Errorf("%s: changed in %v", x.name, *h.Changed)
				}
			}
			if h.Session.ID == "b" && x.want && h.Changed != nil {
				t.Errorf("%s: the newer one is changed in %v", x.name, *h.Changed)
			}
		}
		if got != x.want {
			t.Errorf("%s: changed is %v, want %v", x.name, got, x.want)
		}
	}
}
