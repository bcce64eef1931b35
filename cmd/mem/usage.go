package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
)

// A usageError is a command line that makes no sense. The exit status is 129.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// An unknownOption is an option that is not there, or a beginning that several options share.
type unknownOption struct{ candidates []string }

func (e *unknownOption) Error() string { return "unknown option" }

// A missingValue is an option at the end of a line that should have its value after it.
type missingValue struct {
	option  option
	spelled string
}

func (e *missingValue) Error() string {
	want := "a value"
	if e.option.Choices != nil {
		want += ": " + cli.OrList(e.option.Choices)
	} else if name, _ := e.option.Explained(); name != "" {
		want += ": " + name
	}
	return fmt.Sprintf("option %s wants %s", e.spelled, want)
}

// explain turns err about the option spelled into words, with what may have been meant. Other spellings
// of it are tried first.
func (p *parser) explain(err error, spelled string, others ...string) error {
	unknown, ok := err.(*unknownOption)
	if !ok {
		return err
	}
	line := strings.TrimSpace("mem " + p.commandLine())
	if len(unknown.candidates) > 0 {
		for i, c := range unknown.candidates {
			unknown.candidates[i] = "--" + c
		}
		return withHint(usagef("option %s is ambiguous: %s", spelled, cli.OrList(unknown.candidates)), line+" -h")
	}
	scope := p.scope()
	known := sortedKeys(scope)
	for _, s := range append(others, spelled) {
		if name := strings.TrimLeft(s, "-"); len(name) > 2 {
			if _, ok := scope[name]; ok && s != spelled {
				return withHint(usagef("%s has no option %s", line, spelled), fmt.Sprintf("did you mean %q?", s))
			}
			if near := suggest(name, long(known)); len(near) > 0 {
				return withHint(usagef("%s has no option %s", line, spelled), didYouMean("--", near))
			}
		}
	}
	if p.command != nil && p.command.ArgsUsage != "" {
		return withHint(usagef("%s has no option %s", line, spelled), line+" -h", fmt.Sprintf("%s -- %s if it is an operand", line, spelled))
	}
	return withHint(usagef("%s has no option %s", line, spelled), line+" -h")
}

// unknownCommand says that word is no command, with what may have been meant.
func (p *parser) unknownCommand(word string, names []string) error {
	line := strings.TrimSpace("mem " + p.commandLine())
	err := usagef("%q is not a %s command", word, line)
	if p.command == nil && word == "link" { // as other programs call it
		return withHint(err, "mem project share FROM WITH lets compositions take text of another project along", "mem project link PROJECT [DIR] lets a directory belong to a project")
	}
	if near := suggest(word, names); len(near) > 0 {
		return withHint(err, didYouMean(line+" ", near))
	}
	if p.command != nil {
		return withHint(err, line+" -h")
	}
	return withHint(err, "mem help")
}

// long drops the switches of one letter.
func long(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(s string) bool { return len(s) < 2 })
}

func didYouMean(prefix string, names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", prefix+n)
	}
	return "did you mean " + cli.OrList(quoted) + "?"
}

// wantOperands checks how many operands c has and says what is wrong in the words of its usage line.
// A most below 0 is no limit.
func (e *Env) wantOperands(c *cli.Command, least, most int) error {
	n := len(e.operands)
	if n >= least && (most < 0 || n <= most) {
		return nil
	}
	name := "mem " + c.Name
	what := "takes no operands"
	if c.ArgsUsage != "" {
		what = "wants " + c.ArgsUsage
	}
	if n == 0 {
		return withHint(usagef("%s %s", name, what), name+" -h")
	}
	return withHint(usagef("%s %s, got %d operand%s", name, what, n, plural(n)), name+" -h")
}

// operand returns the operand i, which counts from 0, or "" if there are fewer.
func (e *Env) operand(i int) string {
	if i >= len(e.operands) {
		return ""
	}
	return e.operands[i]
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
