package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// TestReadme runs the blocks of docs/tour.md that are marked console, one after the other, as a user types them at a
// terminal, and compares the output. In the page "..." stands for any text, and alone on a line for any lines.
func TestReadme(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the tour is typed into a Unix shell")
	}
	tour := newTour(t)
	for _, block := range fenced(t, filepath.Join("..", "..", "docs", "tour.md"), "console") {
		for _, part := range strings.Split("\n"+block, "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			if got := tour.run(command); !like(want, got) {
				t.Errorf("$ %s\n--- got\n%s--- want\n%s", command, got, want)
			}
		}
	}
}

// A tour is a user at a terminal with an empty home and a copy of testdata/transcripts.
type tour struct {
	t    *testing.T
	dir  string
	vars map[string]string
}

func newTour(t *testing.T) *tour {
	t.Helper()
	r := &tour{t: t, dir: t.TempDir()}
	home := filepath.Join(r.dir, "home")
	must(t, os.Mkdir(home, 0o700))
	must(t, os.CopyFS(filepath.Join(r.dir, "testdata", "transcripts"), os.DirFS(filepath.Join("..", "..", "testdata", "transcripts"))))
	r.vars = map[string]string{
		"HOME": home, "TMPDIR": r.dir, "PATH": os.Getenv("PATH"), "TZ": "UTC", "LC_ALL": "C.UTF-8",
		"MEM_NOW": "2026-09-01T12:00:00Z", "NO_COLOR": "1",
	}
	return r
}

// run returns the output of a command: mem runs in this process, other commands run in the shell.
func (r *tour) run(command string) string {
	words := strings.Fields(command)
	if words[0] != "mem" {
		return r.shell(command)
	}
	var out bytes.Buffer
	env := app.OsEnv()
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(""), &out, &out
	env.Dir, env.Getenv = r.dir, func(name string) string { return r.vars[name] }
	env.Hostname = func() (string, error) { return "desk", nil }
	env.Uptime = func() time.Duration { return 0 } // nothing takes long enough for a progress bar
	env.Term = app.Term{Stdout: true, Stderr: true, Width: func() int { return 110 }}
	if code := run(r.t.Context(), env, append([]string{"--no-pager"}, words[1:]...)); code != app.ExitDone {
		r.t.Errorf("$ %s: exit status %d", command, code)
	}
	return out.String()
}

// shell runs a command in sh. Its directory and the variables that it exports are those of the next command.
func (r *tour) shell(command string) string {
	var out bytes.Buffer
	after := filepath.Join(r.vars["HOME"], "after")
	script := command + "\n{ pwd; echo \"$MEM_DIR\"; echo \"$CLAUDE_CONFIG_DIR\"; } >" + after
	cmd := exec.CommandContext(r.t.Context(), "sh", "-ec", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.dir, &out, &out
	for name, value := range r.vars {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if err := cmd.Run(); err != nil {
		r.t.Errorf("$ %s: %v", command, err)
		return out.String()
	}
	b, err := os.ReadFile(after)
	must(r.t, err)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	r.dir = lines[0]
	if len(lines) == 3 {
		r.vars["MEM_DIR"], r.vars["CLAUDE_CONFIG_DIR"] = lines[1], lines[2]
	}
	return out.String()
}

// like reports whether text matches pattern.
func like(pattern, text string) bool {
	p := regexp.QuoteMeta(strings.TrimRight(pattern, "\n"))
	p = regexp.MustCompile(`(?m)^\\\.\\\.\\\.$`).ReplaceAllString(p, `(?s:.*)`)
	p = strings.ReplaceAll(p, `\.\.\.`, `[^\n]*`)
	return regexp.MustCompile(`^` + p + `\n*$`).MatchString(text)
}

func TestLike(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"a b\n", "a b\n", true},
		{"a b", "a c\n", false},
		{"a ... c", "a b c\n", true},
		{"a...", "a\nb\n", false},
		{"a\n...\nd", "a\nb\nc\nd\n", true},
		{"a\n...", "a\nb\nc\n", true},
		{"a.", "ab\n", false},
	} {
		if got := like(tt.pattern, tt.text); got != tt.want {
			t.Errorf("like(%q, %q) = %v, want %v", tt.pattern, tt.text, got, tt.want)
		}
	}
}
