package app_test

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// A world is an Env whose output is kept.
type world struct {
	app.Env
	out, err bytes.Buffer
	vars     map[string]string
}

// newWorld returns a world of pipes with an empty home, or of terminals that are 60 columns wide.
func newWorld(t *testing.T, terminal bool) *world {
	t.Helper()
	w := &world{vars: map[string]string{}}
	w.Dir = t.TempDir()
	w.vars["HOME"], w.vars["USERPROFILE"] = w.Dir, w.Dir
	w.Getenv = func(k string) string { return w.vars[k] }
	w.Uptime = func() time.Duration { return 0 }
	w.Stdout, w.Stderr, w.Out = &w.out, &w.err, app.NewOutput(&w.out, terminal)
	w.Term = app.Term{Stdout: terminal, Stderr: terminal, Width: func() int { return 60 }}
	return w
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	home := w.vars["HOME"]
	abs := filepath.Join(t.TempDir(), "m")
	for _, tt := range []struct{ option, variable, want string }{
		{"", "", filepath.Join(home, ".claude-memory")}, {"", abs, abs}, {"o", "m", filepath.Join(w.Dir, "o")},
		{"", "~", home}, {"", "~/", home}, {"", "~/a/b", filepath.Join(home, "a", "b")}, {"~/o", abs, filepath.Join(home, "o")},
		{"./~", "", filepath.Join(w.Dir, "~")},
		{"", "m", ""}, {"", "./m", ""}, {"", "../m", ""}, {"", "~other/m", ""}, {"", "$HOME/m", ""}, {"~other", abs, ""},
	} {
		w.Env.Opt.MemDir, w.vars["MEM_DIR"] = tt.option, tt.variable
		got, err := w.Env.MemoryDir()
		if tt.want == "" {
			if code := app.StatusOf(err); err == nil || code != app.ExitUsage {
				t.Errorf("%+v: %q, %v, want a usage error", tt, got, err)
			}
			continue
		}
		if got != tt.want || err != nil {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
	w.vars["CLAUDE_CONFIG_DIR"] = "~/c"
	if got, err := w.Env.ClaudeDir(); got != filepath.Join(home, "c") || err != nil {
		t.Errorf("claudeDir() = %q, %v", got, err)
	}
	w.vars["CLAUDE_CONFIG_DIR"] = ""
	if got, err := w.Env.ClaudeDir(); got != filepath.Join(home, ".claude") || err != nil {
		t.Errorf("claudeDir() = %q, %v", got, err)
	}
}
