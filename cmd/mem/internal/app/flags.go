package app

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// BoolFlag returns a switch. In all flags of this package names are separated by commas: first the name, then its
// aliases. Back quotes in usage enclose the name of the value. The destination keeps its value until the flag
// is set.
func BoolFlag(dst *bool, names, usage string) *cli.BoolFlag {
	name, aliases := split(names)
	return &cli.BoolFlag{Name: name, Aliases: aliases, Usage: usage, Value: *dst, Destination: dst}
}

// StringFlag returns a flag that accepts any text.
func StringFlag(dst *string, names, usage string) *cli.StringFlag {
	name, aliases := split(names)
	return &cli.StringFlag{Name: name, Aliases: aliases, Usage: usage, Value: *dst, Destination: dst}
}

// IntFlag returns a flag that accepts a whole number, which may be written as 10, 0xa or 1_000.
func IntFlag(dst *int, names, usage string) *cli.IntFlag {
	name, aliases := split(names)
	return &cli.IntFlag{Name: name, Aliases: aliases, Usage: usage, Value: *dst, Destination: dst}
}

// A FlagValue is a flag whose text is parsed by a function.
type FlagValue struct {
	cli.GenericFlag
	choices []string
	implied string
}

// Optional allows the flag to stand without a value, which then means text.
func (v *FlagValue) Optional(text string) *FlagValue {
	v.implied = text
	return v
}

// ParsedFlag returns a flag that parse reads into dst.
func ParsedFlag[T any](dst *T, names, usage string, parse func(string) (T, error)) *FlagValue {
	return generic(names, usage, func(text string, keep bool) error {
		x, err := parse(text)
		if err == nil && keep {
			*dst = x
		}
		return err
	})
}

// ChoiceFlag returns a flag that accepts one of a few words.
func ChoiceFlag(dst *string, names, usage string, choices ...string) *FlagValue {
	v := ParsedFlag(dst, names, usage, func(text string) (string, error) {
		if !slices.Contains(choices, text) {
			return "", fmt.Errorf("want %s", OrList(choices))
		}
		return text, nil
	})
	v.choices = choices
	return v
}

// RepeatedFlag returns a flag that appends to dst each time. A comma is part of the value, surrounding white space is not.
func RepeatedFlag(dst *[]string, names, usage string) *FlagValue {
	return generic(names, usage, func(text string, keep bool) error {
		if keep {
			*dst = append(*dst, strings.TrimSpace(text))
		}
		return nil
	})
}

func generic(names, usage string, read func(text string, keep bool) error) *FlagValue {
	name, aliases := split(names)
	return &FlagValue{GenericFlag: cli.GenericFlag{Name: name, Aliases: aliases, Usage: usage, Value: &reader{read: read}}}
}

func split(names string) (name string, aliases []string) {
	list := strings.Split(names, ",")
	return list[0], list[1:]
}

// A reader implements cli.Generic.
type reader struct {
	read func(text string, keep bool) error
	text string
}

// copied is the value that the aliases of a flag receive after it is set. No argument of a program contains a
// zero byte.
const copied = "\x00"

// Set reads text into the destination.
func (r *reader) Set(text string) error {
	if text == copied {
		return nil
	}
	r.text = text
	return r.read(text, true)
}

// String returns the text that was set last.
func (r *reader) String() string { return r.text }

// Serialize implements cli.Serializer: urfave/cli sets all aliases of a flag that is set. Here they share the
// destination.
func (r *reader) Serialize() string { return copied }

// A FlagKind says how a flag is written on the command line.
type FlagKind struct {
	Value   string   // the name of the value, such as SESSION; "" if it has none
	Usage   string   // one line, without back quotes
	Choices []string // the accepted values, if there are few
	Implied string   // the value of a flag that stands without one; "" if it requires a value
	Number  bool     // the value is a whole number
	Check   func(text string) error
}

// NeedsValue reports whether the flag cannot stand without a value.
func (k FlagKind) NeedsValue() bool { return k.Implied == "" }

// KindOf returns how f is written. Check tells what is wrong with a value before urfave/cli sets it: its own
// errors name neither the accepted values nor the spelling that the user typed.
func KindOf(f cli.Flag) FlagKind {
	k := FlagKind{Check: func(string) error { return nil }}
	if d, ok := f.(cli.DocGenerationFlag); ok {
		k.Value, k.Usage = placeholder(d.GetUsage())
	}
	switch f := f.(type) {
	case *cli.BoolFlag:
		k.Implied, k.Check = "true", checkBool
	case *cli.IntFlag:
		k.Number, k.Check = true, checkInt
	case *FlagValue:
		k.Choices, k.Implied = f.choices, f.implied
		k.Check = func(text string) error { return f.Value.(*reader).read(text, false) }
	}
	return k
}

func checkBool(text string) error {
	if _, err := strconv.ParseBool(text); err != nil {
		return errors.New("want true or false")
	}
	return nil
}

func checkInt(text string) error {
	if _, err := strconv.ParseInt(text, 0, strconv.IntSize); err != nil {
		return errors.New("want a whole number")
	}
	return nil
}

func placeholder(usage string) (value, plain string) {
	before, rest, _ := strings.Cut(usage, "`")
	value, after, ok := strings.Cut(rest, "`")
	if !ok {
		return "", usage
	}
	return value, before + value + after
}

// OrList writes "a, b or c".
func OrList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
