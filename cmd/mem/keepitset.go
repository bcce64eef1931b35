package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/state"
)

// keepitChanges are the subcommands that change markers, and the one that looks for what was meant to be one.
func (e *Env) keepitChanges() []*cli.Command {
	var weight keepit.Weight = 80
	return []*cli.Command{
		{Name: "set", Usage: "set the weight of a marker", ArgsUsage: "[<session>] <marker> <weight>",
			Description: "The weight is a number from 0.00 to 1.00, or pinned (1.00), critical (0.90), important (0.75), notable (0.50),\nminor (0.25) or hint (0.10).",
			Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 2, 3); err != nil {
					return err
				}
				args := e.operands
				w, err := keepit.ParseTyped(args[len(args)-1])
				if err != nil {
					return usagef("%v", err)
				}
				return e.changeKeepit(ctx, args[:len(args)-1], func(ctx context.Context, m *layers.Memory, rev state.Rev, id string) (state.Keepit, error) {
					return m.Markers().SetKeepit(ctx, rev, id, w, e.opt.dryRun)
				})
			}},
		{Name: "add", Usage: "mark a text that the user typed", ArgsUsage: "<rev> [<text>]",
			Description: "The revision names one message, such as abc1#234. Without a text all that was typed in it is marked.",
			Flags: []*cli.Flag{
				cli.Parsed(&weight, "weight,w", "give it the weight `W`, such as 0.9 or critical; 0.80 without it", keepit.ParseTyped),
			},
			Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 1, 2); err != nil {
					return err
				}
				return e.runKeepitAdd(ctx, e.operand(0), e.operand(1), len(e.operands) > 1, weight)
			}},
		{Name: "rm", Usage: "remove a marker; its text is no longer pinned", ArgsUsage: "[<session>] <marker>", Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 1, 2); err != nil {
				return err
			}
			return e.changeKeepit(ctx, e.operands, func(ctx context.Context, m *layers.Memory, rev state.Rev, id string) (state.Keepit, error) {
				return m.Markers().RemoveKeepit(ctx, rev, id, e.opt.dryRun)
			})
		}},
		{Name: "lint", Usage: "find malformed markers", ArgsUsage: "[<rev>]", Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 1); err != nil {
				return err
			}
			return e.runKeepitLint(ctx, e.operand(0))
		}},
	}
}

// changeKeepit changes the marker that the last operand names, of the session before it or the newest.
func (e *Env) changeKeepit(ctx context.Context, args []string, change func(context.Context, *layers.Memory, state.Rev, string) (state.Keepit, error)) error {
	id := args[len(args)-1]
	if !markerName(id) {
		return withHint(usagef("%q is not the name of a marker", id), "names are k1, k2, ...: mem keepit list")
	}
	name := "@"
	if len(args) > 1 {
		name = args[0]
	}
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		rev, err := e.resolveSession(ctx, m, sc, name)
		if err != nil {
			return err
		}
		k, err := change(ctx, m, rev, id)
		if errors.Is(err, markers.ErrMarked) {
			return withHint(err, "take that one away first: mem keepit rm "+shortID(rev.Session.ID)+" MARKER")
		}
		if err != nil {
			return err
		}
		return e.sayKeepit(rev, k)
	})
}

// sayKeepit says what became of a marker.
func (e *Env) sayKeepit(rev state.Rev, k state.Keepit) error {
	if e.opt.json {
		return e.printJSON("keepit.change", struct {
			keepitAnswer
			DryRun bool `json:"dry_run"`
		}{keepitAnswerOf(rev.Session, k), e.opt.dryRun})
	}
	did := fmt.Sprintf("set %s to %s", k.ID, k.Mark.Weight)
	if k.Removed {
		did = "removed " + k.ID
	}
	if e.opt.dryRun {
		did = "would have " + did
	}
	e.note("%s: %s#%d %s", did, shortID(rev.Session.ID), k.Mark.Message, firstWords(k.Mark.Text, 60))
	return nil
}

func (e *Env) runKeepitAdd(ctx context.Context, name, text string, given bool, w keepit.Weight) error {
	if given && text == "" {
		return usagef("there is no text to mark")
	}
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		rev, err := e.resolve(ctx, m, sc, name)
		if err != nil {
			return err
		}
		if rev.Kind != state.IsMessages || rev.From != rev.To {
			return withHint(usagef("%s is no message", name), "name one by its number: mem keepit add abc1#234 \"its text\"")
		}
		k, err := m.Markers().AddKeepit(ctx, rev, text, w, e.opt.dryRun)
		switch {
		case errors.Is(err, markers.ErrNotTyped):
			return withHint(err, "only what the user typed can be marked")
		case errors.Is(err, markers.ErrNoText), errors.Is(err, markers.ErrManyTexts):
			return withHint(err, fmt.Sprintf("read it: mem show %s#%d", shortID(rev.Session.ID), rev.From))
		case errors.Is(err, markers.ErrMarked):
			return withHint(err, fmt.Sprintf("change that one: mem keepit set %s MARKER %s", shortID(rev.Session.ID), w))
		case err != nil:
			return err
		}
		return e.sayKeepit(rev, k)
	})
}

// A nearMiss is a finding as keepit lint --json prints it.
type nearMiss struct {
	Session string `json:"session"`
	Message int    `json:"message"`
	Text    string `json:"text"`
	Problem string `json:"problem"`
	Hint    string `json:"hint"`
}

func (e *Env) runKeepitLint(ctx context.Context, name string) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		revs, err := e.lintRevs(ctx, m, sc, name)
		if err != nil {
			return err
		}
		answer := struct {
			Findings []nearMiss `json:"findings"`
		}{[]nearMiss{}}
		t := e.table(column{name: "session"}, column{name: "at"}, column{name: "what"}, column{name: "problem"}, column{name: "hint", shrinks: true})
		for _, rev := range revs {
			found, err := m.Markers().LintKeepits(ctx, rev)
			if err != nil {
				return err
			}
			for _, f := range found {
				answer.Findings = append(answer.Findings, nearMiss{f.Session.ID, f.Message, f.Text, f.Problem, f.Hint})
				t.row(cell{full: f.Session.ID, short: shortID(f.Session.ID)}, cell{full: fmt.Sprintf("#%d", f.Message)}, cell{full: f.Text, paint: e.style().yellow},
					cell{full: f.Problem}, cell{full: f.Hint})
			}
		}
		if e.opt.json {
			err = e.printJSON("keepit.lint", answer)
		} else {
			err = t.flush()
		}
		if err == nil && len(answer.Findings) > 0 {
			return exit(exitNo)
		}
		return err
	})
}

// lintRevs returns the session that is named, or all of the project.
func (e *Env) lintRevs(ctx context.Context, m *layers.Memory, sc state.Scope, name string) ([]state.Rev, error) {
	if name != "" {
		rev, err := e.resolveSession(ctx, m, sc, name)
		return []state.Rev{rev}, err
	}
	st, err := m.Trusted().Outline(ctx, sc.Project.ID)
	if err != nil {
		return nil, err
	}
	var revs []state.Rev
	for _, s := range st.Recent() {
		revs = append(revs, state.Rev{Kind: state.IsSession, Project: sc.Project, Session: s})
	}
	return revs, nil
}
