package storecmd

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/tokens"
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
		Action: e.Action(0, 0, func(c *cli.Context) error {
			return runCost(c.Context, e, by)
		}),
	}
}

// A costRow is the cost of one day, model or session.
type costRow struct {
	Name     string `json:"name"`
	Requests int    `json:"requests"`
	Input    int    `json:"inputTokens"`
	Output   int    `json:"outputTokens"`
	Micros   int64  `json:"usdMicros"`
}

type costAnswer struct {
	By    string    `json:"by"`
	Rows  []costRow `json:"rows"`
	Total costRow   `json:"total"`
}

// runCost prints the cost of models by day, model or session.
func runCost(ctx context.Context, e *app.Env, by string) error {
	m, err := app.OpenMemory(e)
	if err != nil {
		return err
	}
	defer m.Close() // only what is cached could be lost
	costs, err := derive.Costs(ctx, m.DB)
	if err != nil {
		return names.StoreError(err)
	}
	a := addUp(costs, by)
	if e.Opt.JSON {
		return e.PrintJSON("cost", a)
	}
	if len(a.Rows) == 0 {
		e.Note("no costs: mem itself has asked no model")
		e.Hint("what the sessions cost: mem stats --usage --all-projects")
		return nil
	}
	t := e.Table(app.Column{Name: by, Shrinks: true}, app.Column{Name: "requests", Right: true},
		app.Column{Name: "tokens in", Right: true},
		app.Column{Name: "tokens out", Right: true}, app.Column{Name: "cost", Right: true})
	dollars := engines.DollarColumn(a.Total.Micros)
	for _, r := range a.Rows {
		t.Row(r.cells(by, dollars)...)
	}
	if e.Term.Stdout && len(a.Rows) > 1 {
		t.Row(a.Total.cells(by, dollars)...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	e.Note("these are the models that mem itself asked; the sessions: mem stats --usage")
	return nil
}

func (r costRow) cells(by string, dollars func(int64) string) []app.Cell {
	name := app.Cell{Full: r.Name}
	if by == "session" && len(r.Name) > 8 {
		name.Short = term.ShortID(r.Name)
	}
	return []app.Cell{
		name, {Full: strconv.Itoa(r.Requests)},
		{Full: strconv.Itoa(r.Input), Short: tokens.Commas(r.Input)},
		{Full: strconv.Itoa(r.Output), Short: tokens.Commas(r.Output)},
		{Full: dollars(r.Micros)},
	}
}

// addUp sums costs by day, model or session, sorted by name.
func addUp(costs []records.Cost, by string) costAnswer {
	a := costAnswer{By: by, Rows: []costRow{}, Total: costRow{Name: "total"}}
	for _, c := range costs {
		name := map[string]string{"day": c.Day, "model": c.Model, "session": c.Session}[by]
		if name == "" {
			name = "unknown"
		}
		i, found := slices.BinarySearchFunc(a.Rows, name, func(r costRow, n string) int { return cmp.Compare(r.Name, n) })
		if !found {
			a.Rows = slices.Insert(a.Rows, i, costRow{Name: name})
		}
		for _, r := range []*costRow{&a.Rows[i], &a.Total} {
			r.Requests += c.Requests
			r.Input += c.Usage.Input
			r.Output += c.Usage.Output
			r.Micros += c.Usage.Micros
		}
	}
	return a
}
