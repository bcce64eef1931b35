package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/state"
)

type nextOptions struct {
	why bool
}

// next is the command that prints what the next session is given.
func (e *Env) next() *cli.Command {
	var o nextOptions
	return &cli.Command{
		Name:  "next",
		Usage: "print what the next session is given at its start",
		Description: "The text is the one that the SessionStart hook hands over to a new session of this project now. --why prints a line for each of\n" +
			"its lines: the part, who said it, the source and the reason. \"mem log --handed\" lists what was handed over before.",
		Flags: []*cli.Flag{cli.Bool(&o.why, "why", "print the reason for each line instead")},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 0); err != nil {
				return err
			}
			return e.runNext(ctx, o)
		},
	}
}

// nextJSON is what mem next --json prints.
type nextJSON struct {
	Text  string     `json:"text"`
	Units int        `json:"units"` // UTF-16 units of the text
	Hash  string     `json:"hash"`  // as mem log --handed shows it
	Lines []nextLine `json:"lines"`
}

type nextLine struct {
	Section string   `json:"section"`
	Text    string   `json:"text"`
	Said    string   `json:"said,omitempty"`
	Source  string   `json:"source,omitempty"`
	Files   []string `json:"files,omitempty"`
	Why     string   `json:"why,omitempty"`
	Hash    string   `json:"hash"`
}

func (e *Env) runNext(ctx context.Context, o nextOptions) error {
	s, err := e.hookSettings()
	if err != nil {
		return err
	}
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		given, err := m.Handover().Context(ctx, sc.Project, handover.ContextOptions{Dir: e.Dir, Program: e.calledAs(), Limit: s.ContextSize, Decay: s.Decay})
		if err != nil {
			return fmt.Errorf("what the next session is given: %w", err)
		}
		answer := nextJSON{Text: given.Text, Units: given.Units, Hash: given.Hash, Lines: []nextLine{}}
		for i, t := range given.Told {
			l := given.Lines[i]
			answer.Lines = append(answer.Lines, nextLine{l.Section, t.Line, l.Said, l.Source, t.Keys, t.Why, l.Hash})
		}
		switch {
		case e.opt.json:
			return e.printJSON("next", answer)
		case given.Text == "":
			e.note("the next session is given nothing: no session of project %s is in memory", sc.Project.Name)
		case o.why:
			return e.printWhyNext(answer)
		default:
			for line := range strings.Lines(given.Text) {
				e.printf("%s\n", e.safe(strings.TrimSuffix(line, "\n")))
			}
		}
		return nil
	})
}

// printWhyNext prints the reason for each line.
func (e *Env) printWhyNext(answer nextJSON) error {
	section := ""
	for _, l := range answer.Lines {
		if l.Section != section {
			section = l.Section
			e.printf("%s\n", e.safe(section))
		}
		from := l.Said
		if l.Source != "" {
			from += " " + l.Source
		}
		e.printf("  %s  %s\n      %s\n", l.Hash[:8], e.safe(l.Text), e.safe(from+"; "+l.Why))
	}
	return nil
}
