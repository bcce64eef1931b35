// Package cmdline reads a command line and runs its command through urfave/cli. [Parser] puts the words into the order
// that the library expects; [Run] passes them to it.
package cmdline

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// A Parser reads a command line from left to right.
type Parser struct {
	Globals func() app.OptionSet           // the options of mem itself
	Find    func(name string) *cli.Command // finds a command by its name; nil if there is none
	Names   func() []string                // of the commands, to suggest one
	Bare    func() string                  // the default subcommand; "" if there is none; nil if no command has one

	line  Line
	rest  []string
	early []app.Option // options of a subcommand that stood before its name
	leaf  bool         // no subcommand can follow
}

// Parse reorders a command line for urfave/cli: options may be anywhere, -n5 means -n 5, -5 means -n 5 if -n
// is a number, -abc means -a -b -c, --no-x turns x off, global options may follow the command, and everything after "--" is an operand. With an error, the line is the part that was read.
func (p *Parser) Parse(words []string) (*Line, error) {
	p.rest = words
	for len(p.rest) > 0 {
		if err := p.step(); err != nil {
			return &p.line, err
		}
	}
	return &p.line, p.end()
}

// ParseStart reads the words before the one to complete and ignores errors in them. It returns the option whose value
// the next word is, nil if it is no value.
func (p *Parser) ParseStart(words []string) (*Line, *app.Option) {
	p.rest = words
	for len(p.rest) > 0 {
		if missing, ok := p.step().(*app.MissingValue); ok {
			return &p.line, &missing.Option
		}
	}
	return &p.line, nil
}

// step reads the next word, and the value of an option with it.
func (p *Parser) step() error {
	word := p.shift()
	switch {
	case word == "--":
		p.line.Operands = append(p.line.Operands, p.rest...)
		p.rest, p.leaf = nil, true
		return nil
	case strings.HasPrefix(word, "--"):
		return p.long(word[2:])
	case len(word) > 1 && word[0] == '-':
		return p.short(word[1:])
	case !p.leaf:
		return p.name(word)
	}
	p.line.Operands = append(p.line.Operands, word)
	return nil
}

func (p *Parser) shift() string {
	word := p.rest[0]
	p.rest = p.rest[1:]
	return word
}

// name reads word as a command, a subcommand or the first operand.
func (p *Parser) name(word string) error {
	c := p.lookup(word)
	switch {
	case c == nil && p.line.Command == nil:
		return p.unknownCommand(word, p.Names())
	case c == nil && p.wantsSubcommand():
		return p.unknownCommand(word, Subcommands(p.line.Command))
	case c == nil:
		p.leaf = true
		p.line.Operands = append(p.line.Operands, word)
		return nil
	}
	p.line.Command = c
	p.line.Path = append(p.line.Path, c.Name)
	p.leaf = len(c.Subcommands) == 0
	if c.SkipFlagParsing {
		p.line.Operands, p.rest = p.rest, nil
	}
	return nil
}

// wantsSubcommand reports whether the command takes no operand.
func (p *Parser) wantsSubcommand() bool {
	c := p.line.Command
	return c.Action == nil || len(c.Subcommands) > 0 && c.ArgsUsage == ""
}

func (p *Parser) lookup(word string) *cli.Command {
	if p.line.Command == nil {
		return p.Find(word)
	}
	i := slices.IndexFunc(p.line.Command.Subcommands, func(c *cli.Command) bool { return c.HasName(word) })
	if i < 0 {
		return nil
	}
	return p.line.Command.Subcommands[i]
}

// long reads --name, --name=value, --name value or --no-name.
func (p *Parser) long(word string) error {
	name, val, has := strings.Cut(word, "=")
	if name == "version" && p.line.Command == nil && !has {
		return p.name(name)
	}
	o, ok := p.Scope().Long(name)
	if !ok {
		if off, negated := strings.CutPrefix(name, "no-"); negated && !has {
			return p.off(off, name)
		}
		return p.unknownOption("--" + name)
	}
	switch {
	case o.Help:
		p.line.Help = true
		return nil
	case has:
		return p.use(o, "--"+o.Name, val)
	case !o.NeedsValue():
		return p.use(o, "--"+o.Name, o.Implied)
	case len(p.rest) == 0:
		return &app.MissingValue{Option: o, Spelled: "--" + o.Name}
	}
	return p.use(o, "--"+o.Name, p.shift())
}

// off reads --no-name.
func (p *Parser) off(name, whole string) error {
	o, ok := p.Scope().Long(name)
	if !ok || o.Help {
		return p.unknownOption("--" + whole)
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
func (p *Parser) short(word string) error {
	scope := p.Scope()
	_, named := scope[word] // as -1 of mem ls
	if n, ok := scope["n"]; ok && n.Number && !named && strings.Trim(word, "0123456789") == "" {
		return p.use(n, "-n", word)
	}
	for i, r := range word {
		letter := string(r)
		o, ok := scope[letter]
		switch {
		case ok && o.Help:
			p.line.Help = true
			continue
		case !ok:
			return p.unknownOption("-"+letter, "--"+word)
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
			val = p.shift()
		}
		return p.use(o, "-"+letter, val)
	}
	return nil
}

// use sets the option to val; spelled is its form on the command line.
func (p *Parser) use(o app.Option, spelled, val string) error {
	if err := o.Check(val); err != nil {
		return app.Usagef("option %s cannot be %q: %v", spelled, val, err)
	}
	arg := "--" + o.Name + "=" + val
	if o.Global {
		p.line.Global = append(p.line.Global, arg)
		return nil
	}
	p.line.Local = append(p.line.Local, arg)
	if !p.leaf {
		p.early = append(p.early, o)
	}
	return nil
}

// end makes the checks that need the whole line.
func (p *Parser) end() error {
	if p.line.Help {
		return nil
	}
	p.alone()
	switch {
	case p.line.Command == nil && len(p.line.Operands) > 0:
		return app.WithHint(app.Usagef("there is no command before --"), "mem help")
	case p.line.Command == nil:
		return nil
	}
	scope := app.OptionsOf(p.line.Command.Flags, false)
	for _, o := range p.early {
		if _, ok := scope[o.Name]; !ok {
			return p.unknownOption("--" + o.Name)
		}
	}
	return nil
}

// alone adds the default subcommand: mem keepit means mem keepit list.
func (p *Parser) alone() {
	if p.line.Command == nil || p.line.Command.Action != nil || p.Bare == nil {
		return
	}
	if c := p.lookup(p.Bare()); c != nil {
		p.line.Command, p.line.Path = c, append(p.line.Path, c.Name)
	}
}

// Next returns the subcommands of which one may still follow.
func (p *Parser) Next() []*cli.Command {
	if p.line.Command == nil || p.leaf {
		return nil
	}
	return p.line.Command.Subcommands
}

// Scope returns the options valid at this point: the global ones, those of the command, and those of its
// subcommands while one may still follow.
func (p *Parser) Scope() app.OptionSet {
	s := app.OptionSet{}
	s.Add(p.Globals())
	if p.line.Command == nil {
		return s
	}
	for _, c := range p.Next() {
		s.Add(app.OptionsOf(c.Flags, false))
	}
	s.Add(app.OptionsOf(p.line.Command.Flags, false))
	return s
}

// Subcommands returns the names of the subcommands that help lists.
func Subcommands(c *cli.Command) []string {
	var names []string
	for _, s := range c.Subcommands {
		if !s.Hidden {
			names = append(names, s.Name)
		}
	}
	return names
}
