package storecmd

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
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
		Action: e.Action(1, -1, func(c *cli.Context) error {
			return runRevParse(c.Context, e, e.Operands, explain)
		}),
	}
}

// A revAnswer is the JSON form of a resolved name.
type revAnswer struct {
	Rev     string `json:"rev"`
	Kind    string `json:"kind"`
	Name    string `json:"name"` // b3: and the hash, the commit, or the id of a concept
	How     string `json:"how"`
	Project string `json:"project,omitempty"`
	Session string `json:"sessionId,omitempty"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version,omitempty"`
	From    int    `json:"from,omitempty"`
	To      int    `json:"to,omitempty"`
}

func runRevParse(ctx context.Context, e *app.Env, operands []string, explain bool) error {
	return names.WithMemory(ctx, e, func(run names.Run) error {
		revs, err := run.ResolveAll(ctx, operands)
		if err != nil {
			return err
		}
		allRevs := []revAnswer{}
		for i, rev := range revs {
			a, err := describeName(ctx, run.Memory, operands[i], rev)
			if err != nil {
				return err
			}
			allRevs = append(allRevs, a)
		}
		if e.Opt.JSON {
			return e.PrintJSON("rev-parse", nil, "revs", allRevs)
		}
		for i, a := range allRevs {
			if !explain {
				e.Printf("%s\n", a.Name)
				continue
			}
			if i > 0 {
				e.Printf("\n")
			}
			explainRev(e, a, revs[i])
		}
		return nil
	})
}

func describeName(ctx context.Context, m *layers.Memory, name string, rev state.Rev) (revAnswer, error) {
	a := revAnswer{Rev: name, Kind: string(rev.Kind), Name: rev.Commit, How: rev.How, Project: rev.Project.Name,
		From: rev.From, To: rev.To}
	if rev.Session != nil {
		a.Session, a.Title = rev.Session.ID, rev.Session.Title()
	}
	if rev.Version != nil {
		a.Version = rev.Version.Label
	}
	if rev.Concept != nil {
		a.Name = rev.Concept.ID
		return a, nil
	}
	if rev.Rule != nil {
		a.Name = rev.Rule.ID
		return a, nil
	}
	if rev.Commit == "" {
		h, err := checkout.NameOf(ctx, m.DB, rev)
		if err != nil {
			return a, err
		}
		a.Name = "b3:" + h.String()
	}
	return a, nil
}

// explainRev prints how a name was resolved, one step per line.
func explainRev(e *app.Env, a revAnswer, rev state.Rev) {
	names.Field(e, "Name", a.Rev)
	names.Field(e, "Kind", a.Kind)
	if a.Project != "" {
		names.Field(e, "Project", a.Project)
	}
	if rev.Session != nil {
		names.Field(e, "Session", a.Session+"  "+a.Title)
	}
	if rev.Version != nil {
		names.Field(e, "Version", a.Version+", "+names.ModeOf(rev.Version)+", made "+term.TimeText(rev.Version.Time))
	}
	if rev.Composition != nil {
		names.Field(e, "Made", term.TimeText(rev.Composition.Time))
	}
	if a.How != "" {
		names.Field(e, "How", a.How)
	}
	if rev.Kind == state.IsMessages {
		e.Printf("%-9s %d to %d\n", "Messages:", a.From, a.To)
	}
	names.Field(e, "Is", a.Name)
}
