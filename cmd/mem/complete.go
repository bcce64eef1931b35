package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/refs/config"
)

// A candidate is one word that could stand next, with a few words about it.
type candidate struct{ value, about string }

// A completer finds what could stand for a placeholder of a usage line. It need not filter by what was
// typed, which is given so that it can save work.
type completer func(e *Env, ctx context.Context, typed string) []candidate

// completers maps the placeholders of operands and of option values, in lower case, to what may stand
// there. A placeholder that is not here completes file names if it is one of filePlaceholders, else nothing.
func completers() map[string]completer {
	return map[string]completer{
		"command": completeCommand,
		"session": completeSession,
		"concept": completeConcept,
		"rule":    completeRule,
		"fact":    completeFact,

		"exchange":  completeExchange,
		"candidate": completeCandidate,

		"rev":     completeRev,
		"object":  completeRev,
		"project": completeProject,
		"topic":   completeTopic,
		"key":     completeKey,
		"shell":   func(*Env, context.Context, string) []candidate { return words(shells()) },
	}
}

func filePlaceholders() []string { return []string{"file", "dir", "path"} }

// complete is the hidden command that the completion scripts call with the words after "mem" up to the
// cursor; the last one is being typed. It prints one candidate a line, with a tab and a text after it, or
// ":file" where the shell should complete file names. It never fails: there is nobody to tell.
func (e *Env) complete() *cli.Command {
	return &cli.Command{
		Name:        "__complete",
		Usage:       "print completions for a command line",
		RawOperands: true,
		Action: func(ctx context.Context, _ *cli.Command) error {
			e.runComplete(ctx, e.operands)
			return nil
		},
	}
}

func (e *Env) runComplete(ctx context.Context, line []string) {
	if len(line) > 0 && line[0] == "--" {
		line = line[1:]
	}
	if len(line) == 0 {
		line = []string{""}
	}
	last := len(line) - 1
	for _, c := range e.candidates(ctx, line[:last], line[last]) {
		if c.value != ":file" && !strings.HasPrefix(c.value, line[last]) {
			continue
		}
		e.printf("%s", sanitizeLine(c.value))
		if c.about != "" {
			e.printf("\t%s", sanitizeLine(c.about))
		}
		e.printf("\n")
	}
}

// candidates returns what could stand at the end of a line whose words so far are before.
func (e *Env) candidates(ctx context.Context, before []string, typed string) []candidate {
	table := commands()
	p := parser{globals: globalScope, names: func() []string { return visible(table) }, find: func(name string) *cli.Command {
		i := slices.IndexFunc(table, func(c command) bool { return c.name == name || c.alias == name })
		if i < 0 {
			return nil
		}
		return table[i].make(e)
	}}
	p.rest = before
	for len(p.rest) > 0 {
		var missing *missingValue
		known := len(p.global)
		err := p.step()
		e.heed(p.global[known:])
		if errors.As(err, &missing) {
			return e.valueCandidates(ctx, missing.option, "", typed)
		}
	}
	if slices.Contains(before, "--") {
		return e.operandCandidates(ctx, &p, typed)
	}
	if name, val, ok := strings.Cut(typed, "="); ok && strings.HasPrefix(name, "--") {
		if o, err := p.scope().long(name[2:]); err == nil {
			return e.valueCandidates(ctx, o, name+"=", val)
		}
		return nil
	}
	if strings.HasPrefix(typed, "-") {
		return optionCandidates(p.scope())
	}
	if p.command == nil {
		return completeCommand(e, ctx, typed)
	}
	var list []candidate
	if !p.leaf {
		for _, c := range p.command.Commands {
			if !c.Hidden {
				list = append(list, candidate{c.Name, c.Usage})
			}
		}
	}
	return append(list, e.operandCandidates(ctx, &p, typed)...)
}

// heed lets the options in a line that is being typed decide where names are looked up.
func (e *Env) heed(global []string) {
	for _, option := range global {
		switch name, val, _ := strings.Cut(strings.TrimLeft(option, "-"), "="); name {
		case "C":
			e.Dir = e.path(val)
		case "mem-dir":
			e.opt.memDir = val
		case "project":
			e.opt.project = val
		}
	}
}

// valueCandidates returns the values of an option, each after prefix.
func (e *Env) valueCandidates(ctx context.Context, o option, prefix, typed string) []candidate {
	list := words(o.Choices)
	if o.Choices == nil {
		name, _ := o.Explained()
		list = e.placeholderCandidates(ctx, name, typed)
	}
	for i := range list {
		if list[i].value != ":file" {
			list[i].value = prefix + list[i].value
		}
	}
	return list
}

// operandCandidates returns what may stand as the next operand, by the usage line of the command.
func (e *Env) operandCandidates(ctx context.Context, p *parser, typed string) []candidate {
	if p.command == nil {
		return nil
	}
	if p.command.Name == "set" && len(p.operands) == 1 { // a setting, whose values may be known
		if k, err := config.Lookup(p.operands[0]); err == nil {
			return words(k.Kind.Values)
		}
	}
	places := strings.Fields(p.command.ArgsUsage)
	if len(places) == 0 {
		return nil
	}
	return e.placeholderCandidates(ctx, places[min(len(p.operands), len(places)-1)], typed)
}

// placeholderCandidates returns what may stand for a placeholder such as <session>... or [<command>|<topic>].
func (e *Env) placeholderCandidates(ctx context.Context, place, typed string) []candidate {
	known := completers()
	var list []candidate
	for _, name := range strings.FieldsFunc(strings.ToLower(place), func(r rune) bool { return strings.ContainsRune("[]<>|.=", r) }) {
		if slices.Contains(filePlaceholders(), name) {
			return []candidate{{value: ":file"}}
		}
		if complete, ok := known[name]; ok {
			list = append(list, complete(e, ctx, typed)...)
		}
	}
	return list
}

func optionCandidates(s scope) []candidate {
	var list []candidate
	for _, name := range sortedKeys(s) {
		if len(name) > 1 {
			_, about := s[name].Explained()
			list = append(list, candidate{value: "--" + name, about: about})
		}
	}
	return list
}

func completeCommand(e *Env, _ context.Context, _ string) []candidate {
	var list []candidate
	for _, c := range commands() {
		if c.group != groupHidden {
			list = append(list, candidate{c.name, c.make(e).Usage})
		}
	}
	return list
}

func completeTopic(*Env, context.Context, string) []candidate {
	var list []candidate
	for _, t := range topics() {
		list = append(list, candidate{t, topicTitle(t)})
	}
	return list
}

func completeKey(_ *Env, _ context.Context, _ string) []candidate {
	var list []candidate
	for _, k := range config.Keys() {
		list = append(list, candidate{strings.TrimSuffix(k.Name, "*"), k.Usage})
	}
	return list
}

func words(values []string) []candidate {
	var list []candidate
	for _, v := range values {
		list = append(list, candidate{value: v})
	}
	return list
}
