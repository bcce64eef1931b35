package storecmd

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/state"
)

// RevParse returns mem rev-parse.
func RevParse(e *app.Env) *cli.Command {
	var explain bool
	return &cli.Command{
		Name:        "rev-parse",
		Usage:       "print the object or commit that a name resolves to",
		ArgsUsage:   "<rev>...",
		Description: "See \"mem help revisions\" for the syntax of names.",
		Flags:       []cli.Flag{app.BoolFlag(&explain, "explain", "print how the name was resolved")},
		Action: app.Action(e, 1, -1, func(ctx context.Context, run app.Run) error {
			return runRevParse(ctx, run, e.Operands, explain)
		}),
	}
}

func runRevParse(ctx context.Context, run app.Run, operands []string, explain bool) error {
	revs, err := run.ResolveAll(ctx, operands)
	if err != nil {
		return err
	}
	answers := []app.Object{}
	for i, rev := range revs {
		is, err := contentName(ctx, run.Memory, rev)
		if err != nil {
			return err
		}
		switch {
		case run.Opt.JSON:
			answers = append(answers, revObject(operands[i], is, rev))
		case explain:
			if i > 0 {
				run.Printf("\n")
			}
			explainRev(run.Env, operands[i], is, rev)
		default:
			run.Printf("%s\n", is)
		}
	}
	if run.Opt.JSON {
		return run.PrintJSON("rev-parse", nil, "revs", answers)
	}
	return nil
}

// contentName returns the commit of a revision, the id of a concept or rule, or b3: and the hash.
func contentName(ctx context.Context, m *layers.Memory, rev state.Rev) (string, error) {
	switch {
	case rev.Concept != nil:
		return rev.Concept.ID, nil
	case rev.Rule != nil:
		return rev.Rule.ID, nil
	case rev.Commit != "":
		return rev.Commit, nil
	}
	h, err := checkout.NameOf(ctx, m.DB, rev)
	return "b3:" + h.String(), err
}

func revObject(name, is string, rev state.Rev) app.Object {
	session, title, version := "", "", ""
	if rev.Session != nil {
		session, title = rev.Session.ID, rev.Session.Title()
	}
	if rev.Version != nil {
		version = rev.Version.Label
	}
	return app.Object{"rev", name, "kind", string(rev.Kind), "name", is, "how", rev.How, "project,omitempty", rev.Project.Name,
		"sessionId,omitempty", session, "title,omitempty", title, "version,omitempty", version, "from,omitempty", rev.From,
		"to,omitempty", rev.To}
}

// explainRev prints how a name was resolved, one step per line.
func explainRev(e *app.Env, name, is string, rev state.Rev) {
	session, version, made, messages := "", "", "", ""
	if rev.Session != nil {
		session = rev.Session.ID + "  " + rev.Session.Title()
	}
	if rev.Version != nil {
		version = rev.Version.Label + ", " + app.ModeOf(rev.Version) + ", made " + term.TimeText(rev.Version.Time)
	}
	if rev.Composition != nil {
		made = term.TimeText(rev.Composition.Time)
	}
	if rev.Kind == state.IsMessages {
		messages = fmt.Sprintf("%d to %d", rev.From, rev.To)
	}
	e.Describe("Name", name, "Kind", string(rev.Kind), "Project", rev.Project.Name, "Session", session, "Version", version,
		"Made", made, "How", rev.How, "Messages", messages, "Is", is)
}
