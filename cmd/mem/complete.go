package main

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/cmdline"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/refs/config"
)

// A completer returns completions for a placeholder of a usage line. It may use the typed prefix to save work but
// need not filter by it.
type completer func(e *app.Env, ctx context.Context, typed string) []app.Candidate

// completers maps placeholders of operands and option values, in lower case, to their completers. Other placeholders
// complete file names if they are in filePlaceholders, else nothing.
func completers() map[string]completer {
	return map[string]completer{
		"command": completeCommand,
		"session": app.CompleteSession,
		"concept": app.CompleteConcept,
		"rule":    app.CompleteRule,
		"fact":    app.CompleteFact,

		"exchange":  app.CompleteExchange,
		"candidate": app.CompleteCandidate,

		"rev":     app.CompleteRev,
		"object":  app.CompleteRev,
		"project": app.CompleteProject,
		"topic":   completeTopic,
		"key":     completeKey,
		"shell":   func(*app.Env, context.Context, string) []app.Candidate { return words(shells()) },
	}
}

func filePlaceholders() []string { return []string{"file", "dir", "path"} }

// complete is the hidden command that the completion scripts call with the words after "mem" up to the
// cursor; the last one is being typed. It prints one candidate a line, with a tab and a text after it, or
// ":file" where the shell should complete file names. It never fails, because a shell does not show errors.
func complete(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:            "__complete",
		Usage:           "print completions for a command line",
		SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			runComplete(c.Context, e, e.Operands)
			return nil
		},
	}
}

func runComplete(ctx context.Context, e *app.Env, line []string) {
	if len(line) > 0 && line[0] == "--" {
		line = line[1:]
	}
	if len(line) == 0 {
		line = []string{""}
	}
	last := len(line) - 1
	for _, c := range candidates(ctx, e, line[:last], line[last]) {
		if c.Value != ":file" && !strings.HasPrefix(c.Value, line[last]) {
			continue
		}
		e.Printf("%s", term.SanitizeLine(c.Value))
		if c.About != "" {
			e.Printf("\t%s", term.SanitizeLine(c.About))
		}
		e.Printf("\n")
	}
}

// candidates returns the completions of the last word of a line; before are the words before it.
func candidates(ctx context.Context, e *app.Env, before []string, typed string) []app.Candidate {
	p := parser(e, commands(), new(command))
	line, option := p.ParseStart(before)
	applyOptions(e, line.Global)
	if option != nil {
		return valueCandidates(ctx, e, *option, "", typed)
	}
	if slices.Contains(before, "--") {
		return operandCandidates(ctx, e, line, typed)
	}
	if name, val, ok := strings.Cut(typed, "="); ok && strings.HasPrefix(name, "--") {
		if o, ok := p.Scope().Long(name[2:]); ok {
			return valueCandidates(ctx, e, o, name+"=", val)
		}
		return nil
	}
	if strings.HasPrefix(typed, "-") {
		return optionCandidates(p.Scope())
	}
	if line.Command == nil {
		return completeCommand(e, ctx, typed)
	}
	var list []app.Candidate
	for _, c := range p.Next() {
		if !c.Hidden {
			list = append(list, app.Candidate{Value: c.Name, About: c.Usage})
		}
	}
	return append(list, operandCandidates(ctx, e, line, typed)...)
}

// applyOptions applies the global options of the typed line, which select the memory and project for names.
func applyOptions(e *app.Env, global []string) {
	for _, option := range global {
		switch name, val, _ := strings.Cut(strings.TrimLeft(option, "-"), "="); name {
		case "C":
			e.Dir = e.Path(val)
		case "mem-dir":
			e.Opt.MemDir = val
		case "project":
			e.Opt.Project = val
		}
	}
}

// valueCandidates returns the values of an option, each after prefix.
func valueCandidates(ctx context.Context, e *app.Env, o app.Option, prefix, typed string) []app.Candidate {
	list := words(o.Choices)
	if o.Choices == nil {
		list = placeholderCandidates(ctx, e, o.Value, typed)
	}
	for i := range list {
		if list[i].Value != ":file" {
			list[i].Value = prefix + list[i].Value
		}
	}
	return list
}

// operandCandidates returns completions for the next operand in the usage line of the command.
func operandCandidates(ctx context.Context, e *app.Env, line *cmdline.Line, typed string) []app.Candidate {
	if line.Command == nil {
		return nil
	}
	if line.Command.Name == "set" && len(line.Operands) == 1 { // a setting, whose values may be known
		if k, err := config.Lookup(line.Operands[0]); err == nil {
			return words(k.Kind.Values)
		}
	}
	places := strings.Fields(line.Command.ArgsUsage)
	if len(places) == 0 {
		return nil
	}
	return placeholderCandidates(ctx, e, places[min(len(line.Operands), len(places)-1)], typed)
}

// placeholderCandidates returns completions for a placeholder such as <session>... or [<command>|<topic>].
func placeholderCandidates(ctx context.Context, e *app.Env, place, typed string) []app.Candidate {
	known := completers()
	var list []app.Candidate
	for _, name := range strings.FieldsFunc(strings.ToLower(place), func(r rune) bool {
		return strings.ContainsRune("[]<>|.=", r)
	}) {
		if slices.Contains(filePlaceholders(), name) {
			return []app.Candidate{{Value: ":file"}}
		}
		if complete, ok := known[name]; ok {
			list = append(list, complete(e, ctx, typed)...)
		}
	}
	return list
}

func optionCandidates(s app.OptionSet) []app.Candidate {
	var list []app.Candidate
	for _, name := range app.SortedKeys(s) {
		if len(name) > 1 {
			list = append(list, app.Candidate{Value: "--" + name, About: s[name].Usage})
		}
	}
	return list
}

func completeCommand(e *app.Env, _ context.Context, _ string) []app.Candidate {
	var list []app.Candidate
	for _, c := range commands() {
		if c.group != groupHidden {
			list = append(list, app.Candidate{Value: c.name, About: c.build(e).Usage})
		}
	}
	return list
}

func completeTopic(*app.Env, context.Context, string) []app.Candidate {
	return app.Each(topics(), func(t string) app.Candidate { return app.Candidate{Value: t, About: topicTitle(t)} })
}

func completeKey(_ *app.Env, _ context.Context, _ string) []app.Candidate {
	return app.Each(config.Keys(), func(k config.Key) app.Candidate {
		return app.Candidate{Value: strings.TrimSuffix(k.Name, "*"), About: k.Usage}
	})
}

func words(values []string) []app.Candidate {
	return app.Each(values, func(v string) app.Candidate { return app.Candidate{Value: v} })
}
