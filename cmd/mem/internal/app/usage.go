package app

import (
	"fmt"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/flags"
	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// A usageError is a command line that makes no sense. The exit status is 129.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func Usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// An unknownOption is an option that is not there, or a beginning that several options share.
type UnknownOption struct{ Candidates []string }

func (e *UnknownOption) Error() string { return "unknown option" }

// A missingValue is an option at the end of a line that should have its value after it.
type MissingValue struct {
	Option  Option
	Spelled string
}

func (e *MissingValue) Error() string {
	want := "a value"
	if e.Option.Choices != nil {
		want += ": " + flags.OrList(e.Option.Choices)
	} else if name := e.Option.Value; name != "" {
		want += ": " + name
	}
	return fmt.Sprintf("option %s wants %s", e.Spelled, want)
}

// Long drops the switches of one letter.
func Long(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(s string) bool { return len(s) < 2 })
}

func DidYouMean(prefix string, names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", prefix+n)
	}
	return "did you mean " + flags.OrList(quoted) + "?"
}

// Action returns an action for which [Env.WantOperands] checks the number of operands first.
func (e *Env) Action(least, most int, f cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := e.WantOperands(c, least, most); err != nil {
			return err
		}
		return f(c)
	}
}

// WantOperands checks how many operands c has and says what is wrong in the words of its usage line.
// A most below 0 is no limit.
func (e *Env) WantOperands(c *cli.Context, least, most int) error {
	n := len(e.Operands)
	if n >= least && (most < 0 || n <= most) {
		return nil
	}
	name := c.Command.HelpName
	what := "takes no operands"
	if c.Command.ArgsUsage != "" {
		what = "wants " + c.Command.ArgsUsage
	}
	if n == 0 {
		return WithHint(Usagef("%s %s", name, what), name+" -h")
	}
	return WithHint(Usagef("%s %s, got %d operand%s", name, what, n, term.Plural(n)), name+" -h")
}

// Operand returns the operand i, which counts from 0, or "" if there are fewer.
func (e *Env) Operand(i int) string {
	if i >= len(e.Operands) {
		return ""
	}
	return e.Operands[i]
}

func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
