package shell_test

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/shell"
)

// TestIsMisuse tells commands that do not exist from what is missing or wrong.
func TestIsMisuse(t *testing.T) {
	t.Parallel()
	const cmd = "rtk bun run lint --all"
	for output, want := range map[string]bool{
		"error: unrecognized subcommand 'bun'":                                     true,
		"error: Script not found \"lint\"\nerror: script \"x\" exited with code 1": true,
		"unknown flag: --all":                             true,
		"./tool sync --each\nunknown flag: --each":        false, // what the command ran was called wrongly
		"unknown flag: --all\nerror: the queue is broken": false,
		"sh: golangci-lint: command not found":            false, // something is missing here
		"":                                                false,
	} {
		if got := shell.IsMisuse(cmd, strings.Split(output, "\n")); got != want {
			t.Errorf("%q: %v", output, got)
		}
	}
}

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
		{"error: script \"lint\" exited with code 1\na.ts:4:2 unused\n", false, "a.ts:4:2 unused"},
		{"error: script \"lint\" exited with code 1\n", false, "error: script \"lint\" exited with code 1"},
		{"error: script \"lint\" exited with code 1\n", true, ""},
		{"error: process 7 failed to start: address in use\n", true, "error: process 7 failed to start: address in use"},
		{"a.go:3: undefined: x\nFAIL\nok  \tshop/queue\t0.4s\nPASS\n", false, "a.go:3: undefined: x"},
	} {
		if got := shell.TellingLine(c.output, c.passed); got != c.want {
			t.Errorf("%q: %q, want %q", c.output, got, c.want)
		}
	}
}
