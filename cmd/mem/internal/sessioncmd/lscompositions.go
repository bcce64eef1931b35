package sessioncmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
)

// runLsCompositions lists the newest state of each composition, the newest first.
func runLsCompositions(ctx context.Context, e *app.Env, o lsOptions) error {
	return app.WithMemory(ctx, e, func(run app.Run) error {
		projects, err := run.ListedProjects(ctx)
		if err != nil {
			return err
		}
		list := []view.Composition{}
		t := e.Table("name", "when", app.Column{Name: "tokens", Right: true, Estimate: true},
			app.Column{Name: "budget", Right: true}, app.Column{Name: "msgs", Right: true},
			app.Column{Name: "parts", Right: true}, "used in", "project", app.Column{Name: "note", Shrinks: true})
		for _, p := range projects {
			st, err := trust.Outline(ctx, run.DB, p.ID)
			if err != nil {
				return err
			}
			newest := newestStates(st, o)
			views, err := view.CompositionsOf(ctx, run.DB, p, newest)
			if err != nil {
				return err
			}
			list = append(list, views...)
			for i, c := range newest {
				t.Row(app.Cell{Full: c.Name, Paint: e.Style().Cyan}, c.Time,
					app.Cell{Full: fmt.Sprint(c.Tokens), Short: "~" + tokens.Format(c.Tokens)},
					app.Cell{Full: fmt.Sprint(c.Budget), Short: tokens.Format(c.Budget)}, c.Messages, len(c.Parts),
					versioncmd.UsedCell(e, nil, c.Used), p.Name, views[i].Hidden)
			}
		}
		switch {
		case e.Opt.JSON:
			return e.PrintJSON("ls", nil, "project", run.Project.Name, "compositions", list)
		case o.one:
			for _, a := range list {
				e.Printf("%s\n", e.Safe(a.Name))
			}
			return nil
		case len(list) == 0:
			e.Note("no compositions in project %s", run.Project.Name)
			return nil
		}
		return t.Flush()
	})
}

// newestStates returns the newest state of each composition that the options list, the newest first.
func newestStates(st *state.State, o lsOptions) []*records.Composition {
	var out []*records.Composition
	for _, c := range slices.Backward(st.Compositions) {
		same := func(x *records.Composition) bool { return x.Name == c.Name }
		if !slices.ContainsFunc(out, same) && (!c.Deleted || o.all || o.removed) && (c.Revoked == "" || o.all) {
			out = append(out, c)
		}
	}
	return out
}
