package knowledgecmd

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
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
			{Name: "status", Usage: "list the layers", Action: e.Action(0, 0, func(c *cli.Context) error {
				return RunLayersStatus(c.Context, e)
			})},
			{Name: "build", Usage: "build missing L1 transcripts", Action: e.Action(0, 0, func(c *cli.Context) error {
				return runLayersBuild(c.Context, e)
			})},
		},
	}
}

// A layerRow is a layer in layers status.
type layerRow struct {
	Layer   string `json:"layer"`
	Name    string `json:"name"`
	Have    int    `json:"have"`
	Pending int    `json:"pending"`
	Of      string `json:"of"`   // what is pending: sessions, exchanges, reflections
	Next    string `json:"next"` // the next command to run
}

func layerRows(d knowledge.Progress) []layerRow {
	next := "mem facts draft SESSION"
	if len(d.L2) > 0 {
		next = term.Shell("mem", "facts", "draft", term.ShortID(d.L2[0]))
	}
	due := 0
	if d.L4 {
		due = 1
	}
	return []layerRow{
		{"L1", "refined transcripts", d.Sessions - d.L1, d.L1, "sessions", "mem layers build"},
		{"L2", "facts", d.Facts, len(d.L2), "sessions", next},
		{"L3", "concepts", d.Exchanges - d.L3, d.L3, "exchanges", "mem concepts candidates"},
		{"L4", "rules", d.Rules, due, "reflections", "mem reflect"},
	}
}

// RunLayersStatus prints the progress of each layer.
func RunLayersStatus(ctx context.Context, e *app.Env) error {
	return names.WithMemory(ctx, e, func(run names.Run) error {
		d, err := knowledge.ReadProgress(ctx, run.DB, run.Project.ID)
		if err != nil {
			return err
		}
		rows := layerRows(d)
		if e.Opt.JSON {
			return e.PrintJSON("layers.status", nil, "project", run.Project.Name, "layers", rows,
				"reflected,omitempty", term.TimeText(d.Reflected))
		}
		t := e.Table(app.Column{Name: "layer"}, app.Column{Name: "holds"}, app.Column{Name: "have", Right: true},
			app.Column{Name: "pending", Right: true}, app.Column{Name: "of"}, app.Column{Name: "next", Shrinks: true})
		for _, r := range rows {
			next := app.Cell{Full: "-"}
			if r.Pending > 0 {
				next = app.Cell{Full: r.Next, Paint: e.Style().Cyan}
			}
			t.Row(app.Cell{Full: r.Layer}, app.Cell{Full: r.Name}, app.Cell{Full: fmt.Sprint(r.Have)},
				app.Cell{Full: fmt.Sprint(r.Pending)}, app.Cell{Full: r.Of}, next)
		}
		return t.Flush()
	})
}

func runLayersBuild(ctx context.Context, e *app.Env) error {
	return names.WithMemory(ctx, e, func(run names.Run) error {
		size, err := derive.SizeWithoutL1(ctx, run.DB, run.Project)
		if err != nil {
			return err
		}
		bar := e.ProgressBytes("reading", size)
		n, err := derive.Refine(ctx, run.DB, run.Project, bar.Add)
		bar.End()
		if err != nil {
			return names.StoreError(err)
		}
		if e.Opt.JSON {
			return e.PrintJSON("layers.build", nil, "project", run.Project.Name, "l1", n)
		}
		e.Note("made L1 of %s", term.Count(n, "session"))
		return nil
	})
}
