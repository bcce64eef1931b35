package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// The options that every command takes.
type options struct {
	dir         string
	memDir      string
	project     string
	allProjects bool
	set         repeated
	quiet       bool
	verbose     bool
	noPager     bool
	color       string
	json        bool
	dryRun      bool
	yes         bool
	lockTimeout time.Duration // negative: as the settings say
}

// flags returns the global options. Those of a command that changes nothing lack -n and -y.
func (o *options) flags(writes bool) []cli.Flag {
	o.lockTimeout = -1
	flags := []cli.Flag{
		&cli.StringFlag{Name: "C", Usage: "run as if started in `DIR`", Destination: &o.dir},
		&cli.StringFlag{Name: "mem-dir", Usage: "use the memory in `DIR`", Destination: &o.memDir},
		&cli.StringFlag{Name: "project", Aliases: []string{"p"}, Usage: "work on this `PROJECT`", Destination: &o.project},
		&cli.BoolFlag{Name: "all-projects", Usage: "work on every project", Destination: &o.allProjects},
		repeatedFlag(&o.set, "c", "use another setting in this run: `KEY=VALUE`"),
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print answers and errors, not what was done", Destination: &o.quiet},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "print more", Destination: &o.verbose},
		&cli.BoolFlag{Name: "no-pager", Usage: "do not start a pager", Destination: &o.noPager},
		choiceFlag(&o.color, "color", "use colour: `WHEN` is auto, always or never", "auto", "always", "never").optional("always"),
		&cli.BoolFlag{Name: "json", Usage: "print one JSON object", Destination: &o.json},
		parsedFlag(&o.lockTimeout, "lock-timeout", "wait `TIME` for another command to finish writing", parseWait),
	}
	if writes {
		flags = append(flags,
			&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "say what would be done and do nothing", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask", Destination: &o.yes})
	}
	return flags
}

// globalScope describes the global options to the parser, which learns of each option only when one is used.
func globalScope() scope { return scopeOf((&options{}).flags(true), true) }

// parseWait reads a time such as 500ms or 10s; a bare number is seconds.
func parseWait(s string) (time.Duration, error) {
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("want a time such as 500ms, 10s or 2m")
	}
	return d, nil
}

// A value is what an option of any type is set to. Its parse function both checks and reads it.
type value[T any] struct {
	dst     *T
	parse   func(string) (T, error)
	text    string
	choices []string
	implied string // the value of the option without one; "" if it needs one
}

// Set reads s into the option's destination.
func (v *value[T]) Set(s string) error {
	x, err := v.parse(s)
	if err != nil {
		return err
	}
	*v.dst, v.text = x, s
	return nil
}

// String returns the text that was set last.
func (v *value[T]) String() string { return v.text }

// Check says what is wrong with s, without setting anything.
func (v *value[T]) Check(s string) error {
	_, err := v.parse(s)
	return err
}

// Choices returns the possible values, if there are few.
func (v *value[T]) Choices() []string { return v.choices }

// Implied returns the value that the option has without one, "" if it needs one.
func (v *value[T]) Implied() string { return v.implied }

func (v *value[T]) imply(s string) { v.implied = s }

// A generic is a flag with a [value].
type generic struct{ *cli.GenericFlag }

// optional lets the option stand without a value and then mean s.
func (g generic) optional(s string) generic {
	g.Value.(interface{ imply(string) }).imply(s)
	return g
}

// parsedFlag returns an option that parse reads into dst. Names are separated by commas, the first one is long.
func parsedFlag[T any](dst *T, names, usage string, parse func(string) (T, error)) generic {
	name := strings.Split(names, ",")
	return generic{&cli.GenericFlag{Name: name[0], Aliases: name[1:], Usage: usage, Value: &value[T]{dst: dst, parse: parse}}}
}

// repeated is what an option may be set to more than once. A comma is part of a value.
type repeated []string

// Set adds a value.
func (r *repeated) Set(s string) error {
	*r = append(*r, strings.TrimSpace(s))
	return nil
}

// String returns the values for people.
func (r *repeated) String() string { return strings.Join(*r, " ") }

// repeatedFlag returns an option that adds to dst each time. Names are separated by commas, the first one is long.
func repeatedFlag(dst *repeated, names, usage string) cli.Flag {
	name := strings.Split(names, ",")
	return &cli.GenericFlag{Name: name[0], Aliases: name[1:], Usage: usage, Value: dst}
}

// choiceFlag returns an option that takes one of a few words.
func choiceFlag(dst *string, names, usage string, choices ...string) generic {
	g := parsedFlag(dst, names, usage, func(s string) (string, error) {
		if !slices.Contains(choices, s) {
			return "", fmt.Errorf("want %s", orList(choices))
		}
		return s, nil
	})
	g.Value.(*value[string]).choices = choices
	return g
}

// orList writes "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
