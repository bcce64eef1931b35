// Package cli describes commands and their options. It reads no command line, prints nothing and needs nothing to be set up
// when the program starts: every start pays for what is.
package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Command is what can be named on a command line: a command or one of its subcommands.
type Command struct {
	Name        string
	Aliases     []string // names that do as well
	Usage       string   // one line for people
	ArgsUsage   string   // the operands, such as "<session> [<dir>]"; "" if there are none
	Description string   // more lines for people
	Flags       []*Flag
	Commands    []*Command                            // subcommands
	Action      func(context.Context, *Command) error // nil if a subcommand has to be named
	Hidden      bool                                  // help and completion do not name it
	RawOperands bool                                  // all that follows the name is an operand, also what looks like an option
}

// HasName reports whether name is the name of c or one of its aliases.
func (c *Command) HasName(name string) bool {
	return c.Name == name || slices.Contains(c.Aliases, name)
}

// IsSet reports whether the option called name was set.
func (c *Command) IsSet(name string) bool {
	f := Find(c.Flags, name)
	return f != nil && f.IsSet()
}

// Find returns the flag of that name, nil if there is none.
func Find(flags []*Flag, name string) *Flag {
	i := slices.IndexFunc(flags, func(f *Flag) bool { return f.Name == name || slices.Contains(f.Aliases, name) })
	if i < 0 {
		return nil
	}
	return flags[i]
}

// A Flag is an option. Until it is set its destination holds what it held before.
type Flag struct {
	Name    string   // without dashes
	Aliases []string // names that do as well
	Usage   string   // one line for people, in which back quotes stand around what the value is called
	Choices []string // the possible values, if there are few
	Implied string   // the value of the option without one; "" if it needs one
	Number  bool     // the value is a whole number

	read  func(text string, keep bool) error
	isSet bool
}

// Names returns the name of f and its aliases.
func (f *Flag) Names() []string { return append([]string{f.Name}, f.Aliases...) }

// NeedsValue reports whether f cannot stand without a value.
func (f *Flag) NeedsValue() bool { return f.Implied == "" }

// Explained returns what the value is called, such as SESSION, "" if it has no name, and the line for people without back quotes.
func (f *Flag) Explained() (value, usage string) {
	before, rest, _ := strings.Cut(f.Usage, "`")
	value, after, ok := strings.Cut(rest, "`")
	if !ok {
		return "", f.Usage
	}
	return value, before + value + after
}

// Check says what is wrong with text as a value, without setting anything.
func (f *Flag) Check(text string) error { return f.read(text, false) }

// Set sets the destination to what text says.
func (f *Flag) Set(text string) error {
	if err := f.read(text, true); err != nil {
		return err
	}
	f.isSet = true
	return nil
}

// IsSet reports whether f was set.
func (f *Flag) IsSet() bool { return f.isSet }

// Optional lets the option stand without a value and then mean text.
func (f *Flag) Optional(text string) *Flag {
	f.Implied = text
	return f
}

// Parsed returns an option that parse reads into dst. Names are separated by commas, the first one is the name and the others are
// its aliases.
func Parsed[T any](dst *T, names, usage string, parse func(string) (T, error)) *Flag {
	name := strings.Split(names, ",")
	return &Flag{Name: name[0], Aliases: name[1:], Usage: usage, read: func(text string, keep bool) error {
		x, err := parse(text)
		if err == nil && keep {
			*dst = x
		}
		return err
	}}
}

// Bool returns a switch.
func Bool(dst *bool, names, usage string) *Flag {
	return Parsed(dst, names, usage, parseBool).Optional("true")
}

func parseBool(text string) (bool, error) {
	b, err := strconv.ParseBool(text)
	if err != nil {
		return false, errors.New("want true or false")
	}
	return b, nil
}

// String returns an option that takes any text.
func String(dst *string, names, usage string) *Flag {
	return Parsed(dst, names, usage, func(text string) (string, error) { return text, nil })
}

// Int returns an option that takes a whole number, which may be written as 10, 0xa or 1_000.
func Int(dst *int, names, usage string) *Flag {
	f := Parsed(dst, names, usage, parseInt)
	f.Number = true
	return f
}

func parseInt(text string) (int, error) {
	n, err := strconv.ParseInt(text, 0, strconv.IntSize)
	if err != nil {
		return 0, errors.New("want a whole number")
	}
	return int(n), nil
}

// Choice returns an option that takes one of a few words.
func Choice(dst *string, names, usage string, choices ...string) *Flag {
	f := Parsed(dst, names, usage, func(text string) (string, error) {
		if !slices.Contains(choices, text) {
			return "", fmt.Errorf("want %s", OrList(choices))
		}
		return text, nil
	})
	f.Choices = choices
	return f
}

// Repeated returns an option that adds to dst each time. A comma is part of a value, white space around it is not.
func Repeated(dst *[]string, names, usage string) *Flag {
	name := strings.Split(names, ",")
	return &Flag{Name: name[0], Aliases: name[1:], Usage: usage, read: func(text string, keep bool) error {
		if keep {
			*dst = append(*dst, strings.TrimSpace(text))
		}
		return nil
	}}
}

// OrList writes "a, b or c".
func OrList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
