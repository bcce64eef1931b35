package knowledgecmd

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/knowledge"
)

// LayersCommand returns mem layers.
func LayersCommand(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:  "layers",
		Usage: "show the progress of facts, concepts and rules",
		Description: "L1 is the refined transcript, L2 facts, L3 concepts, L4 rules. L1 is computed from the\n" +
			"transcript and cached; \"build\" computes missing ones now. L2 to L4 come from Claude, a\n" +
			"model or you.",
		Subcommands: []*cli.Command{
			{Name: "status", Usage: "list the layers", Action: app.Action(e, 0, 0, RunLayersStatus)},
			{Name: "build", Usage: "build missing L1 transcripts", Action: app.Action(e, 0, 0, runLayersBuild)},
		},
	}
}

// RunLayersStatus prints the progress of each layer: what it has, what is pending, and the command that makes that.
func RunLayersStatus(ctx context.Context, run app.Run) error {
	d, err := knowledge.ReadProgress(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	draft, due := "mem facts draft SESSION", 0
	if len(d.L2) > 0 {
		draft = term.Shell("mem", "facts", "draft", term.ShortID(d.L2[0]))
	}
	if d.L4 {
		due = 1
	}
	l := run.List("layers.status", "layers", "layer", "holds", app.Column{Name: "have", Right: true},
		app.Column{Name: "pending", Right: true}, "of", app.Column{Name: "next", Shrinks: true})
	add := func(layer, name string, have, pending int, of, next string) {
		cell := app.Cell{Full: "-"}
		if pending > 0 {
			cell = app.Cell{Full: next, Paint: run.Style().Cyan}
		}
		l.Add(app.Object{"layer", layer, "name", name, "have", have, "pending", pending, "of", of, "next", next}, layer, name,
			have, pending, of, cell)
	}
	add("L1", "refined transcripts", d.Sessions-d.L1, d.L1, "sessions", "mem layers build")
	add("L2", "facts", d.Facts, len(d.L2), "sessions", draft)
	add("L3", "concepts", d.Exchanges-d.L3, d.L3, "exchanges", "mem concepts candidates")
	add("L4", "rules", d.Rules, due, "reflections", "mem reflect")
	return l.Print("project", run.Project.Name, "reflected,omitempty", term.TimeText(d.Reflected))
}

func runLayersBuild(ctx context.Context, run app.Run) error {
	size, err := derive.SizeWithoutL1(ctx, run.DB, run.Project)
	if err != nil {
		return err
	}
	bar := run.ProgressBytes("reading", size)
	n, err := derive.Refine(ctx, run.DB, run.Project, bar.Add)
	bar.End()
	if err != nil {
		return err
	}
	if run.Opt.JSON {
		return run.PrintJSON("layers.build", nil, "project", run.Project.Name, "l1", n)
	}
	run.Note("made L1 of %s", term.Count(n, "session"))
	return nil
}
