package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// TestTablesFitNarrowTerminals prints the tables of a store on terminals of 40 to 120 columns: no line is wider.
func TestTablesFitNarrowTerminals(t *testing.T) {
	t.Parallel()
	store := copyStoreV1(t)
	for _, wide := range []int{40, 60, 80, 120} {
		for _, line := range []string{
			"ls --all-projects", "ls --compositions --all-projects", "log --all-projects", "log --undo", "keepit list --all-projects",
			"project list", "device list", "facts list --all-projects", "concepts list --all-projects", "rules list --all-projects",
			"stats --all-projects", "config list", "status --layers", "tier", "suggest -p shop",
		} {
			var out, errs bytes.Buffer
			env := testEnv(t, store, &out, &errs)
			env.Term = app.Term{Stdout: true, Width: func() int { return wide }}
			if code := run(t.Context(), env, append([]string{"--no-pager", "--color=never"}, strings.Fields(line)...)); code != app.ExitDone {
				t.Errorf("mem %s: exit status %d: %s", line, code, errs.String())
			}
			for text := range strings.Lines(out.String()) {
				if got := displaywidth.String(strings.TrimSuffix(text, "\n")); got > wide && strings.Contains(text, "  ") {
					t.Errorf("mem %s on %d columns prints %d: %s", line, wide, got, text)
				}
			}
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
		must(t, tab.Flush())
		must(t, e.Out.Flush())
		if got := b.String(); got != tt.want {
			t.Errorf("on %d columns:\n%swant\n%s", tt.wide, got, tt.want)
		}
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
		must(t, tab.Flush())
		must(t, e.Out.Flush())
		if got := b.String(); got != tt.want {
			t.Errorf("on %d columns:\n%swant\n%s", tt.wide, got, tt.want)
		}
	}
}

// TestSuggestedAges checks that suggestions without a file or topic show people ages instead of scores near zero.
func TestSuggestedAges(t *testing.T) {
	t.Parallel()
	store := copyStoreV1(t)
	for _, tt := range []struct{ line, head, first string }{
		{"suggest -p shop", "REVISION       WHEN", "months ago"},
		{"suggest -p shop price", "REVISION       SCORE", "  0.6"},
	} {
		var out, errs bytes.Buffer
		env := testEnv(t, store, &out, &errs)
		env.Term = app.Term{Stdout: true, Width: func() int { return 80 }}
		if code := run(t.Context(), env, append([]string{"--color=never"}, strings.Fields(tt.line)...)); code != app.ExitDone {
			t.Errorf("mem %s: exit status %d: %s", tt.line, code, errs.String())
		}
		head, rows, _ := strings.Cut(out.String(), "\n")
		if !strings.HasPrefix(head, tt.head) || !strings.Contains(rows, tt.first) || strings.Contains(rows, "  0.00") {
			t.Errorf("mem %s prints\n%swant %s ... %s", tt.line, out.String(), tt.head, tt.first)
		}
	}
}
