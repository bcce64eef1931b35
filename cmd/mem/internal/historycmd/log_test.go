package historycmd_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/historycmd"
	"github.com/memvcs/mem/refs"
)

// TestLogLines shows that log prints for scripts what a table of its entries would.
func TestLogLines(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	entries := []refs.Entry{
		{Commit: "0123456789012345678901234567890123456789", Project: "p1", Device: "d1", Name: "desk", Time: at, Subject: "add 3 sessions"},
		{Commit: "1123456789012345678901234567890123456789", Project: "p2", Device: "d2", Name: "lap\ttop", Time: at, Subject: "compose a\nb \x1b[31mred\x1b[0m"},
		{Commit: "2123456789012345678901234567890123456789", Project: "p3", Device: "d1", Name: "\xff", Subject: "a \u202e b"},
	}
	names := map[refs.Project]string{"p1": "shop", "p2": "a\tb"}
	print := func(all bool, f func(e *app.Env)) string {
		var b bytes.Buffer
		e := &app.Env{Stdout: &b, Now: time.Now, Getenv: func(string) string { return "" }, Out: app.NewOutput(&b, false)}
		e.Opt.AllProjects = all
		f(e)
		if err := e.Out.Flush(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, all := range []bool{false, true} {
		want := print(all, func(e *app.Env) {
			if _, err := historycmd.LogTable(e, entries, historycmd.LogScope{Names: names}); err != nil {
				t.Fatal(err)
			}
		})
		got := print(all, func(e *app.Env) {
			if _, err := historycmd.PrintLog(e, historycmd.LogOptions{}, entries, historycmd.LogScope{Names: names}); err != nil {
				t.Fatal(err)
			}
		})
		if got != want || len(want) < 200 {
			t.Errorf("log prints\n%s\na table\n%s", got, want)
		}
	}
}
