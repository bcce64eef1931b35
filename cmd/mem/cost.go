package main

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers/engines"
	bodies "github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/tokens"
)

// cost is the command that shows what models have cost.
func (e *Env) cost() *cli.Command {
	by := "day"
	return &cli.Command{
		Name:  "cost",
		Usage: "show what models have cost",
		Description: "Every answer of a model is in the ledger, also one that was of no use. Days are those of UTC; the caps\n" +
			"llm.maxTokensPerDay and llm.maxUSDPerDay count in the same way. What is compressed by extract costs nothing.",
		Flags: []*cli.Flag{
			cli.Choice(&by, "by", "add up by `WHAT`: day, model or session", "day", "model", "session"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 0); err != nil {
				return err
			}
			return e.runCost(ctx, by)
		},
	}
}

// A costRow is what adds up under one name.
type costRow struct {
	Name     string `json:"name"`
	Requests int    `json:"requests"`
	Input    int    `json:"input_tokens"`
	Output   int    `json:"output_tokens"`
	Micros   int64  `json:"usd_micros"`
}

type costAnswer struct {
	By    string    `json:"by"`
	Rows  []costRow `json:"rows"`
	Total costRow   `json:"total"`
}

func (e *Env) runCost(ctx context.Context, by string) error {
	m, err := e.memory()
	if err != nil {
		return err
	}
	defer m.Close() // only what is cached could be lost
	costs, err := m.Derive().Costs(ctx)
	if err != nil {
		return storeError(err)
	}
	a := addUp(costs, by)
	if e.opt.json {
		return e.printJSON("cost", a)
	}
	if len(a.Rows) == 0 {
		e.note("nothing was spent")
		return nil
	}
	t := e.table(column{name: by, shrinks: true}, column{name: "requests", right: true}, column{name: "tokens in", right: true},
		column{name: "tokens out", right: true}, column{name: "cost", right: true})
	for _, r := range a.Rows {
		t.row(r.cells(by)...)
	}
	if e.Term.Stdout && len(a.Rows) > 1 {
		t.row(a.Total.cells(by)...)
	}
	return t.flush()
}

func (r costRow) cells(by string) []cell {
	name := cell{full: r.Name}
	if by == "session" && len(r.Name) > 8 {
		name.short = shortID(r.Name)
	}
	return []cell{
		name, {full: strconv.Itoa(r.Requests)},
		{full: strconv.Itoa(r.Input), short: tokens.Commas(r.Input)}, {full: strconv.Itoa(r.Output), short: tokens.Commas(r.Output)},
		{full: engines.FormatDollars(r.Micros)},
	}
}

// addUp adds up costs by day, model or session, sorted by name.
func addUp(costs []bodies.Cost, by string) costAnswer {
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
