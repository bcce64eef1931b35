package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// TestColorOfWrongLine checks that --color applies to the error of a command line that cannot be read further on.
func TestColorOfWrongLine(t *testing.T) {
	t.Parallel()
	for line, colored := range map[string]bool{"--color=never foo": false, "--no-color foo": false, "--color=always foo": true, "foo": false} {
		var out, errs bytes.Buffer
		env := testEnv(t, t.TempDir(), &out, &errs)
		run(t.Context(), env, strings.Fields(line))
		if strings.Contains(errs.String(), "\x1b") != colored {
			t.Errorf("mem %s: colour is %v: %q", line, !colored, errs.String())
		}
	}
}

// TestGroupsHaveADefault checks that a command with subcommands does something without one.
func TestGroupsHaveADefault(t *testing.T) {
	t.Parallel()
	for _, row := range commands() {
		c := row.build(&app.Env{})
		known := slices.ContainsFunc(c.Subcommands, func(s *cli.Command) bool { return s.Name == row.bare })
		if c.Action == nil && !known || row.bare != "" && !known {
			t.Errorf("mem %s without a subcommand means %q", row.name, row.bare)
		}
		for _, s := range c.Subcommands {
			if s.Action == nil {
				t.Errorf("mem %s %s does nothing", row.name, s.Name)
			}
		}
	}
}
