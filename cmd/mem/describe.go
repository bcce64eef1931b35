package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/cmdline"
)

// A commandHelp describes one command for help, for --json and for completion.
type commandHelp struct {
	Command     string       `json:"command"`
	Usage       string       `json:"usage"`
	Synopsis    string       `json:"synopsis"`
	Group       string       `json:"group,omitempty"`
	Description string       `json:"description,omitempty"`
	Examples    []example    `json:"examples,omitempty"`
	Subcommands []string     `json:"subcommands,omitempty"`
	Options     []optionHelp `json:"options"`
	Changing    []optionHelp `json:"-"` // of every command that changes something
	Global      []optionHelp `json:"-"` // of every command
	bare        string       // the default subcommand
}

// An optionHelp describes one option.
type optionHelp struct {
	Name    string   `json:"name"`
	Short   string   `json:"short,omitempty"`
	Value   string   `json:"value,omitempty"` // what the value is called; empty if it has none
	Choices []string `json:"choices,omitempty"`
	Usage   string   `json:"usage"`
	maybe   bool     // may be used without its value
}

// spelled returns all forms of the option: "-n, --dry-run", "--color[=WHEN]".
func (o optionHelp) spelled() string {
	s := dashed(o.Name)
	if o.Short != "" {
		s = dashed(o.Short) + ", " + s
	} else if len(o.Name) > 1 {
		s = "    " + s
	}
	switch {
	case o.Value == "":
		return s
	case o.maybe:
		return s + "[=" + o.Value + "]"
	}
	return s + " " + o.Value
}

// briefly returns the shortest form of the option: "-p", "--json".
func (o optionHelp) briefly() string {
	if o.Short != "" {
		return dashed(o.Short)
	}
	return dashed(o.Name)
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// describe returns the help of the command at path.
func describe(e *app.Env, path []string, c *cli.Command) commandHelp {
	d := commandHelp{
		Command: strings.Join(path, " "), Usage: c.Usage, Description: c.Description,
		Examples: examplesOf(path), Subcommands: cmdline.Subcommands(c), Options: optionsHelp(c.Flags),
	}
	row := find(commands(), path[0])
	d.Group = string(row.group)
	own := func(o optionHelp) bool {
		return slices.ContainsFunc(d.Options, func(own optionHelp) bool { return own.Name == o.Name })
	}
	d.Global = withoutShadowed(slices.DeleteFunc(optionsHelp((&app.Options{}).Flags(false)), own), d.Options)
	if row.accepts(path).Writes {
		d.Changing = slices.DeleteFunc(optionsHelp((&app.Options{}).Changing()), own)
	}
	d.Synopsis = "mem " + d.Command
	if len(path) == 1 {
		d.bare = row.bare
	}
	if len(c.Subcommands) > 0 {
		d.Synopsis += " [<subcommand>]"
	}
	if len(c.Flags)+len(d.Changing) > 0 {
		d.Synopsis += " [<options>]"
	}
	if c.ArgsUsage != "" {
		d.Synopsis += " " + c.ArgsUsage
	}
	return d
}

// withoutShadowed returns options without the letters that mean something else in own.
func withoutShadowed(options, own []optionHelp) (out []optionHelp) {
	for _, o := range options {
		taken := func(letter string) bool {
			return slices.ContainsFunc(own, func(x optionHelp) bool { return x.Short == letter || x.Name == letter })
		}
		if o.Short != "" && taken(o.Short) {
			o.Short = ""
		}
		if len(o.Name) > 1 || !taken(o.Name) {
			out = append(out, o)
		}
	}
	return out
}

// printEverything prints the help of all commands that are not hidden.
func printEverything(e *app.Env) error {
	var all []commandHelp
	for _, row := range commands() {
		if row.group != groupHidden {
			all = append(all, describeAll(e, []string{row.name}, row.build(e))...)
		}
	}
	return e.PrintJSON("help", nil, "commands", all, "globalOptions", optionsHelp((&app.Options{}).Flags(true)), "topics", topics())
}

func describeAll(e *app.Env, path []string, c *cli.Command) []commandHelp {
	list := []commandHelp{describe(e, path, c)}
	for _, s := range c.Subcommands {
		if !s.Hidden {
			list = append(list, describeAll(e, append(slices.Clone(path), s.Name), s)...)
		}
	}
	return list
}

func optionsHelp(list []cli.Flag) []optionHelp {
	out := []optionHelp{}
	for _, f := range list {
		k, names := app.KindOf(f), f.Names()
		h := optionHelp{
			Name: names[0], Value: k.Value, Usage: k.Usage, Choices: k.Choices,
			maybe: k.Implied != "" && k.Choices != nil,
		}
		if i := slices.IndexFunc(names[1:], func(n string) bool { return len(n) == 1 }); i >= 0 {
			h.Short = names[1+i]
		}
		if h.Value == "" && k.NeedsValue() {
			h.Value = "VALUE"
		}
		out = append(out, h)
	}
	return out
}
