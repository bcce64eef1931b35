package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
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

// TestUsageWidths checks that each column of the usage is there on any terminal, and in full in a pipe.
func TestUsageWidths(t *testing.T) {
	t.Parallel()
	store, file := t.TempDir(), filepath.Join(t.TempDir(), "aaaa1111-0000-4000-8000-000000000001.jsonl")
	var lines strings.Builder
	for i, model := range []string{"claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929"} {
		fmt.Fprintf(&lines, `{"type":"user","sessionId":"aaaa1111-0000-4000-8000-000000000001","uuid":"u%d","cwd":"/home/dev/shop","timestamp":"2026-01-15T1%d:00:00Z","message":{"role":"user","content":"Where do the prices of the shop live, and who reads them?"}}
{"type":"assistant","sessionId":"aaaa1111-0000-4000-8000-000000000001","uuid":"a%[1]d","timestamp":"2026-01-15T1%[2]d:00:01Z","message":{"id":"msg_%[1]d","role":"assistant","model":%[3]q,"content":[{"type":"text","text":"In a table."}],"usage":{"input_tokens":14114157,"output_tokens":374551,"cache_creation_input_tokens":920965132,"cache_read_input_tokens":9446957852}}}
`, i, i, model)
	}
	must(t, os.WriteFile(file, []byte(lines.String()), 0o600))
	mem := func(term app.Term, words ...string) string {
		var out, errs bytes.Buffer
		env := testEnv(t, store, &out, &errs)
		env.Term = term
		if code := run(t.Context(), env, append([]string{"--color=never"}, words...)); code != app.ExitDone {
			t.Fatalf("mem %s: exit status %d: %s", words, code, errs.String())
		}
		return out.String()
	}
	mem(app.Term{}, "init")
	mem(app.Term{}, "add", file)
	for _, by := range []string{"session", "day", "model", "project"} {
		for _, width := range []int{80, 100, 200} {
			got := mem(app.Term{Stdout: true, Width: func() int { return width }}, "stats", "--usage", "--by", by, "-p", "shop")
			for _, want := range []string{"ANSWERS  ", "INPUT  ", "OUTPUT  ", "WRITTEN  ", "READ  ", "COST\n", "M  $"} {
				if !strings.Contains(got, want) {
					t.Errorf("mem stats --usage --by %s in %d columns prints\n%swant %q", by, width, got, want)
				}
			}
			for line := range strings.Lines(got) {
				if n := app.Columns(strings.TrimSuffix(line, "\n")); n > width || strings.Contains(line, "…") && by != "session" && by != "model" {
					t.Errorf("mem stats --usage --by %s in %d columns prints a line of %d: %s", by, width, n, line)
				}
			}
		}
		if got := mem(app.Term{}, "stats", "--usage", "--by", by, "-p", "shop"); !strings.Contains(got, "\t920965132\t9446957852\t$") &&
			!strings.Contains(got, "\t1841930264\t18893915704\t$") {
			t.Errorf("mem stats --usage --by %s in a pipe prints %q", by, got)
		}
	}
}
