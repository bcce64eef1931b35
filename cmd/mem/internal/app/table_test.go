package app_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

func sampleTable(e *app.Env) *app.Table {
	tab := e.Table(app.Column{Name: "id"}, app.Column{Name: "tokens", Right: true}, app.Column{Name: "title", Shrinks: true}, app.Column{Name: "state"})
	tab.Row(app.IdCell("0123456789abcdef", 4), app.Cell{Full: "100234", Short: "100.2k"}, app.Cell{Full: "데이터 계층을 설계한다, and a long rest of it"}, app.Cell{Full: "ok"})
	tab.Row(app.IdCell("abcd", 4), app.Cell{Full: "9"}, app.Cell{Full: "tab\tand\nnewline \x1b[31mred\u202e"}, app.Cell{Full: "changed"})
	return tab
}

func TestTablePiped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	if err := sampleTable(&w.Env).Flush(); err != nil {
		t.Fatal(err)
	}
	if err := w.Env.Out.Close(); err != nil {
		t.Fatal(err)
	}
	want := "0123456789abcdef\t100234\t데이터 계층을 설계한다, and a long rest of it\tok\n" +
		"abcd\t9\ttab and newline red‹U+202E›\tchanged\n"
	if got := w.out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTableOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	w.vars["NO_COLOR"] = "1"
	if err := sampleTable(&w.Env).Flush(); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"ID        TOKENS  TITLE                              STATE\n" +
		"01234567  100.2k  데이터 계층을 설계한다, and a lo…  ok\n" +
		"abcd           9  tab and newline red‹U+202E›        changed\n"
	if got := w.out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	w = newWorld(t, true)
	w.Env.Term.Width = func() int { return 5 } // cannot be met; nothing breaks
	if err := sampleTable(&w.Env).Flush(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(w.out.String(), "\x1b[1m0123\x1b[0m\x1b[2m4567\x1b[0m") {
		t.Errorf("the unique prefix is not bold: %q", w.out.String())
	}
	w = newWorld(t, true)
	if err := w.Env.Table(app.Column{Name: "id"}).Flush(); err != nil || w.out.Len() > 0 {
		t.Errorf("an empty table prints %q, %v", w.out.String(), err)
	}
}

// TestIDCell checks that a list shows enough of an id to type it, and never half a letter.
func TestIDCell(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id     string
		unique int
		short  string
		bold   int
	}{
		{"6ecd8c99-4036-403d-bf84-cf8400f67836", 4, "6ecd8c99", 4},
		{"6ecd8c99-4036-403d-bf84-cf8400f67836", 11, "6ecd8c99-40", 11},
		{"agent-a7c3e19ffff", 7, "agent-a7c3e19f", 7},
		{"agent-suggestion-77", 7, "agent-suggestion-77", 7},
		{"6ecd8c99-4036-403d-bf84-cf8400f67836~5b095598", 4, "6ecd8c99~5b095598", 4},
		{"6ecd8c99-4036-403d-bf84-cf8400f67836~5b095598", 11, "6ecd8c99-40~5b095598", 11},
		{"6ecd8c99-4036-403d-bf84-cf8400f67836~5b095598", 40, "6ecd8c99-4036-403d-bf84-cf8400f67836~5b095598", 40},
		{"spä", 3, "spä", 4},
		{"블로그-sitzung", 4, "블로그-sitzung", 6},
		{"abc", 4, "abc", 4},
	} {
		if got := app.IdCell(tt.id, tt.unique); got.Short != tt.short || got.Bold != tt.bold || got.Full != tt.id {
			t.Errorf("idCell(%q, %d) = %+v, want %q with %d bold", tt.id, tt.unique, got, tt.short, tt.bold)
		}
	}
}

// TestLongIDsGiveWay checks that a long id does not push the title out of a table, and what is left out on a narrow terminal.
func TestLongIDsGiveWay(t *testing.T) {
	t.Parallel()
	long := "a-very-long-name-of-a-session-that-somebody-chose"
	for _, tt := range []struct {
		wide int
		want string
	}{
		{120, "ID                                                 MSGS  KEEPIT  TITLE\n" + long + "  1234      12  Prices become whole cents\n"},
		{60, "ID                        MSGS  KEEPIT  TITLE\na-very-long-name-of-a-s…  1234      12  Prices become whole…\n"},
		{40, "ID                   MSGS  TITLE\na-very-long-name-o…  1234  Prices becom…\n"},
	} {
		var b bytes.Buffer
		e := &app.Env{Getenv: func(string) string { return "1" }, Out: app.NewOutput(&b, false)}
		e.Term = app.Term{Stdout: true, Width: func() int { return tt.wide }}
		e.Opt.Color = "never"
		tab := e.Table(app.Column{Name: "id"}, app.Column{Name: "msgs", Right: true}, app.Column{Name: "keepit", Right: true},
			app.Column{Name: "title", Shrinks: true})
		tab.Row(app.Cell{Full: long}, app.Cell{Full: "1234"}, app.Cell{Full: "12"}, app.Cell{Full: "Prices become whole cents"})
		if err := tab.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := e.Out.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != tt.want {
			t.Errorf("on %d columns:\n%swant\n%s", tt.wide, got, tt.want)
		}
	}
}

// TestTitlesStayApart checks that a cut title keeps what tells it from others.
func TestTitlesStayApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	w.vars["NO_COLOR"] = "1"
	w.Env.Term.Width = func() int { return 30 }
	tab := w.Env.Table(app.Column{Name: "title", Shrinks: true})
	tab.Row(app.Cell{Full: "a request that two sessions begin with · and another"})
	tab.Row(app.Cell{Full: "short · 2026-01-02"})
	want := "TITLE\na request that … · and another\nshort · 2026-01-02\n"
	if err := tab.Flush(); err != nil || w.out.String() != want {
		t.Errorf("got\n%s%v, want\n%s", w.out.String(), err, want)
	}
}

// TestTitleIsCutLast checks that a title has at least a third of the line, and that blank columns go before it is cut.
func TestTitleIsCutLast(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		wide         int
		score, title string
		want         string
	}{
		{60, "0.95", "Prices become whole cents", "ID        WHEN         SCORE  KEEPIT  TITLE\n" +
			"6ecd8c99  4 weeks ago   0.95      12  Prices become whole c…\n"},
		{60, "-", "Prices become whole cents", "ID        WHEN         KEEPIT  TITLE\n" +
			"6ecd8c99  4 weeks ago      12  Prices become whole cents\n"},
		{60, "-", "Stock levels", "ID        WHEN         SCORE  KEEPIT  TITLE\n" +
			"6ecd8c99  4 weeks ago      -      12  Stock levels\n"},
		{50, "0.95", "Prices become whole cents", "ID        WHEN         SCORE  TITLE\n" +
			"6ecd8c99  4 weeks ago   0.95  Prices become whole…\n"},
		{40, "0.95", "Prices become whole cents", "ID        WHEN         TITLE\n" +
			"6ecd8c99  4 weeks ago  Prices become wh…\n"},
	} {
		var b bytes.Buffer
		e := &app.Env{Getenv: func(string) string { return "1" }, Out: app.NewOutput(&b, false)}
		e.Term = app.Term{Stdout: true, Width: func() int { return tt.wide }}
		e.Opt.Color = "never"
		tab := e.Table(app.Column{Name: "id"}, app.Column{Name: "when"}, app.Column{Name: "score", Right: true},
			app.Column{Name: "keepit", Right: true}, app.Column{Name: "title", Shrinks: true})
		tab.Row(app.Cell{Full: "6ecd8c99"}, app.Cell{Full: "4 weeks ago"}, app.Cell{Full: tt.score}, app.Cell{Full: "12"},
			app.Cell{Full: tt.title})
		if err := tab.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := e.Out.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != tt.want {
			t.Errorf("on %d columns:\n%swant\n%s", tt.wide, got, tt.want)
		}
	}
}
