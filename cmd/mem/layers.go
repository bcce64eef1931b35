package main

import (
	"context"
	"fmt"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/state"
)

// layersCommand is the command about what the layers of a project hold and lack.
func (e *Env) layersCommand() *cli.Command {
	return &cli.Command{
		Name:  "layers",
		Usage: "show the progress of facts, concepts and rules",
		Description: "L1 is the refined transcript, L2 facts, L3 concepts, L4 rules. L1 follows from the transcript: it is made when it is needed\n" +
			"and kept in the cache; \"build\" makes what is lacking at once. The others are said by Claude, a model or you.",
		Commands: []*cli.Command{
			{Name: "status", Usage: "list the layers", Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 0, 0); err != nil {
					return err
				}
				return e.runLayersStatus(ctx)
			}},
			{Name: "build", Usage: "build missing L1 transcripts", Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 0, 0); err != nil {
					return err
				}
				return e.runLayersBuild(ctx)
			}},
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
	Next    string `json:"next"` // the command that goes on
}

func layerRows(d knowledge.Debt) []layerRow {
	next := "mem facts draft SESSION"
	if len(d.L2) > 0 {
		next = shell("mem", "facts", "draft", shortID(d.L2[0]))
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

func (e *Env) runLayersStatus(ctx context.Context) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		d, err := m.Knowledge().Debt(ctx, sc.Project.ID)
		if err != nil {
			return err
		}
		rows := layerRows(d)
		if e.opt.json {
			return e.printJSON("layers.status", struct {
				Project   string     `json:"project"`
				Layers    []layerRow `json:"layers"`
				Reflected string     `json:"reflected,omitempty"`
			}{sc.Project.Name, rows, timeText(d.Reflected)})
		}
		t := e.table(column{name: "layer"}, column{name: "holds"}, column{name: "have", right: true}, column{name: "pending", right: true}, column{name: "of"}, column{name: "next", shrinks: true})
		for _, r := range rows {
			next := cell{full: "-"}
			if r.Pending > 0 {
				next = cell{full: r.Next, paint: e.style().cyan}
			}
			t.row(cell{full: r.Layer}, cell{full: r.Name}, cell{full: fmt.Sprint(r.Have)}, cell{full: fmt.Sprint(r.Pending)}, cell{full: r.Of}, next)
		}
		return t.flush()
	})
}

func (e *Env) runLayersBuild(ctx context.Context) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		size, err := m.Knowledge().Unrefined(ctx, sc.Project)
		if err != nil {
			return err
		}
		bar := e.progressBytes("refining", size)
		n, err := m.Knowledge().Refine(ctx, sc.Project, bar.add)
		bar.end()
		if err != nil {
			return storeError(err)
		}
		if e.opt.json {
			return e.printJSON("layers.build", struct {
				Project string `json:"project"`
				L1      int    `json:"l1"`
			}{sc.Project.Name, n})
		}
		e.note("made L1 of %s", count(n, "session"))
		return nil
	})
}
