package storecmd

import (
	"cmp"
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/records"
)

// Cost returns mem cost.
func Cost(e *app.Env) *cli.Command {
	by := "day"
	return &cli.Command{
		Name:  "cost",
		Usage: "show what the models that mem asks have cost",
		Description: "Counts the models that mem itself asked, of all projects. The cost of your sessions is in\n" +
			"\"mem stats --usage\". Every answer of a model is counted, even a useless one. Days are UTC\n" +
			"days, and llm.maxTokensPerDay and llm.maxUSDPerDay are counted in the same way.\n" +
			"Compressions by extract cost nothing.",
		Flags: []cli.Flag{
			app.ChoiceFlag(&by, "by", "add up by `WHAT`: day, model or session", "day", "model", "session"),
		},
		Action: app.StoreAction(e, 0, 0, func(ctx context.Context, run app.Run) error { return runCost(ctx, run, by) }),
	}
}

// A costRow is the cost of one day, model or session.
type costRow struct {
	name     string
	requests int
	usage    engines.Usage
}

// runCost prints the cost of models by day, model or session.
func runCost(ctx context.Context, run app.Run, by string) error {
	costs, err := derive.Costs(ctx, run.DB)
	if err != nil {
		return err
	}
	rows, total := addUp(costs, by)
	l := run.List("cost", "rows", app.Column{Name: by, Shrinks: true}, app.Column{Name: "requests", Right: true},
		app.Column{Name: "tokens in", Right: true}, app.Column{Name: "tokens out", Right: true}, app.Column{Name: "cost", Right: true})
	l.None, l.Hint = "no costs: mem itself has asked no model", "what the sessions cost: mem stats --usage --all-projects"
	dollars := engines.DollarColumn(total.usage.Micros)
	for _, r := range rows {
		l.Add(r.object(), r.cells(by, dollars)...)
	}
	if run.Term.Stdout && len(rows) > 1 {
		l.Row(total.cells(by, dollars)...)
	}
	l.After = app.Object{"total", total.object()}
	if err := l.Print("by", by); err != nil || run.Opt.JSON || len(rows) == 0 {
		return err
	}
	run.Note("these are the models that mem itself asked; the sessions: mem stats --usage")
	return nil
}

func (r costRow) object() app.Object {
	return app.Object{"name", r.name, "requests", r.requests, "inputTokens", r.usage.Input, "outputTokens", r.usage.Output,
		"usdMicros", r.usage.Micros}
}

func (r costRow) cells(by string, dollars func(int64) string) []any {
	name := app.Cell{Full: r.name}
	if by == "session" && len(r.name) > 8 {
		name.Short = term.ShortID(r.name)
	}
	return []any{name, countCell(r.requests), countCell(r.usage.Input), countCell(r.usage.Output), dollars(r.usage.Micros)}
}

// addUp sums costs by day, model or session, sorted by name.
func addUp(costs []records.Cost, by string) (rows []costRow, total costRow) {
	total.name = "total"
	for _, c := range costs {
		name := cmp.Or(map[string]string{"day": c.Day, "model": c.Model, "session": c.Session}[by], "unknown")
		i, found := slices.BinarySearchFunc(rows, name, func(r costRow, n string) int { return cmp.Compare(r.name, n) })
		if !found {
			rows = slices.Insert(rows, i, costRow{name: name})
		}
		for _, r := range []*costRow{&rows[i], &total} {
			r.requests += c.Requests
			r.usage.Input += c.Usage.Input
			r.usage.Output += c.Usage.Output
			r.usage.Micros += c.Usage.Micros
		}
	}
	return rows, total
}
