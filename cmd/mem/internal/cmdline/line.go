package cmdline

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// A Line is a command line in the order of urfave/cli.
type Line struct {
	Path     []string     // names of the command and its subcommands, as the table has them
	Command  *cli.Command // the innermost of them; nil if no command was named
	Global   []string     // options of mem itself, each as --name=value
	Local    []string     // options of the command
	Operands []string
	Help     bool // the help of the command was asked for
}

// String returns the program and the command: "mem" if no command was named.
func (l *Line) String() string { return strings.Join(append([]string{"mem"}, l.Path...), " ") }

// Explain adds the help of the command as a hint to a usage error without one.
func (l *Line) Explain(err error) error {
	if app.StatusOf(err) != app.ExitUsage || len(app.HintsOf(err)) > 0 {
		return err
	}
	if len(l.Path) == 0 {
		return app.WithHint(err, "mem help")
	}
	return app.WithHint(err, l.String()+" -h")
}

// words returns the options of each command, then "--" and the operands.
func (l *Line) words() []string {
	words := slices.Concat([]string{"mem"}, l.Global, l.Path, l.Local)
	if !l.Command.SkipFlagParsing {
		words = append(words, "--")
	}
	return append(words, l.Operands...)
}
