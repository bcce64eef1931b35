package storecmd

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/stats"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/refs"
)

// statsRows is the maximum number of sessions and versions in a list for people.
const statsRows = 10

// Stats returns mem stats.
func Stats(e *app.Env) *cli.Command {
	var all, used, asCSV bool
	var by string
	var usage stats.SpendingOptions
	return &cli.Command{
		Name:      "stats",
		Usage:     "show storage, growth, ratios, usage, cost and hook latency",
		ArgsUsage: "[<file|rev>...]",
		Description: "Figures are for this project, or with --all-projects for all projects. Storage is the\n" +
			"compressed size on the disk. \"originals\" is the text that redaction removed, \"files\"\n" +
			"are long tool results that Claude Code keeps next to a session. The table by month\n" +
			"counts a session, with its messages and tokens, in the month of its last message, and\n" +
			"stored bytes in the month in which mem stored them. Cache size and hook latency are for\n" +
			"the whole store; the cache may be deleted at any time.\n" +
			"\n" +
			"With operands, estimates their tokens: an operand that names a file is that file, - is\n" +
			"standard input, anything else is a revision. Of a transcript, only the text that a\n" +
			"model reads is counted. --by lists the cost of mem's own models by UTC day, model or\n" +
			"session.\n" +
			"\n" +
			"--usage shows what the sessions themselves used and cost at the list price of the API, as\n" +
			"the transcripts say: each answer once, also if a fork copied it, with the subagents. Text\n" +
			"that was captured but deleted since does not count.",
		Flags: []cli.Flag{
			app.BoolFlag(&all, "all,a", fmt.Sprintf("list all sessions and versions, not only the %d largest", statsRows)),
			app.BoolFlag(&used, "usage", "show the tokens and the cost of the sessions"),
			app.ChoiceFlag(&by, "by", "list by `WHAT`: day, model or session; with --usage also month and project", "day",
				"month", "model", "session", "project"),
			e.Since(&usage.Since, "with --usage: count the answers"), e.Until(&usage.Until, "with --usage: count the answers"),
			app.BoolFlag(&asCSV, "csv", "with --usage: print comma-separated values"),
		},
		Action: func(c *cli.Context) error {
			switch {
			case used && len(e.Operands) > 0:
				return app.WithHint(app.Usagef("option --usage of mem stats takes no operand"), "mem stats --usage")
			case used:
				usage.By = cmp.Or(by, stats.ByDay)
				return app.WithMemory(c.Context, e, func(run app.Run) error { return runUsage(c.Context, run, usage, asCSV) })
			case asCSV || by == stats.ByProject || by == stats.ByMonth || usage != stats.SpendingOptions{}:
				return app.WithHint(app.Usagef("options --csv, --since, --until and --by month or project require --usage"), "mem stats --usage")
			case by != "" && len(e.Operands) > 0:
				return app.WithHint(app.Usagef("option --by of mem stats takes no operand"), "mem stats --by "+by)
			case by != "":
				return runCost(c.Context, e, by)
			case len(e.Operands) > 0:
				return runCount(c.Context, e, e.Operands)
			}
			return runStats(c.Context, e, all)
		},
	}
}

func runStats(ctx context.Context, e *app.Env, all bool) error {
	store, err := e.MemoryDir()
	if err != nil {
		return err
	}
	return app.WithMemory(ctx, e, func(run app.Run) error {
		projects, err := run.ListedProjects(ctx)
		if err != nil {
			return app.StoreError(err)
		}
		found, err := hooks.Stats(ctx, run.DB, store, projects, e.Now().Location(), true)
		if err != nil {
			return app.StoreError(err)
		}
		if e.Opt.JSON {
			return e.PrintJSON("stats", found)
		}
		return printStats(e, found, all)
	})
}

func printStats(e *app.Env, s stats.Stats, all bool) error {
	of := "all projects"
	if s.Project != "" {
		of = "project " + s.Name
	}
	without := ""
	if s.Subagents > 0 {
		without = fmt.Sprintf(" (without %d of subagents)", s.Subagents)
	}
	counted := ""
	if s.Counted < s.Sessions {
		counted = fmt.Sprintf(" in %d of them", s.Counted)
	}
	e.Printf("%s: %s%s, %s message%s, ~%s tokens%s, %s of transcripts, %s\n", e.Safe(of),
		term.Count(s.Sessions, "session"), without,
		tokens.Commas(s.Messages), term.Plural(s.Messages), tokens.Commas(s.Tokens), counted, app.BytesText(s.Bytes),
		term.Count(s.Versions, "version"))
	return cmp.Or(
		printKinds(e, s),
		printCaches(e, s),
		printShares(e, s),
		printLargest(e, s, all),
		printMonths(e, s),
		printRatios(e, s),
		printMarkers(e, s),
		printModels(e, s),
		printLatencies(e, s),
		printHandovers(e, s),
	)
}

// section prints a heading and returns a table with one column of text and others of figures.
func section(e *app.Env, title, first string, figures ...string) *app.Table {
	e.Printf("\n%s\n", title)
	columns := []app.Column{{Name: first, Shrinks: true}}
	for _, name := range figures {
		columns = append(columns, app.Column{Name: name, Right: true})
	}
	return e.Table(columns...)
}

func bytesCell(n int64) app.Cell {
	return app.Cell{Full: strconv.FormatInt(n, 10), Short: app.BytesText(n)}
}

func countCell(n int) app.Cell { return app.Cell{Full: strconv.Itoa(n), Short: tokens.Commas(n)} }

func printKinds(e *app.Env, s stats.Stats) error {
	if len(s.Storage.Kinds) == 0 {
		return nil
	}
	t := section(e, "Storage by kind", "kind", "objects", "stored")
	own := stats.KindStorage{Kind: "mem's own records"}
	for _, k := range s.Storage.Kinds {
		switch k.Kind {
		case "records", "trees", "commits", "points":
			own.Objects, own.Stored = own.Objects+k.Objects, own.Stored+k.Stored
			continue
		}
		t.Row(app.Cell{Full: k.Kind}, countCell(k.Objects), bytesCell(k.Stored))
	}
	t.Row(app.Cell{Full: own.Kind}, countCell(own.Objects), bytesCell(own.Stored))
	return t.Flush()
}

func printCaches(e *app.Env, s stats.Stats) error {
	most := ""
	if s.Storage.CacheMax > 0 {
		most = " of at most " + app.BytesText(s.Storage.CacheMax)
	}
	e.Printf("\nCache: %s%s, deleted and made again at any time\n", app.BytesText(s.Storage.Cache), most)
	return nil
}

func printShares(e *app.Env, s stats.Stats) error {
	t := section(e, "Storage by project, "+app.BytesText(s.Storage.Packs)+" together", "project", "stored")
	var all []state.Project
	for _, p := range s.Storage.Projects {
		all = append(all, state.Project{ID: refs.Project(p.Project), Name: p.Name})
	}
	for i, p := range s.Storage.Projects {
		t.Row(app.Cell{Full: app.DistinctName(all[i], all)}, bytesCell(p.Stored))
	}
	return t.Flush()
}

// printLargest lists the largest sessions and versions, or all of them.
func printLargest(e *app.Env, s stats.Stats, all bool) error {
	most := func(n int) int {
		if all {
			return n
		}
		return min(n, statsRows)
	}
	if list := s.Storage.Sessions; len(list) > 0 {
		t := section(e, "Storage by session"+of(most(len(list)), len(list)), "session", "size", "stored", "versions", "title")
		t.Columns[4] = app.Column{Name: "title", Shrinks: true}
		for _, x := range list[:most(len(list))] {
			t.Row(app.Cell{Full: x.Session, Short: term.ShortID(x.Session)}, bytesCell(x.Bytes), bytesCell(x.Stored),
				bytesCell(x.Versions), app.Cell{Full: x.Title})
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	list := s.Storage.Versions
	if len(list) == 0 {
		return nil
	}
	t := section(e, "Storage by version"+of(most(len(list)), len(list)), "version", "tokens", "ratio", "stored")
	for _, v := range list[:most(len(list))] {
		t.Row(app.Cell{Full: v.Session + ":" + v.Version, Short: term.ShortID(v.Session) + ":" + v.Version},
			countCell(v.Tokens),
			app.Cell{Full: strconv.FormatFloat(v.Ratio, 'f', 2, 64)}, bytesCell(v.Stored))
	}
	return t.Flush()
}

// of returns the number of listed rows if not all are listed.
func of(listed, all int) string {
	if listed == all {
		return ""
	}
	return fmt.Sprintf(", %d of %d (mem stats -a lists all)", listed, all)
}

func printMonths(e *app.Env, s stats.Stats) error {
	if len(s.Months) == 0 {
		return nil
	}
	t := section(e, "By month: sessions by their last message, stored bytes by the time of storing",
		"month", "sessions", "messages", "tokens", "stored")
	for _, x := range s.Months {
		t.Row(app.Cell{Full: x.Month}, countCell(x.Sessions), countCell(x.Messages), countCell(x.Tokens), bytesCell(x.Stored))
	}
	return t.Flush()
}

func printRatios(e *app.Env, s stats.Stats) error {
	if s.Versions == 0 {
		return nil
	}
	t := section(e, "Versions by ratio", "ratio", "versions", "tokens")
	for _, x := range s.Ratios {
		t.Row(app.Cell{Full: x.Ratio}, countCell(x.Versions), countCell(x.Tokens))
	}
	return t.Flush()
}

func printMarkers(e *app.Env, s stats.Stats) error {
	if s.Markers == 0 {
		return nil
	}
	t := section(e, fmt.Sprintf("%s in %s", term.Count(s.Markers, "marker"),
		term.Count(s.Versions, "version")), "weight", "kept", "not protected")
	for _, w := range s.Weights {
		t.Row(app.Cell{Full: w.Weight}, countCell(w.Kept), countCell(w.Lost))
	}
	t.Row(app.Cell{Full: "all"}, countCell(s.Kept), countCell(s.Lost))
	return t.Flush()
}

func printModels(e *app.Env, s stats.Stats) error {
	if len(s.Costs) == 0 {
		return nil
	}
	t := section(e, "Cost of models", "model", "requests", "tokens in", "tokens out", "dollars")
	for _, c := range s.Costs {
		t.Row(app.Cell{Full: c.Model}, countCell(c.Requests), countCell(c.Input), countCell(c.Output),
			app.Cell{Full: strconv.FormatFloat(c.Dollars, 'f', 4, 64)})
	}
	return t.Flush()
}

func printLatencies(e *app.Env, s stats.Stats) error {
	if len(s.Hooks) == 0 {
		return nil
	}
	ms := func(f float64) app.Cell { return app.Cell{Full: strconv.FormatFloat(f, 'f', 1, 64)} }
	t := section(e, "Latency of hooks", "event", "runs", "failed", "p50 ms", "p95 ms", "last")
	for _, h := range s.Hooks {
		t.Row(app.Cell{Full: h.Event}, countCell(h.Runs), countCell(h.Failed), ms(h.P50), ms(h.P95),
			app.Cell{Full: h.Last, Short: agoText(e.Now(), h.Last)})
	}
	return t.Flush()
}

func printHandovers(e *app.Env, s stats.Stats) error {
	if len(s.Handovers) == 0 {
		return nil
	}
	t := section(e, "Hand-overs", "event", "count", "sessions", "characters")
	for _, h := range s.Handovers {
		t.Row(app.Cell{Full: h.Event}, countCell(h.Count), countCell(h.Sessions), countCell(h.Characters))
	}
	return t.Flush()
}

// agoText returns the age of a time in RFC 3339.
func agoText(now time.Time, text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return app.Ago(now, at)
}
