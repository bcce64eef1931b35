package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// TestHelpFitsTerminals prints all help pages on narrow terminals: no words are lost, and lines fit.
func TestHelpFitsTerminals(t *testing.T) {
	t.Parallel()
	pages := append(topics(), "-a")
	for _, c := range commands() {
		pages = append(pages, c.name)
	}
	for _, name := range pages {
		page := func(width int) string {
			var out, errs bytes.Buffer
			env := testEnv(t, t.TempDir(), &out, &errs)
			env.Term = app.Term{Stdout: true, Width: func() int { return width }}
			if code := run(t.Context(), env, []string{"--no-pager", "--color=never", "help", name}); code != app.ExitDone {
				t.Errorf("mem help %s: exit status %d: %s", name, code, errs.String())
			}
			return out.String()
		}
		whole := page(0)
		for _, width := range []int{60, 80} {
			got := page(width)
			if !slices.Equal(strings.Fields(got), strings.Fields(whole)) {
				t.Errorf("mem help %s on %d columns has other words:\n%s", name, width, got)
			}
			for line := range strings.Lines(got) {
				line = strings.TrimSuffix(line, "\n")
				example := strings.HasPrefix(strings.TrimSpace(line), "mem ") || strings.Contains(line, "  # ") ||
					len(strings.Fields(line)) == 1
				if displaywidth.String(line) > width && !example && hanging(line) <= width-leastHelp {
					t.Errorf("mem help %s on %d columns is wider: %s", name, width, line)
				}
			}
		}
	}
}

func TestFitHelp(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ page, want string }{
		{"short\n\nalso short\n", "short\n\nalso short\n"},
		{"one paragraph of two lines, of which the first\nis long\n\nnext\n", "one paragraph of two lines, of which the\nfirst is long\n\nnext\n"},
		{"   -n, --name   print the first column and the last\n   -q   quiet\n",
			"   -n, --name   print the first column\n                and the last\n   -q   quiet\n"},
		{"   mem show 6ecd8c99#31        # one message of it\n", "   mem show 6ecd8c99#31        # one message of it\n"},
	} {
		if got := fitHelp(tt.page, 40); got != tt.want {
			t.Errorf("fitHelp(%q) = %q, want %q", tt.page, got, tt.want)
		}
	}
}
