package historycmd

import (
	"bytes"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/refs"
)

// TestLogLines checks the lines that log prints for scripts.
func TestLogLines(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	entries := []refs.Entry{
		{Commit: "0123456789012345678901234567890123456789", Project: "p1", Name: "desk", Time: at, Subject: "add 3 sessions"},
		{Commit: "1123456789012345678901234567890123456789", Project: "p2", Name: "lap\ttop", Time: at, Subject: "compose a\nb \x1b[31mred\x1b[0m"},
		{Commit: "2123456789012345678901234567890123456789", Project: "p3", Name: "\xff", Subject: "a \u202e b"},
	}
	want := map[bool]string{
		false: "0123456789012345678901234567890123456789\t2026-01-02T02:04:05Z\tdesk\tadd 3 sessions\n" +
			"1123456789012345678901234567890123456789\t2026-01-02T02:04:05Z\tlap top\tcompose a b red\n" +
			"2123456789012345678901234567890123456789\t-\t\ufffd\ta ‹U+202E› b\n",
		true: "0123456789012345678901234567890123456789\t2026-01-02T02:04:05Z\tdesk\tshop\tadd 3 sessions\n" +
			"1123456789012345678901234567890123456789\t2026-01-02T02:04:05Z\tlap top\ta b\tcompose a b red\n" +
			"2123456789012345678901234567890123456789\t-\t\ufffd\t\ta ‹U+202E› b\n",
	}
	for _, all := range []bool{false, true} {
		var b bytes.Buffer
		e := &app.Env{Stdout: &b, Now: time.Now, Getenv: func(string) string { return "" }, Out: app.NewOutput(&b, false)}
		e.Opt.AllProjects = all
		d := details{Run: app.Run{Env: e}, LogScope: LogScope{Names: map[refs.Project]string{"p1": "shop", "p2": "a\tb"}}}
		if err := d.printLog(LogOptions{}, entries); err != nil {
			t.Fatal(err)
		}
		if err := e.Out.Flush(); err != nil {
			t.Fatal(err)
		}
		if b.String() != want[all] {
			t.Errorf("log prints\n%s\nwant\n%s", b.String(), want[all])
		}
	}
}
