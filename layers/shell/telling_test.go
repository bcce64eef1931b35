package shell_test

import (
	"testing"

	"github.com/memvcs/mem/layers/shell"
)

// TestTellingLine has outputs of commands that failed, and the line that says why.
func TestTellingLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		output string
		passed bool
		want   string
	}{
		{"npm warn Unknown env config\n│ Build error occurred\n", false, "│ Build error occurred"},
		{"$ biome check --error-on-warnings\n× This variable is unused.\n", false, "× This variable is unused."},
		{"Pre-commit validation failed:\nlib/a.ex: guard can never succeed\nerror: 1 check\n", false, "error: 1 check"},
		{"Pre-commit validation failed:\nlib/a.ex: guard can never succeed\n", true, "Pre-commit validation failed: lib/a.ex: guard can never succeed"},
		{"[Parser] Warning: Could not parse it\nerror: 2 checks failed\n", false, "error: 2 checks failed"},
		{"killed\nat night\n", false, "at night"},
		{"killed\nat night\n", true, ""},
	} {
		if got := shell.TellingLine(c.output, c.passed); got != c.want {
			t.Errorf("%q: %q, want %q", c.output, got, c.want)
		}
	}
}
