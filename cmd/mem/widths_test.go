package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// TestWidths checks that lines fit a terminal of 80 columns, or 70, and, in lists of several projects, name the project.
func TestWidths(t *testing.T) {
	t.Parallel()
	store := copyStoreV1(t)
	colours := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, tt := range []struct{ line, want string }{
		{"search -p shop -n 0 price", "in 1 session"},
		{"search --all-projects --by file price", "order.go"},
		{"why 6ecd --color=always", "6ecd8c99"},
		{"why 6ecd:v001", "`- session  6ecd8c99"},
		{"lineage 6ecd", "session  6ecd8c99"},
		{"ls --all-projects", "PROJECT"},
		{"log --all-projects", "PROJECT"},
		{"log --all-projects --oneline", " shop: "},
		{"log --all-projects --graph", " shop: "},
		{"log --project shop --oneline", "add 6 sessions"},
		{"log --project shop --stat", "messages"},
		{"status -p shop", ",\nnewest "},
	} {
		width := 80
		if strings.HasPrefix(tt.line, "status") {
			width = 70
		}
		var out, errs bytes.Buffer
		env := testEnv(t, store, &out, &errs)
		env.Term = app.Term{Stdout: true, Width: func() int { return width }}
		words := append([]string{"--color=never"}, strings.Fields(tt.line)...)
		if code := run(t.Context(), env, words); code != app.ExitDone {
			t.Errorf("mem %s: exit status %d: %s", tt.line, code, errs.String())
		}
		if !strings.Contains(out.String()+errs.String(), tt.want) {
			t.Errorf("mem %s prints\n%s%swant %q", tt.line, out.String(), errs.String(), tt.want)
		}
		for line := range strings.Lines(out.String()) {
			if n := app.Columns(colours.ReplaceAllString(strings.TrimSuffix(line, "\n"), "")); n > width {
				t.Errorf("mem %s prints a line of %d columns: %s", tt.line, n, line)
			}
		}
	}
}
