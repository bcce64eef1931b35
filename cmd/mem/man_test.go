package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// TestManPages checks that each command has a page that names its options, and, where there is groff or mandoc, that it has
// nothing to warn of.
func TestManPages(t *testing.T) {
	t.Parallel()
	e := &app.Env{
		Now:    func() time.Time { return time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC) },
		Getenv: func(name string) string { return map[string]string{"MEM_NOW": "2026-01-15T10:00:00Z"}[name] },
	}
	pages := manPages(e)
	for _, c := range commands() {
		name := "mem-" + c.name + ".1"
		page, ok := pages[name]
		if ok == (c.group == groupHidden) {
			t.Errorf("page %s: %v, the command is in group %q", name, ok, c.group)
		}
		for _, f := range c.make(e).Flags {
			if ok && !strings.Contains(page, roff(dashed(f.Names()[0]))) {
				t.Errorf("%s does not name the option %s", name, f.Names()[0])
			}
		}
	}
	if !strings.HasPrefix(pages["mem-vcs.1"], `.TH MEM-VCS 1 "2026-01-15" `) || !strings.Contains(pages["mem.1"], ".SH NAME\nmem \\- ") {
		t.Errorf("mem.1 begins with %.60q", pages["mem.1"])
	}
	for name, page := range pages {
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, ".") && !strings.HasPrefix(line, ".TH ") && !strings.HasPrefix(line, ".S") && !strings.HasPrefix(line, ".B") &&
				!strings.HasPrefix(line, ".I ") && line != ".TP\n" && line != ".PP\n" && line != ".nf\n" && line != ".fi\n" {
				t.Errorf("%s has the request %q", name, line)
			}
		}
	}
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("SKIPPED: mandoc is not here to lint the pages")
	}
	for name, page := range pages {
		cmd := exec.CommandContext(t.Context(), mandoc, "-T", "lint", "-W", "warning")
		cmd.Stdin = strings.NewReader(page)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestRoff(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"a-b": `a\-b`, ".x\n'y": "\\&.x\n\\&'y", `\n`: `\en`} {
		if got := roff(text); got != want {
			t.Errorf("roff(%q) = %q, want %q", text, got, want)
		}
	}
}
