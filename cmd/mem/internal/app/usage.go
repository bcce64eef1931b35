package app

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// A usageError reports a wrong command line. The exit status is 129.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

// Usagef returns a usage error.
func Usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// IsUsage reports whether err is a usage error.
func IsUsage(err error) bool {
	var usage *usageError
	return errors.As(err, &usage)
}

// A MissingValue error reports an option without its required value.
type MissingValue struct {
	Option  Option
	Spelled string
}

func (e *MissingValue) Error() string {
	want := "a value"
	if e.Option.Choices != nil {
		want += ": " + OrList(e.Option.Choices)
	} else if name := e.Option.Value; name != "" {
		want += ": " + name
	}
	return fmt.Sprintf("option %s requires %s", e.Spelled, want)
}

// Long returns names without those of one letter.
func Long(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(s string) bool { return len(s) < 2 })
}

// DidYouMean returns a hint that lists names, each with prefix in front.
func DidYouMean(prefix string, names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", prefix+n)
	}
	return "did you mean " + OrList(quoted) + "?"
}

// Action returns an action that checks the number of operands with [Env.WantOperands] and then calls f.
func (e *Env) Action(least, most int, f cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := e.WantOperands(c, least, most); err != nil {
			return err
		}
		return f(c)
	}
}

// WantOperands returns a usage error if the number of operands is not between least and most. A negative most
// is no limit.
func (e *Env) WantOperands(c *cli.Context, least, most int) error {
	n := len(e.Operands)
	if n >= least && (most < 0 || n <= most) {
		return nil
	}
	name := c.Command.HelpName
	what := "takes no operands"
	switch usage := c.Command.ArgsUsage; {
	case usage != "" && n < least:
		what = "requires " + usage
	case usage != "":
		what = "takes " + usage
	}
	if n == 0 {
		return WithHint(Usagef("%s %s", name, what), name+" -h")
	}
	return WithHint(Usagef("%s %s, got %d operand%s", name, what, n, term.Plural(n)), name+" -h")
}

// Operand returns the operand with index i, or "" if there are fewer.
func (e *Env) Operand(i int) string {
	if i >= len(e.Operands) {
		return ""
	}
	return e.Operands[i]
}

// SortedKeys returns the keys of m in sorted order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
