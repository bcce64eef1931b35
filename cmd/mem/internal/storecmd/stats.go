package storecmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
				return app.StoreAction(e, 0, 0, func(ctx context.Context, run app.Run) error { return runCost(ctx, run, by) })(c)
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
			return err
		}
		found, err := hooks.Stats(ctx, run.DB, store, projects, e.Now().Location(), true)
		if err != nil {
			return err
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
	without := app.If(s.Subagents > 0, fmt.Sprintf(" (without %d of subagents)", s.Subagents))
	counted := app.If(s.Counted < s.Sessions, fmt.Sprintf(" in %s of them", tokens.Commas(s.Counted)))
	e.Printf("%s: %s%s, %s message%s, ~%s tokens%s, %s of transcripts, %s\n", e.Safe(of),
		term.Count(s.Sessions, "session"), without,
		tokens.Commas(s.Messages), term.Plural(s.Messages), tokens.Commas(s.Tokens), counted, app.BytesText(s.Bytes),
		term.Count(s.Versions, "version"))
	if err := storageSections(e, s.Storage, all); err != nil {
		return err
	}
	weights := s.Weights
	if s.Markers > 0 {
		weights = append(slices.Clone(weights), stats.Weight{Weight: "all", Kept: s.Kept, Lost: s.Lost})
	}
	if s.Versions == 0 {
		s.Ratios = nil
	}
	return cmp.Or(
		section(e, "By month: sessions by their last message, stored bytes by the time of storing",
			"month, sessions, messages, tokens, stored", s.Months, func(x stats.Month) []any {
				return []any{x.Month, x.Sessions, x.Messages, x.Tokens, x.Stored}
			}),
		section(e, "Versions by ratio", "ratio, versions, tokens", s.Ratios, func(x stats.Ratio) []any {
			return []any{x.Ratio, x.Versions, x.Tokens}
		}),
		section(e, term.Count(s.Markers, "marker")+" in "+term.Count(s.Versions, "version"), "weight, kept, not protected", weights,
			func(x stats.Weight) []any { return []any{x.Weight, x.Kept, x.Lost} }),
		section(e, "Cost of models", "model, requests, tokens in, tokens out, dollars", s.Costs, func(x stats.Cost) []any {
			return []any{x.Model, x.Requests, x.Input, x.Output, fmt.Sprintf("%.4f", x.Dollars)}
		}),
		section(e, "Latency of hooks", "event, runs, failed, p50 ms, p95 ms, last", s.Hooks, func(x stats.Hook) []any {
			return []any{x.Event, x.Runs, x.Failed, fmt.Sprintf("%.1f", x.P50), fmt.Sprintf("%.1f", x.P95),
				app.Cell{Full: x.Last, Short: agoText(e.Now(), x.Last)}}
		}),
		section(e, "Hand-overs", "event, count, sessions, characters", s.Handovers, func(x stats.Handover) []any {
			return []any{x.Event, x.Count, x.Sessions, x.Characters}
		}),
	)
}

// section prints a list under a heading, nothing if it is empty. Its first column is a text, the others are figures: an int
// is a count, an int64 is a number of bytes. A column "title" is a text, too.
func section[T any](e *app.Env, heading, names string, list []T, row func(T) []any) error {
	if len(list) == 0 {
		return nil
	}
	e.Printf("\n%s\n", heading)
	var columns []any
	for i, name := range strings.Split(names, ", ") {
		text := i == 0 || name == "title"
		columns = append(columns, app.Column{Name: name, Right: !text, Shrinks: text})
	}
	t := e.Table(columns...)
	for _, x := range list {
		values := row(x)
		for i, v := range values {
			switch v := v.(type) {
			case int:
				values[i] = countCell(v)
			case int64:
				values[i] = bytesCell(v)
			}
		}
		t.Row(values...)
	}
	return t.Flush()
}

func bytesCell(n int64) app.Cell {
	return app.Cell{Full: strconv.FormatInt(n, 10), Short: app.BytesText(n)}
}

func countCell(n int) app.Cell { return app.Cell{Full: strconv.Itoa(n), Short: tokens.Commas(n)} }

// storageSections prints what takes space on the disk: of sessions and versions the largest, or all of them.
func storageSections(e *app.Env, s stats.Storage, all bool) error {
	if err := section(e, "Storage by kind", "kind, objects, stored", stats.OwnRecords(s.Kinds), func(k stats.KindStorage) []any {
		return []any{k.Kind, k.Objects, k.Stored}
	}); err != nil {
		return err
	}
	most := app.If(s.CacheMax > 0, " of at most "+app.BytesText(s.CacheMax))
	e.Printf("\nCache: %s%s, deleted and made again at any time\n", app.BytesText(s.Cache), most)
	projects := app.Each(s.Projects, func(p stats.ProjectStorage) state.Project {
		return state.Project{ID: refs.Project(p.Project), Name: p.Name}
	})
	sessions, versions := s.Sessions, s.Versions
	if !all {
		sessions, versions = sessions[:min(len(sessions), statsRows)], versions[:min(len(versions), statsRows)]
	}
	return cmp.Or(
		section(e, "Storage by project, "+app.BytesText(s.Packs)+" together", "project, stored", s.Projects,
			func(p stats.ProjectStorage) []any {
				return []any{app.DistinctName(state.Project{ID: refs.Project(p.Project), Name: p.Name}, projects), p.Stored}
			}),
		section(e, "Storage by session"+of(len(sessions), len(s.Sessions)), "session, size, stored, versions, title", sessions,
			func(x stats.SessionStorage) []any {
				return []any{app.Cell{Full: x.Session, Short: term.ShortID(x.Session)}, x.Bytes, x.Stored, x.Versions, x.Title}
			}),
		section(e, "Storage by version"+of(len(versions), len(s.Versions)), "version, tokens, ratio, stored", versions,
			func(v stats.VersionStorage) []any {
				name := app.Cell{Full: v.Session + ":" + v.Version, Short: term.ShortID(v.Session) + ":" + v.Version}
				return []any{name, v.Tokens, fmt.Sprintf("%.2f", v.Ratio), v.Stored}
			}),
	)
}

// of returns the number of listed rows if not all are listed.
func of(listed, all int) string {
	return app.If(listed < all, fmt.Sprintf(", %d of %d (mem stats -a lists all)", listed, all))
}

// agoText returns the age of a time in RFC 3339.
func agoText(now time.Time, text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return app.Ago(now, at)
}
