package search

import (
	"fmt"
	"strings"
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
	const first = "+\tfox := den.Occupant(3)\n+\tden: 45\n+\treturn x"
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
		{"of one value", edit(20, 1, "fox.go", "-\tden: 45\n+\tden: 20", ""), true},
		{"of a short line that is everywhere", edit(20, 1, "fox.go", "-\treturn x\n+\treturn y", ""), false},
	} {
		c := corpus(t, map[string][]index.Doc{"a": {edit(10, 1, "fox.go", first, "")}, "b": {x.later}})
		found, err := Search(c, Query{Words: "den fox"})
		if err != nil {
			t.Fatal(err)
		}
		got := false
		for _, h := range found.Hits {
			if h.Session.ID == "a" && h.Changed != nil {
				if got = true; h.Changed.Session != "b" || h.Changed.N != 1 {
					t.Errorf("%s: changed in %+v", x.name, *h.Changed)
				}
			}
			if h.Session.ID == "b" && x.want && h.Changed != nil {
				t.Errorf("%s: the newer one is changed in %+v", x.name, *h.Changed)
			}
		}
		if got != x.want {
			t.Errorf("%s: changed is %v, want %v", x.name, got, x.want)
		}
	}
}

// TestNewestEdit checks that nearly equal edits of a line are all found, the newest first, and that an answer that the
// edit of its exchange gave is one of an older state, too.
func TestNewestEdit(t *testing.T) {
	t.Parallel()
	edit := func(time int64, from, to string) []index.Doc {
		text := "Edit conf/app.yml:1\n-timeout: " + from + "\n+timeout: " + to
		return []index.Doc{
			{Text: "Set it", Flags: index.Begins, Time: time, Exchange: 1},
			{Class: index.Tool, Flags: index.Edit, Name: "Edit", File: "conf/app.yml", Text: text, Said: len(text), Time: time, Exchange: 1},
			{Class: index.Assistant, Flags: index.Outcome, Text: "The timeout lasts " + to + " seconds now.", Time: time, Exchange: 1},
		}
	}
	c := corpus(t, map[string][]index.Doc{"a": edit(30, "45", "20"), "b": edit(10, "15", "30"), "c": edit(20, "30", "45")})
	for _, x := range []struct {
		q    Query
		want string
	}{
		{Query{Words: "conf/app.yml", Limit: 10}, "a#2 c#2> b#2>"},
		{Query{Words: "app.yml"}, "a#2 c#2> b#2>"},
		{Query{Words: "why does the timeout last that long", Limit: 10}, "a#3 b#3> c#3>"},
	} {
		found, err := Search(c, x.q)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, h := range found.Hits {
			if h.Context {
				continue
			}
			got += fmt.Sprintf(" %s#%d", h.Session.ID, h.Doc.N)
			if h.Changed != nil {
				got += ">"
			}
		}
		if got = strings.TrimSpace(got); got != x.want {
			t.Errorf("%q, limit %d: %s, want %s", x.q.Words, x.q.Limit, got, x.want)
		}
	}
}
