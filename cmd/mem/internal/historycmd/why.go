package historycmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
)

// WhyCommand returns mem why.
func WhyCommand(e *app.Env) *cli.Command {
	var up, down bool
	return &cli.Command{
		Name:      "why",
		Usage:     "show where something comes from and who said it",
		ArgsUsage: "<rev>",
		Description: "A rule depends on facts, a fact on quotes of messages, a version or composition on\n" +
			"sessions. Each line shows the least trusted author (user, assistant, tool), the device\n" +
			"that recorded it, whether that device is trusted, and whether a source was revoked.\n" +
			"--up and --down print only derivations: the inputs of a version or composition, and the\n" +
			"things derived from a session or version. A hash of \"mem log --handed\" or \"mem next\n" +
			"--why\" names a line that a hook handed over, or would hand over.",
		Flags: []cli.Flag{
			app.BoolFlag(&up, "up", "print the inputs, the recipe and the tokens of each step"),
			app.BoolFlag(&down, "down", "print everything derived from it"),
		},
		Action: app.Action(e, 1, 1, func(ctx context.Context, run app.Run) error {
			switch {
			case up && down:
				return app.Usagef("--up and --down cannot be combined")
			case up || down:
				return runLineage(ctx, run, e.Operand(0), down)
			}
			return runWhy(ctx, run, e.Operand(0))
		}),
	}
}

func runWhy(ctx context.Context, run app.Run, name string) error {
	rev, err := run.Resolve(ctx, name)
	if err != nil && concepts.IsLabel(name) { // as concepts are listed
		if c, found := revision.FindConcept(ctx, run.DB, run.Project.ID, name); found == nil {
			rev, err = state.Rev{Kind: state.IsConcept, Project: run.Project, Concept: c}, nil
		}
	}
	if err != nil {
		h, lines, bad := handedLines(run.Env, name)
		if bad != nil {
			return bad
		}
		hint := "mem blame " + name
		if len(lines) == 0 {
			if lines, bad = nextLines(ctx, run, name); bad != nil {
				return bad
			}
			hint = "mem next --why"
		}
		if len(lines) == 0 && strings.Contains(name, " ") {
			return app.WithHint(err, "to ask in words: "+run.Typed("mem", "search", name))
		}
		if len(lines) == 0 {
			return err
		}
		if len(lines) > 1 {
			return app.WithHint(fmt.Errorf("%s names %d lines: name one of them", name, len(lines)), hint)
		}
		if rev, err = run.Resolve(ctx, sourceRev(lines[0].Source)); err != nil {
			return err
		}
		if !run.Opt.JSON && h.Hash != "" {
			printHanded(run.Env, h, "", nil)
		}
	}
	r, err := provenance.Why(ctx, run.DB, rev)
	if err != nil {
		return fmt.Errorf("why %s: %w", name, err)
	}
	if run.Opt.JSON {
		return run.PrintJSON("why", nil, "root", withEmptyLists(r))
	}
	run.Page("why")
	tree[*provenance.Reason]{run.Env, func(r *provenance.Reason) []string { return reasonWords(run.Env, r) },
		func(r *provenance.Reason) []*provenance.Reason { return r.Next }}.print(r, "", "")
	return nil
}

// withEmptyLists replaces nil lists by empty ones, for JSON.
func withEmptyLists(r *provenance.Reason) *provenance.Reason {
	r.Notes, r.Next = append([]string{}, r.Notes...), append([]*provenance.Reason{}, r.Next...)
	for _, n := range r.Next {
		withEmptyLists(n)
	}
	return r
}

func reasonWords(e *app.Env, r *provenance.Reason) []string {
	style := e.Style()
	words := []string{r.Kind, style.Yellow(e.Safe(app.SessionName(e, r.Name, r.Session)))}
	if r.Trust != "" {
		words = append(words, "["+r.Trust+"]")
	}
	if r.Missing {
		words = append(words, style.Red("not in this memory"))
	}
	if r.Text != "" {
		words = append(words, fmt.Sprintf("%q", e.Safe(app.OneLine(r.Text))))
	}
	words = append(words, app.Each(r.Notes, func(n string) string { return style.Dim(e.Safe(n)) })...)
	if r.By != "" {
		words = append(words, "by "+e.Safe(r.By))
	}
	if !r.Time.IsZero() {
		at := e.TimeCell(r.Time)
		if e.Term.Stdout {
			at.Full = at.Text()
		}
		words = append(words, at.Full)
	}
	if r.Revoked != "" {
		words = append(words, style.Red("hidden: "+e.Safe(r.Revoked)))
	}
	return words
}
