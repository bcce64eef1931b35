package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// An argv is a normalised command line.
type argv struct {
	path     []string     // names of the command and its subcommands, as the table has them
	command  *cli.Command // the innermost of them; nil if no command was named
	global   []string     // options of mem itself, each as --name=value
	local    []string     // options of the command
	operands []string
	help     bool
}

// A parser reads a command line from left to right.
type parser struct {
	argv
	globals func() app.OptionSet           // the options of mem itself
	find    func(name string) *cli.Command // finds a command by its name; nil if there is none
	names   func() []string                // of the commands, to suggest one
	bare    func() string                  // the default subcommand; "" if there is none
	rest    []string
	early   []app.Option // options of a subcommand that stood before its name
	leaf    bool         // no subcommand can follow
}

// normalise reorders a command line for urfave/cli: options may be anywhere, -n5 means -n 5, -5 means -n 5 if -n
// is a number, -abc means -a -b -c, --no-x turns x off, a long option may be a unique prefix, global options may
// follow the command, and everything after "--" is an operand.
func (p *parser) normalise(line []string) (*argv, error) {
	p.rest = line
	for len(p.rest) > 0 {
		if err := p.step(); err != nil {
			return &p.argv, err
		}
	}
	return &p.argv, p.end()
}

// step reads the next word, and the value of an option with it.
func (p *parser) step() error {
	word := p.next()
	switch {
	case word == "--":
		p.operands = append(p.operands, p.rest...)
		p.rest, p.leaf = nil, true
		return nil
	case strings.HasPrefix(word, "--"):
		return p.long(word[2:])
	case len(word) > 1 && word[0] == '-':
		return p.short(word[1:])
	case !p.leaf:
		return p.name(word)
	}
	p.operands = append(p.operands, word)
	return nil
}

func (p *parser) next() string {
	word := p.rest[0]
	p.rest = p.rest[1:]
	return word
}

// name reads word as a command, a subcommand or the first operand.
func (p *parser) name(word string) error {
	c := p.lookup(word)
	switch {
	case c == nil && p.command == nil:
		return p.unknownCommand(word, p.names())
	case c == nil && (p.command.Action == nil || len(p.command.Subcommands) > 0 && p.command.ArgsUsage == ""):
		return p.unknownCommand(word, subcommands(p.command))
	case c == nil:
		p.leaf = true
		p.operands = append(p.operands, word)
		return nil
	}
	p.command = c
	p.path = append(p.path, c.Name)
	p.leaf = len(c.Subcommands) == 0
	if c.SkipFlagParsing {
		p.operands, p.rest = p.rest, nil
	}
	return nil
}

func (p *parser) lookup(word string) *cli.Command {
	if p.command == nil {
		return p.find(word)
	}
	i := slices.IndexFunc(p.command.Subcommands, func(c *cli.Command) bool { return c.HasName(word) })
	if i < 0 {
		return nil
	}
	return p.command.Subcommands[i]
}

// long reads --name, --name=value, --name value or --no-name.
func (p *parser) long(word string) error {
	name, val, has := strings.Cut(word, "=")
	if name == "version" && p.command == nil && !has {
		return p.name(name)
	}
	o, err := p.scope().Long(name)
	if err != nil {
		if off, ok := strings.CutPrefix(name, "no-"); ok && !has {
			return p.off(off, name)
		}
		return p.explain(err, "--"+name)
	}
	switch {
	case o.Help:
		p.help = true
		return nil
	case has:
		return p.use(o, "--"+o.Name, val)
	case !o.NeedsValue():
		return p.use(o, "--"+o.Name, o.Implied)
	case len(p.rest) == 0:
		return &app.MissingValue{Option: o, Spelled: "--" + o.Name}
	}
	return p.use(o, "--"+o.Name, p.next())
}

// off reads --no-name.
func (p *parser) off(name, whole string) error {
	o, err := p.scope().Long(name)
	if err != nil || o.Help {
		return p.explain(&app.UnknownOption{}, "--"+whole)
	}
	if o.NeedsValue() {
		return app.Usagef("option --%s takes a value and cannot be turned off", o.Name)
	}
	val := "false"
	if o.Choices != nil {
		val = "never"
	}
	return p.use(o, "--no-"+o.Name, val)
}

// short reads the letters after a single dash: switches (the last one may have a value) or a number.
func (p *parser) short(word string) error {
	scope := p.scope()
	if n, ok := scope["n"]; ok && n.Number && strings.Trim(word, "0123456789") == "" {
		return p.use(n, "-n", word)
	}
	for i, r := range word {
		letter := string(r)
		o, ok := scope[letter]
		switch {
		case ok && o.Help:
			p.help = true
			continue
		case !ok:
			return p.explain(&app.UnknownOption{}, "-"+letter, "--"+word)
		case !o.NeedsValue():
			if err := p.use(o, "-"+letter, o.Implied); err != nil {
				return err
			}
			continue
		}
		val := word[i+len(letter):]
		if val == "" {
			if len(p.rest) == 0 {
				return &app.MissingValue{Option: o, Spelled: "-" + letter}
			}
			val = p.next()
		}
		return p.use(o, "-"+letter, val)
	}
	return nil
}

// use sets the option to val; spelled is its form on the command line.
func (p *parser) use(o app.Option, spelled, val string) error {
	if err := o.Check(val); err != nil {
		return app.Usagef("option %s cannot be %q: %v", spelled, val, err)
	}
	arg := "--" + o.Name + "=" + val
	if o.Global {
		p.global = append(p.global, arg)
		return nil
	}
	p.local = append(p.local, arg)
	if !p.leaf {
		p.early = append(p.early, o)
	}
	return nil
}

// end makes the checks that need the whole line.
func (p *parser) end() error {
	if p.help {
		return nil
	}
	p.alone()
	switch {
	case p.command == nil && len(p.operands) > 0:
		return app.WithHint(app.Usagef("there is no command before --"), "mem help")
	case p.command == nil:
		return nil
	}
	scope := app.OptionsOf(p.command.Flags, false)
	for _, o := range p.early {
		if _, ok := scope[o.Name]; !ok {
			return p.explain(&app.UnknownOption{}, "--"+o.Name)
		}
	}
	return nil
}

// alone adds the default subcommand: mem keepit means mem keepit list.
func (p *parser) alone() {
	if p.command == nil || p.command.Action != nil || p.bare == nil {
		return
	}
	if c := p.lookup(p.bare()); c != nil {
		p.command, p.path = c, append(p.path, c.Name)
	}
}

// scope returns the options valid at this point: the global ones, those of the command, and those of its
// subcommands while one may still follow.
func (p *parser) scope() app.OptionSet {
	s := app.OptionSet{}
	s.Add(p.globals())
	if p.command == nil {
		return s
	}
	if !p.leaf {
		for _, c := range p.command.Subcommands {
			s.Add(app.OptionsOf(c.Flags, false))
		}
	}
	s.Add(app.OptionsOf(p.command.Flags, false))
	return s
}

func (a *argv) commandLine() string { return strings.Join(a.path, " ") }

func subcommands(c *cli.Command) []string {
	var names []string
	for _, s := range c.Subcommands {
		if !s.Hidden {
			names = append(names, s.Name)
		}
	}
	return names
}
