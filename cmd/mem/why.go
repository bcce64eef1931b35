package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/concepts"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/state"
)

// whyCommand is the command that says what something in memory rests on, and how far that may be trusted.
func (e *Env) whyCommand() *cli.Command {
	var up, down bool
	return &cli.Command{
		Name:      "why",
		Usage:     "show where something comes from and who said it",
		ArgsUsage: "<rev>",
		Description: "A rule rests on facts, facts on quotes of messages, versions and compositions on sessions. Each line shows the least\n" +
			"trusted author (user, assistant, tool), the device that recorded it, whether that device is trusted, and whether a\n" +
			"source was revoked. --up and --down print derivations only: the inputs of a version or composition, and\n" +
			"what was made from a session or version.",
		Flags: []*cli.Flag{
			cli.Bool(&up, "up", "print the inputs, the recipe and the tokens of each step"),
			cli.Bool(&down, "down", "print what was made from it"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 1, 1); err != nil {
				return err
			}
			switch {
			case up && down:
				return usagef("--up and --down exclude each other")
			case up || down:
				return e.runLineage(ctx, e.operand(0), up, down)
			}
			return e.runWhy(ctx, e.operand(0))
		},
	}
}

func (e *Env) runWhy(ctx context.Context, name string) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		rev, err := e.resolve(ctx, m, sc, name)
		if err != nil && concepts.IsLabel(name) { // as concepts are listed
			if c, found := m.Revision().FindConcept(ctx, sc.Project.ID, name); found == nil {
				rev, err = state.Rev{Kind: state.IsConcept, Project: sc.Project, Concept: c}, nil
			}
		}
		if err != nil {
			return err
		}
		r, err := m.Provenance().Why(ctx, rev)
		if err != nil {
			return fmt.Errorf("why %s: %w", name, err)
		}
		if e.opt.json {
			return e.printJSON("why", struct {
				Root *provenance.Reason `json:"root"`
			}{whole(r)})
		}
		if err := e.page("why"); err != nil {
			return err
		}
		printTree(e, r, func(r *provenance.Reason) string { return e.reasonLine(r) }, func(r *provenance.Reason) []*provenance.Reason { return r.Next }, "", "")
		return nil
	})
}

// whole gives lists that are empty a place in JSON.
func whole(r *provenance.Reason) *provenance.Reason {
	r.Notes, r.Next = append([]string{}, r.Notes...), append([]*provenance.Reason{}, r.Next...)
	for _, n := range r.Next {
		whole(n)
	}
	return r
}

func (e *Env) reasonLine(r *provenance.Reason) string {
	style := e.style()
	words := []string{r.Kind, style.yellow(e.safe(r.Name))}
	if r.Trust != "" {
		words = append(words, "["+r.Trust+"]")
	}
	if r.Missing {
		words = append(words, style.red("not here"))
	}
	if r.Text != "" {
		words = append(words, fmt.Sprintf("%q", e.safe(oneLine(r.Text))))
	}
	for _, n := range r.Notes {
		words = append(words, style.dim(e.safe(n)))
	}
	if r.By != "" {
		by := "by " + e.safe(r.By)
		if !r.Trusted {
			by = style.yellow(by + ", not trusted")
		}
		words = append(words, by)
	}
	if !r.Time.IsZero() {
		at := e.timeCell(r.Time)
		if e.Term.Stdout {
			at.full = at.text()
		}
		words = append(words, at.full)
	}
	if r.Revoked != "" {
		words = append(words, style.red("hidden: "+e.safe(r.Revoked)))
	}
	return strings.Join(words, "  ")
}
