package sessioncmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/foreign"
	"github.com/memvcs/mem/layers/migration"
	"github.com/memvcs/mem/layers/tokens"
)

// A storeAnswer is what import prints with --json of the store of another tool.
type storeAnswer struct {
	DryRun bool             `json:"dry_run"`
	Tool   string           `json:"tool"`
	Items  []migration.Item `json:"items"`
}

// runImportStore imports the store of another memory tool.
func runImportStore(ctx context.Context, e *app.Env, o importOptions, store *foreign.Store) error {
	return names.WithStore(e, func(m *layers.Memory) error {
		claude, err := e.ClaudeDir()
		if err != nil {
			return err
		}
		var size int64
		for _, p := range store.Projects {
			for _, s := range p.Sessions {
				size += s.Size
			}
		}
		bar := e.ProgressBytes("import", size)
		opts := migration.Options{DryRun: e.Opt.DryRun, Claude: claude, Here: e.Dir, Progress: bar.Add}
		if e.Opt.Project != "" {
			p, err := names.ProjectNamed(ctx, e, m, e.Opt.Project)
			if err != nil {
				return err
			}
			opts.Project = &p
		}
		report, err := m.Migration().Import(ctx, store, opts)
		bar.End()
		if err != nil {
			err = fmt.Errorf("import from %s: %w", store.Tool, names.StoreError(err))
			if len(report.Items) == 0 {
				return err
			}
		} else if !e.Opt.DryRun && !o.noL1 {
			err = refineAdded(ctx, e, m, report.Added)
		}
		return errors.Join(err, printStore(e, report))
	})
}

// printStore prints what became of each thing in a store; quietly only what was not imported.
func printStore(e *app.Env, r migration.Report) error {
	if e.Opt.JSON {
		answer := storeAnswer{e.Opt.DryRun, r.Tool, append([]migration.Item{}, r.Items...)}
		if err := e.PrintJSON("import.store", answer); err != nil {
			return err
		}
		return storeStatus(r)
	}
	t := e.Table(app.Column{Name: "status"}, app.Column{Name: "kind"}, app.Column{Name: "project", Most: 16},
		app.Column{Name: "name", Shrinks: true}, app.Column{Name: "as"}, app.Column{Name: "why"})
	for _, it := range r.Items {
		if e.Opt.Quiet && it.Status != migration.Conflict && it.Status != migration.NotMapped {
			continue
		}
		t.Row(app.Cell{Full: it.Status, Paint: statusPaint(e, it.Status)}, app.Cell{Full: it.Kind},
			app.Cell{Full: it.Project}, app.Cell{Full: it.Name}, app.Cell{Full: it.As}, app.Cell{Full: it.Why})
	}
	if err := t.Flush(); err != nil {
		return err
	}
	verb := "imported"
	if e.Opt.DryRun {
		verb = "would import"
	}
	e.Note("%s %s of %s from %s: %s unchanged, %s, %s not mapped", verb,
		tokens.Commas(r.Count(migration.New, migration.Grown)), term.Count(len(r.Items), "item"), r.Tool,
		tokens.Commas(r.Count(migration.Unchanged)), term.Count(r.Count(migration.Conflict), "conflict"),
		tokens.Commas(r.Count(migration.NotMapped)))
	return storeStatus(r)
}

// statusPaint shows what was not imported.
func statusPaint(e *app.Env, status string) func(string) string {
	switch status {
	case migration.New, migration.Grown:
		return e.Style().Green
	case migration.Conflict, migration.NotMapped:
		return e.Style().Red
	}
	return e.Style().Dim
}

// storeStatus is the exit status of an import: not all of it was done.
func storeStatus(r migration.Report) error {
	if r.Count(migration.Conflict, migration.NotMapped) > 0 {
		return app.Exit(app.ExitPartial)
	}
	return nil
}
