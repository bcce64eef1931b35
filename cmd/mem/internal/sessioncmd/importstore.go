package sessioncmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/interchange"
	"github.com/memvcs/mem/layers/tokens"
)

// runImportStore imports the store of another memory tool.
func runImportStore(ctx context.Context, e *app.Env, o importOptions, store *interchange.Store) error {
	return app.WithStore(e, func(m *layers.Memory) error {
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
		opts := interchange.ImportOptions{DryRun: e.Opt.DryRun, Claude: claude, Here: e.Dir, Progress: bar.Add}
		if e.Opt.Project != "" {
			p, err := app.ProjectNamed(ctx, e, m, e.Opt.Project)
			if err != nil {
				return err
			}
			opts.Project = &p
		}
		report, err := interchange.Import(ctx, m.DB, store, opts)
		bar.End()
		if err != nil {
			err = fmt.Errorf("import from %s: %w", store.Tool, err)
			if len(report.Items) == 0 { // interrupted
				return err
			}
		} else if !e.Opt.DryRun && !o.noL1 {
			err = refineAdded(ctx, e, m, report.Added)
		}
		if err != nil && report.Count(interchange.New, interchange.Grown) > 0 && app.StatusOf(err) == app.ExitFatal {
			err = app.WithCode(app.ExitPartial, err)
		}
		if err = errors.Join(err, printStore(e, report)); err == nil && report.Count(interchange.Conflict, interchange.NotMapped) > 0 {
			err = app.Exit(app.ExitPartial)
		}
		return err
	})
}

// printStore prints the result for each item in a store; with -q only those that were not imported.
func printStore(e *app.Env, r interchange.Report) error {
	if e.Opt.JSON {
		return e.PrintJSON("import.store", nil, "dryRun", e.Opt.DryRun, "tool", r.Tool,
			"items", append([]interchange.Item{}, r.Items...))
	}
	if err := printItems(e, r.Items); err != nil {
		return err
	}
	verb := e.Verb("imported", "would import")
	e.Note("%s %s of %s from %s: %s unchanged, %s, %s not mapped", verb,
		tokens.Commas(r.Count(interchange.New, interchange.Grown)), term.Count(len(r.Items), "item"), r.Tool,
		tokens.Commas(r.Count(interchange.Unchanged)), term.Count(r.Count(interchange.Conflict), "conflict"),
		tokens.Commas(r.Count(interchange.NotMapped)))
	return nil
}

// printItems prints a row for each item. For people the reasons why items were not imported follow below the rows,
// because they are too long for a column.
func printItems(e *app.Env, items []interchange.Item) error {
	refused := func(it interchange.Item) bool {
		return it.Status == interchange.Conflict || it.Status == interchange.NotMapped
	}
	t := e.Table("status", "kind", app.Column{Name: "project", Max: 16}, app.Column{Name: "name", Shrinks: true}, "as",
		app.Column{Name: "why", Absent: e.Term.Stdout})
	for _, it := range items {
		if e.Opt.Quiet && !refused(it) || e.Term.Stdout && refused(it) {
			continue
		}
		t.Row(app.Cell{Full: it.Status, Paint: statusPaint(e, it.Status)}, it.Kind, it.Project,
			app.Cell{Full: it.Name, Short: shortName(it.Name)}, it.As, it.Why)
	}
	if err := t.Flush(); err != nil || !e.Term.Stdout {
		return err
	}
	for _, it := range items {
		if refused(it) {
			e.Printf("%s %s\n", statusPaint(e, it.Status)(it.Status+":"),
				term.SanitizeLine(it.Kind+" "+shortName(it.Name)+": "+it.Why))
		}
	}
	return nil
}

// shortName returns the name of an item with the short id of its session.
func shortName(name string) string {
	session, rest, part := strings.Cut(name, " ")
	if part {
		rest = " " + rest
	}
	return term.ShortID(session) + rest
}

// statusPaint returns the colour of a status.
func statusPaint(e *app.Env, status string) func(string) string {
	switch status {
	case interchange.New, interchange.Grown:
		return e.Style().Green
	case interchange.Conflict, interchange.NotMapped:
		return e.Style().Red
	}
	return e.Style().Dim
}
