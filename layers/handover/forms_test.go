package handover

import (
	"testing"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/shell"
)

// TestOptionOfAnother checks that an option is only missed in the program that misses it.
func TestOptionOfAnother(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cmd, message string
		is           bool
	}{
		{"cat -A x.go", "cat: illegal option -- A", true},
		{"/bin/cat -A x.go", "cat: illegal option -- A", true},
		{"python3 tools/gen.py --fast", "gen.py: error: unrecognized arguments: --fast", true},
		{"go test -fast ./...", "flag provided but not defined: -fast", true},
		{"bun test --fast", "error: unknown option '--fast'", true},
		{"rg -n tax -g '*.go' .", "grep: invalid option -- g", false},
	} {
		e := refine.Entry{N: 1, Role: "tool", Name: "Bash", Cmd: c.cmd, Exit: 1, Result: c.message}
		if f, ok := formOf(e, shell.Parse(c.cmd)); ok != c.is {
			t.Errorf("%s: %s: %+v, %v", c.cmd, c.message, f, ok)
		}
	}
}
