package search

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/search/index"
)

// corpus builds the index of sessions, each a list of documents.
func corpus(t *testing.T, sessions map[string][]index.Doc) []Corpus {
	t.Helper()
	ids := make([]string, 0, len(sessions))
	for id := range sessions {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	p := index.Plan{Key: "k"}
	for i, id := range ids {
		p.Sessions = append(p.Sessions, index.Session{ID: id, Last: int64(1000 + i), Branch: "b" + id, Topics: []string{"about " + id}})
		p.Sources = append(p.Sources, index.Source{Name: id, Version: "1", Session: i, Docs: func(add func(index.Doc)) error {
			for n, d := range sessions[id] {
				d.N, d.Class = n+1, max(d.Class, index.User)
				add(d)
			}
			return nil
		}})
	}
	dir := filepath.Join(t.TempDir(), "index")
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

func texts(all ...string) (out []index.Doc) {
	for _, s := range all {
		out = append(out, index.Doc{Text: s})
	}
	return out
}

func names(t *testing.T, c []Corpus, q Query) string {
	t.Helper()
	found, err := Search(c, q)
	if err != nil {
		t.Fatal(err)
	}
	if q.Limit == 0 && found.Total != len(found.Hits) {
		t.Errorf("%+v: %d of %d hits", q, len(found.Hits), found.Total)
	}
	var out []string
	for _, h := range found.Hits {
		out = append(out, fmt.Sprintf("%s#%d", h.Session.ID, h.Doc.N))
	}
	return strings.Join(out, " ")
}

// TestResults checks what Search reports besides the hits.
func TestResults(t *testing.T) {
	t.Parallel()
	c := corpus(t, map[string][]index.Doc{
		"a": texts("Where does the fox live?", "In a den.", "Thanks."),
		"b": texts("A fox and a fox den.", "No."),
		"c": {{Text: "Edit fox.go", File: "fox.go", Class: index.Tool}, {Text: "Edit den.go", File: "den.go", Class: index.Tool}},
	})
	fox := regexp.MustCompile("fox")
	for _, x := range []struct {
		q       Query
		total   int
		context int // of the hits
		missing string
	}{
		{Query{Words: "fox"}, 6, 3, ""},
		{Query{Words: "fox", Limit: 1}, 3, 0, ""}, // exchanges,
		{Query{Words: "the fox zebra"}, 6, 3, "zebra"},
		{Query{Words: "zebra"}, 0, 0, "zebra"},
		{Query{Patterns: []*regexp.Regexp{fox}}, 3, 0, ""},
		{Query{Patterns: []*regexp.Regexp{fox}, Limit: 1}, 3, 0, ""},
		{Query{Phrases: []string{"zebra fox"}}, 6, 3, "zebra"},
		{Query{Words: "fox", By: BySession, Limit: 1}, 3, 0, ""},
		{Query{Words: "edit", By: ByFile, Limit: 1}, 2, 0, ""},
		{Query{Filter: Filter{Branch: "ba"}, Limit: 2}, 3, 0, ""},
	} {
		got, err := Search(c, x.q)
		context, missing := 0, []string{}
		for _, u := range got.Missing {
			missing = append(missing, u.Word)
		}
		for _, h := range got.Hits {
			if h.Context {
				context++
			}
		}
		if err != nil || got.Total != x.total || got.AtLeast || context != x.context ||
			strings.Join(missing, " ") != x.missing {
			t.Errorf("%+v: %d hits, %d are context, missing %q, %v; want %d, %d, %q", x.q, got.Total, context, missing, err,
				x.total, x.context, x.missing)
		}
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	c := corpus(t, map[string][]index.Doc{
		"a": texts("Where does the fox live?", "In a den under the old oak.", "Thanks."),
		"b": texts("The hen house needs a door.", "Fixed: openDoor in hens/door.go now closes."),
		"c": {{Text: "Edit hens/door.go", File: "hens/door.go", Class: index.Tool}, {Text: "go test ./... ECONNRESET", Class: index.Tool}},
	})
	for _, x := range []struct {
		q    Query
		want string
	}{
		{Query{Words: "fox lives"}, "a#1 a#2 a#3"}, // an answer stands behind its question
		{Query{Words: "econnreset"}, "c#2"},
		{Query{Words: "opendoor"}, "b#2 b#1"},
		{Query{Phrases: []string{"hen  HOUSE"}}, "b#1"},
		{Query{Words: "door", Phrases: []string{"hen house"}}, "b#1"},
		{Query{Phrases: []string{"is it"}}, ""},
		{Query{Phrases: []string{"under the"}}, "a#2"},
		{Query{Patterns: []*regexp.Regexp{regexp.MustCompile(`den|den.*oak`)}}, "a#2"},
		{Query{Words: "door", By: BySession}, "b#2 c#1"},
		{Query{Words: "door", By: BySession, Limit: 1}, "b#2"},
		{Query{Words: "door", Filter: Filter{Files: []string{"door.go"}}}, "c#1"},
		{Query{Filter: Filter{Branch: "ba"}, Limit: 1}, "a#1"},
		{Query{Words: "fox door", Filter: Filter{Topic: "about a"}, Limit: 1}, "a#1"},
		{Query{Words: "door", By: ByFile}, "c#1"},
		{Query{Words: "zebra"}, ""},
	} {
		if got := names(t, c, x.q); got != x.want {
			t.Errorf("%+v: %q, want %q", x.q, got, x.want)
		}
	}
}

// TestNotes checks how a query is read that has no text of its time, or words that no text has.
func TestNotes(t *testing.T) {
	t.Parallel()
	c := corpus(t, map[string][]index.Doc{
		"a": {{Text: "Edit hens/door.go", File: "hens/door.go", Class: index.Tool, Time: 100}, {Text: "The scheduler opens openDoor.", Time: 100}},
	})
	now := time.Date(2026, 1, 21, 15, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"door yesterday":          `a#1; no match was written "yesterday": searched any time`,
		"what happened yesterday": `; nothing was written "yesterday"`,
		"yesterday":               `; nothing was written "yesterday"`,
		"schedulr":                `a#2; no searched text of p contains "schedulr" (nearest: "scheduler"): searched for "scheduler"`,
		"xylophone":               `; no searched text of p contains "xylophone"`,
		"door xylophone":          `a#1; no searched text of p contains "xylophone": searched for the other words`,
		"hens/nosuch.go":          `a#1; no searched text of p contains "hens/nosuch.go": searched for its parts`,
		"door.go":                 "a#1",
		"/home/me/hens/door.go":   "a#1",
		"shutDoor":                `a#1; no searched text of p contains "shutDoor": searched for its parts`,
		"openDoor":                "a#2",
	} {
		q := Ask(text, now)
		q.Limit = 10
		found, err := Search(c, q)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, h := range found.Hits {
			ids = append(ids, fmt.Sprintf("%s#%d", h.Session.ID, h.Doc.N))
		}
		slices.Sort(ids)
		got := strings.Join(append([]string{strings.Join(ids, " ")}, found.Notes("p")...), "; ")
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestLoose checks that a phrase that no text has counts as words, and that hits say so.
func TestLoose(t *testing.T) {
	t.Parallel()
	c := corpus(t, map[string][]index.Doc{"a": texts("the red fox")})
	got, err := Search(c, Query{Phrases: []string{"fox red"}})
	if err != nil || len(got.Hits) != 1 || !got.Hits[0].Loose {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSuggestOrder(t *testing.T) {
	t.Parallel()
	c := corpus(t, map[string][]index.Doc{
		"a": {{Text: "Edit hens/door.go", File: "hens/door.go", Class: index.Tool}},
		"b": texts("the door of the hens"),
		"c": texts("nothing of that"),
	})
	got, err := Suggest(c, Criteria{Files: []string{"door.go"}, Topics: []string{"door hens"}, Now: 1002})
	if err != nil || len(got) != 2 || got[0].Session.ID != "a" || got[1].Session.ID != "b" || got[0].Score > 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestSuggestBlank checks that blank criteria count as none.
func TestSuggestBlank(t *testing.T) {
	t.Parallel()
	c := corpus(t, map[string][]index.Doc{"a": texts("the door"), "b": texts("the hens")})
	got, err := Suggest(c, Criteria{Files: []string{""}, Topics: []string{" ", "door"}, Now: 1002})
	if err != nil || len(got) != 1 || got[0].Session.ID != "a" || got[0].Score != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFileFits(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		pattern, file string
		want          bool
	}{
		{"b.go", "a/b.go", true}, {"a/b.go", "a/b.go", true}, {"./b.go", "b.go", true}, {"B.go", "a/b.go", true}, {"b.go", "a/ab.go", false},
		{"app/[id]/p.tsx", "x/app/[id]/p.tsx", true}, {"[id].tsx", "[id].tsx", true}, {"[id].tsx", "x.tsx", false},
		{"a/*.go", "x/a/b.go", true}, {"*.go", "a/b.go", true}, {"*.md", "a/b.go", false}, {"[", "a", false}, {"b.go", "", false}, {`a\b.go`, "a/b.go", true},
	} {
		if got := fileFits(x.pattern, x.file); got != x.want {
			t.Errorf("fileFits(%q, %q) = %v", x.pattern, x.file, got)
		}
	}
}

// TestEmptyMatches checks that a pattern that matches the empty text marks no text.
func TestEmptyMatches(t *testing.T) {
	t.Parallel()
	s := NewSnippets(Query{Patterns: []*regexp.Regexp{regexp.MustCompile("x*")}})
	for _, got := range []Snippet{s.Passage(index.Doc{Text: "a xx b"}, 100), s.Lines("a xx b", 0, 100)} {
		if want := [][2]int{{2, 4}}; !slices.Equal(got.Matches, want) {
			t.Errorf("matches %v, want %v", got.Matches, want)
		}
	}
}

func FuzzSnippet(f *testing.F) {
	f.Add("the red fox", "a red\n\n fox and the retry policy", 20)
	f.Add("検索", "日本語の検索エンジン\xff", 9)
	f.Fuzz(func(t *testing.T, query, text string, width int) {
		if width < 0 || width > 500 {
			return
		}
		s := NewSnippets(Parse(query))
		for _, x := range []Snippet{s.Passage(index.Doc{Text: text}, width), s.Passage(index.Doc{Text: text, Class: index.Tool}, width),
			s.Lines(text, width%4, width)} {
			end := 0
			for _, m := range x.Matches {
				if m[0] < end || m[1] <= m[0] || m[1] > len(x.Text) {
					t.Fatalf("match %v in %q behind %d", m, x.Text, end)
				}
				end = m[1]
			}
			if utf8.ValidString(text) && !utf8.ValidString(x.Text) {
				t.Fatalf("%q is cut inside of a character", x.Text)
			}
		}
		if strings.Contains(s.Passage(index.Doc{Text: text}, width).Text, "\n") {
			t.Fatal("a line has several")
		}
	})
}

// TestNote checks that a text of the client does not stand for the answer of its exchange.
func TestNote(t *testing.T) {
	t.Parallel()
	c := corpus(t, map[string][]index.Doc{"a": {
		{Text: "yes, put them there", Flags: index.Begins, Exchange: 1},
		{Text: "Pushed, and the PR is open.", Class: index.Assistant, Exchange: 1},
		{Text: "To open a PR: open it, then say which PR is open.", Class: index.Note, Exchange: 1},
	}})
	if got := names(t, c, Query{Words: "which PR did we open", Limit: 10}); got != "a#2" {
		t.Errorf("got %s", got)
	}
}

// TestDealtWith checks that what a long request goes on with, which was pasted, does not deal with what is open.
func TestDealtWith(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"put it on the nixos host": "",
		"read this: " + strings.Repeat("lorem ipsum ", 60) + " on the nixos host": "a#1",
	} {
		c := corpus(t, map[string][]index.Doc{
			"a": {{Text: "Interrupted by the user: “on the nixos host”", Class: index.Pending, Name: "request", Time: 10}},
			"b": {{Text: text, Flags: index.Begins, Time: 20}, {Text: "Done.", Class: index.Assistant, Flags: index.Outcome, Time: 20}},
		})
		if got := names(t, c, Query{Filter: Filter{Pending: Open}}); got != want {
			t.Errorf("%.20s: got %q, want %q", text, got, want)
		}
	}
}
