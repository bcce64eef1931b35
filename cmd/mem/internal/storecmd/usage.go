package storecmd

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/stats"
	"github.com/memvcs/mem/layers/tokens"
)

// runUsage prints what the sessions used and cost.
func runUsage(ctx context.Context, run app.Run, o stats.SpendingOptions, asCSV bool) error {
	o.Zone = run.Now().Location()
	projects, err := run.ListedProjects(ctx)
	if err != nil {
		return err
	}
	found, err := stats.ReadSpending(ctx, run.DB, projects, o)
	switch {
	case err != nil:
		return err
	case run.Opt.JSON:
		return run.PrintJSON("stats.usage", found)
	case asCSV:
		return printUsageCSV(run.Env, found)
	}
	return printUsage(run.Env, found, o)
}

func printUsage(e *app.Env, s stats.Spending, o stats.SpendingOptions) error {
	if len(s.Rows) == 0 {
		e.Note("no usage: no session has an answer of a model%s", inRange(o))
		return nil
	}
	number := func(name string) app.Column { return app.Column{Name: name, Right: true, Keep: true} }
	t := e.Table(app.Column{Name: s.By, Shrinks: true}, number("answers"), number("input"), number("output"),
		number("written"), number("read"), number("cost"))
	rows, dollars := s.Rows, engines.DollarColumn(s.Total.Micros)
	if e.Term.Stdout && len(rows) > 1 {
		rows = append(rows, s.Total)
	}
	for _, r := range rows {
		name := app.Cell{Full: r.Name}
		if s.By == stats.BySession && r.Name != s.Total.Name {
			name.Short = strings.TrimSpace(term.ShortID(r.Name) + " " + r.Title)
		}
		cells := []any{name, r.Answers}
		for _, n := range []int64{r.Input, r.Output, r.CacheWrite, r.CacheRead} {
			cells = append(cells, app.Cell{Full: strconv.FormatInt(n, 10), Short: tokens.Format(int(n))})
		}
		t.Row(append(cells, usageCost(r, dollars))...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if e.Term.Stdout {
		e.Note("written, read: tokens of the prompt cache")
	}
	e.Note("list prices of the API in %s; a subscription, discounts and surcharges are not considered", s.Prices)
	if len(s.Total.Unpriced) > 0 {
		e.Note("no known price, so not in the cost: %s", e.Safe(strings.Join(s.Total.Unpriced, ", ")))
	}
	return nil
}

// inRange says that the answers were selected by time.
func inRange(o stats.SpendingOptions) string {
	return cmp.Or(app.If(o.Since.IsZero() && o.Until.IsZero(), " in memory"), " in that time")
}

// usageCost returns the cost of a row, with a plus if it has answers without a known price.
func usageCost(r stats.Spent, dollars func(int64) string) string {
	switch {
	case len(r.Unpriced) == 0:
		return dollars(r.Micros)
	case r.Micros == 0:
		return "unknown"
	}
	return dollars(r.Micros) + "+"
}

func printUsageCSV(e *app.Env, s stats.Spending) error {
	w := csv.NewWriter(e.Out)
	_ = w.Write([]string{s.By, "title", "answers", "input_tokens", "output_tokens", "cache_write_tokens",
		"cache_read_tokens", "web_searches", "usd", "unpriced_models"}) // Error returns it
	for _, r := range s.Rows {
		_ = w.Write([]string{e.Safe(r.Name), e.Safe(r.Title), fmt.Sprint(r.Answers), fmt.Sprint(r.Input), fmt.Sprint(r.Output),
			fmt.Sprint(r.CacheWrite), fmt.Sprint(r.CacheRead), fmt.Sprint(r.Searches),
			fmt.Sprintf("%d.%06d", r.Micros/1_000_000, r.Micros%1_000_000), e.Safe(strings.Join(r.Unpriced, " "))}) // as above
	}
	w.Flush()
	return w.Error()
}
