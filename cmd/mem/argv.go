package main

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// An argv is a command line put in order. The cli package stops at the first operand and would silently
// take a later option for another one, so it is given the options first and the operands after "--".
type argv struct {
	path     []string     // names of the command and its subcommands, as the table has them
	command  *cli.Command // the innermost of them; nil if no command was named
	global   []string     // options of mem itself, each as --name=value
	local    []string     // options of the command
	operands []string
	help     bool
}

// args returns the line as the cli package wants it, for an app whose only command is named name.
func (a *argv) args(name string) []string {
	line := slices.Concat([]string{"mem"}, a.global, []string{name}, a.local)
	if a.command.SkipFlagParsing {
		return append(line, a.operands...)
	}
	return append(append(line, "--"), a.operands...)
}

// A parser reads a command line from left to right.
type parser struct {
	argv
	globals func() scope                   // the options of mem itself
	find    func(name string) *cli.Command // finds a command by its name; nil if there is none
	names   []string                       // of the commands, to suggest one
	rest    []string
	early   []option // options of a subcommand that stood before its name
	leaf    bool     // no subcommand can follow
}

// normalise puts a command line in order: options may stand anywhere, -n5 is -n 5, -5 is -n 5 where -n
// takes a number, -abc is -a -b -c, --no-x turns x off, a long option may be cut short while it stays
// unique, options of mem may follow the command, and after "--" everything is an operand.
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

// name takes word for a command, a subcommand or the first operand.
func (p *parser) name(word string) error {
	c := p.lookup(word)
	switch {
	case c == nil && p.command == nil:
		return p.unknownCommand(word, p.names)
	case c == nil && p.command.Action == nil:
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
	o, err := p.scope().long(name)
	if err != nil {
		if off, ok := strings.CutPrefix(name, "no-"); ok && !has {
			return p.off(off, name)
		}
		return p.explain(err, "--"+name)
	}
	switch {
	case o.help:
		p.help = true
		return nil
	case has:
		return p.use(o, "--"+o.name, val)
	case !o.needsValue:
		return p.use(o, "--"+o.name, o.implied)
	case len(p.rest) == 0:
		return &missingValue{o, "--" + o.name}
	}
	return p.use(o, "--"+o.name, p.next())
}

// off reads --no-name.
func (p *parser) off(name, whole string) error {
	o, err := p.scope().long(name)
	if err != nil || o.help {
		return p.explain(&unknownOption{}, "--"+whole)
	}
	if o.needsValue {
		return usagef("option --%s takes a value and cannot be turned off", o.name)
	}
	val := "false"
	if o.choices != nil {
		val = "never"
	}
	return p.use(o, "--no-"+o.name, val)
}

// short reads what follows a single dash: switches, the last of which may have its value after it, or a number.
func (p *parser) short(word string) error {
	scope := p.scope()
	if n, ok := scope["n"]; ok && n.number && strings.Trim(word, "0123456789") == "" {
		return p.use(n, "-n", word)
	}
	for i, r := range word {
		letter := string(r)
		o, ok := scope[letter]
		switch {
		case ok && o.help:
			p.help = true
			continue
		case !ok:
			return p.explain(&unknownOption{}, "-"+letter, "--"+word)
		case !o.needsValue:
			if err := p.use(o, "-"+letter, o.implied); err != nil {
				return err
			}
			continue
		}
		val := word[i+len(letter):]
		if val == "" {
			if len(p.rest) == 0 {
				return &missingValue{o, "-" + letter}
			}
			val = p.next()
		}
		return p.use(o, "-"+letter, val)
	}
	return nil
}

// use sets the option, which was written as spelled, to val.
func (p *parser) use(o option, spelled, val string) error {
	if err := o.check(val); err != nil {
		return usagef("option %s cannot be %q: %v", spelled, val, err)
	}
	arg := "--" + o.name + "=" + val
	if o.global {
		p.global = append(p.global, arg)
		return nil
	}
	p.local = append(p.local, arg)
	if !p.leaf {
		p.early = append(p.early, o)
	}
	return nil
}

// end checks what can only be known when the whole line has been read.
func (p *parser) end() error {
	if p.help {
		return nil
	}
	switch {
	case p.command == nil && len(p.operands) > 0:
		return withHint(usagef("there is no command before --"), "mem help")
	case p.command == nil:
		return nil
	case p.command.Action == nil:
		return withHint(usagef("mem %s wants a subcommand: %s", p.commandLine(), orList(subcommands(p.command))),
			"mem "+p.commandLine()+" -h")
	}
	scope := scopeOf(p.command.Flags, false)
	for _, o := range p.early {
		if _, ok := scope[o.name]; !ok {
			return p.explain(&unknownOption{}, "--"+o.name)
		}
	}
	return nil
}

// scope returns the options that may stand here: those of mem, those of the command above them, and while
// a subcommand may still follow, also its options.
func (p *parser) scope() scope {
	s := scope{}
	s.add(p.globals())
	if p.command == nil {
		return s
	}
	if !p.leaf {
		for _, c := range p.command.Subcommands {
			s.add(scopeOf(c.Flags, false))
		}
	}
	s.add(scopeOf(p.command.Flags, false))
	return s
}

func (p *parser) commandLine() string { return strings.Join(p.path, " ") }

func subcommands(c *cli.Command) []string {
	var names []string
	for _, s := range c.Subcommands {
		if !s.Hidden {
			names = append(names, s.Name)
		}
	}
	return names
}

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
		o := optionOf(f)
		o.global = global
		for _, name := range f.Names() {
			s[name] = o
		}
	}
	if global {
		help := option{name: "help", usage: "explain the command", global: true, help: true, implied: "true", check: checkBool}
		s["help"], s["h"] = help, help
	}
	return s
}

func optionOf(f cli.Flag) option {
	o := option{name: f.Names()[0], needsValue: true, check: func(string) error { return nil }}
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
