package main

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/hookcmd"
)

// TestDistillIsAskedOnce asks a terminal how facts are asked for, takes nothing for a no, and asks no second time.
func TestDistillIsAskedOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		typed string
		tty   bool
		want  string // hooks.ask, hooks.blocking, distill.engine
		asked bool
	}{
		{"session\n", true, "true once ", true}, {"b\n", true, "false off claude", true}, {"\n", true, "false off ", true},
		{"", true, "false off ", true}, {"perhaps\n", true, "false off ", true}, {"session\n", false, "false off ", false},
	} {
		w := newWorld(t, tt.tty)
		for i := range 2 {
			w.Env.Conf, w.Env.Stdin = nil, strings.NewReader(tt.typed)
			w.err.Reset()
			if err := hookcmd.AskDistill(t.Context(), &w.Env, ""); err != nil {
				t.Fatal(err)
			}
			if asked := strings.Contains(w.err.String(), "[off/session/background]"); asked != (tt.asked && i == 0) {
				t.Errorf("%+v, time %d: asked: %v", tt, i+1, asked)
			}
			c, err := w.Env.Settings()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, key := range []string{"hooks.ask", "hooks.blocking", "distill.engine"} {
				v, _, err := c.Get(key)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, v)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%+v, time %d: %q", tt, i+1, got)
			}
		}
	}
}
