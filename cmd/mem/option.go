package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// An option is a flag as the parser needs it.
type option struct {
	name       string // the long one
	global     bool
	help       bool
	needsValue bool
	number     bool
	implied    string   // the value of the option without one
	choices    []string // the possible values, if there are few
	meta       string   // what the value is called, such as SESSION
	usage      string   // one line for people
	check      func(string) error
}

// A scope holds options by each of their names.
type scope map[string]option

func (s scope) add(more scope) {
	for name, o := range more {
		s[name] = o
	}
}

// scopeOf describes flags.
func scopeOf(flags []cli.Flag, global bool) scope {
	s := scope{}
	for _, f := range flags {
		names := f.Names() // the cli package makes them anew each time
		o := optionOf(names[0], f)
		o.global = global
		for _, name := range names {
			s[name] = o
		}
	}
	if global {
		help := option{name: "help", usage: "explain the command", global: true, help: true, implied: "true", check: checkBool}
		s["help"], s["h"] = help, help
	}
	return s
}

func optionOf(name string, f cli.Flag) option {
	o := option{name: name, needsValue: true, check: func(string) error { return nil }}
	if d, ok := f.(cli.DocGenerationFlag); ok {
		o.meta, o.usage = placeholder(d.GetUsage())
	}
	switch f := f.(type) {
	case *cli.BoolFlag:
		o.needsValue, o.implied, o.check = false, "true", checkBool
	case *cli.IntFlag, *cli.Int64Flag:
		o.number, o.check = true, checkInt
	case *cli.UintFlag, *cli.Uint64Flag:
		o.number, o.check = true, checkUint
	case *cli.DurationFlag:
		o.check = func(s string) error { _, err := time.ParseDuration(s); return shortly(err, "a time such as 10s") }
	case *cli.Float64Flag:
		o.check = func(s string) error { _, err := strconv.ParseFloat(s, 64); return shortly(err, "a number") }
	case generic:
		o.describe(f.Value)
	}
	return o
}

// describe takes over what a [value] knows of itself.
func (o *option) describe(v cli.Generic) {
	known, ok := v.(interface {
		Check(string) error
		Choices() []string
		Implied() string
	})
	if !ok {
		return
	}
	o.check, o.choices, o.implied = known.Check, known.Choices(), known.Implied()
	o.needsValue = o.implied == ""
}

// long finds an option by its name or by the beginning of one. Switches of one letter have no beginning.
func (s scope) long(name string) (option, error) {
	if o, ok := s[name]; ok {
		return o, nil
	}
	found := map[string]option{}
	for n, o := range s {
		if len(n) > 1 && name != "" && strings.HasPrefix(n, name) {
			found[o.name] = o
		}
	}
	if len(found) == 1 {
		for _, o := range found {
			return o, nil
		}
	}
	if len(found) == 0 {
		return option{}, &unknownOption{}
	}
	return option{}, &unknownOption{candidates: sortedKeys(found)}
}

func checkBool(s string) error {
	_, err := strconv.ParseBool(s)
	return shortly(err, "true or false")
}

func checkInt(s string) error {
	_, err := strconv.ParseInt(s, 0, 64)
	return shortly(err, "a whole number")
}

func checkUint(s string) error {
	_, err := strconv.ParseUint(s, 0, 64)
	return shortly(err, "a whole number, 0 or more")
}

// shortly replaces the words of the standard library by what was wanted.
func shortly(err error, want string) error {
	if err == nil {
		return nil
	}
	return usagef("want %s", want)
}
