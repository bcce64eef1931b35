package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/stats"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/refs"
)

// statsRows is how many sessions and versions are listed for people.
const statsRows = 10

// stats is the command that prints figures.
func (e *Env) stats() *cli.Command {
	var all bool
	var by string
	return &cli.Command{
		Name:      "stats",
		Usage:     "show storage, growth, ratios, cost and hook latency",
		ArgsUsage: "[<file|rev>...]",
		Description: "Figures are of this project, or with --all-projects of all. Storage is counted in the packs of the store, compressed:\n" +
			"originals are what redaction removed from sessions, files are long results of tools that Claude Code keeps beside a\n" +
			"session. The cache and the latency of hooks are those of the whole store.\n\n" +
			"With operands it estimates their tokens: an operand that names a file is that file, - is stdin, anything else is a\n" +
			"revision. Of a transcript, only what a model reads counts. --by lists what models have cost, by UTC day, model or session.",
		Flags: []*cli.Flag{
			cli.Bool(&all, "all,a", fmt.Sprintf("list all sessions and versions, not only the %d largest", statsRows)),
			cli.Choice(&by, "by", "list the cost of models by `WHAT`: day, model or session", "day", "model", "session"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			switch {
			case by != "" && len(e.operands) > 0:
				return withHint(usagef("option --by of mem stats takes no operand"), "mem stats --by "+by)
			case by != "":
				return e.runCost(ctx, by)
			case len(e.operands) > 0:
				return e.runCount(ctx, e.operands)
			}
			return e.runStats(ctx, all)
		},
	}
}

// hookActivity returns what the hooks of a store did.
func hookActivity(store string) stats.Activity {
	return func(of []refs.Project) ([]stats.Hook, []stats.Handover, error) { return hooks.Activity(store, of) }
}

func (e *Env) runStats(ctx context.Context, all bool) error {
	store, err := e.memoryDir()
	if err != nil {
		return err
	}
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		projects := []state.Project{sc.Project}
		if e.opt.allProjects {
			var err error
			if projects, err = m.Trusted().Projects(ctx); err != nil {
				return storeError(err)
			}
		}
		found, err := m.Stats().Of(ctx, projects, e.Now().Location(), hookActivity(store))
		if err != nil {
			return storeError(err)
		}
		if e.opt.json {
			return e.printJSON("stats", found)
		}
		return e.printStats(found, all)
	})
}

func (e *Env) printStats(s stats.Stats, all bool) error {
	of := "all projects"
	if s.Project != "" {
		of = "project " + s.Name
	}
	e.printf("%s: %s, %s message%s, ~%s tokens in %d of them, %s of transcripts, %s\n", e.safe(of), count(s.Sessions, "session"),
		tokens.Commas(s.Messages), plural(s.Messages), tokens.Commas(s.Tokens), s.Counted, bytesText(s.Bytes), count(s.Versions, "version"))
	for _, print := range []func(stats.Stats) error{
		e.printKinds, e.printCaches, e.printShares, func(s stats.Stats) error { return e.printLargest(s, all) },
		e.printMonths, e.printRatios, e.printMarkers, e.printModels, e.printLatencies, e.printHandovers,
	} {
		if err := print(s); err != nil {
			return err
		}
	}
	return nil
}

// section prints a heading, and returns a table whose first column holds words and whose others hold figures.
func (e *Env) section(title, first string, figures ...string) *table {
	e.printf("\n%s\n", title)
	columns := []column{{name: first, shrinks: true}}
	for _, name := range figures {
		columns = append(columns, column{name: name, right: true})
	}
	return e.table(columns...)
}

func bytesCell(n int64) cell { return cell{full: strconv.FormatInt(n, 10), short: bytesText(n)} }

func countCell(n int) cell { return cell{full: strconv.Itoa(n), short: tokens.Commas(n)} }

func (e *Env) printKinds(s stats.Stats) error {
	t := e.section("Storage by kind", "kind", "objects", "stored")
	for _, k := range s.Storage.Kinds {
		t.row(cell{full: k.Kind}, countCell(k.Objects), bytesCell(k.Stored))
	}
	return t.flush()
}

func (e *Env) printCaches(s stats.Stats) error {
	most := ""
	if s.Storage.CacheMax > 0 {
		most = " of " + bytesText(s.Storage.CacheMax)
	}
	t := e.section("Cache, "+bytesText(s.Storage.Cache)+most, "directory", "files", "size")
	for _, c := range s.Storage.Caches {
		name := c.Directory
		if name == "" {
			name = "."
		}
		t.row(cell{full: name}, countCell(c.Files), bytesCell(c.Bytes))
	}
	return t.flush()
}

func (e *Env) printShares(s stats.Stats) error {
	t := e.section("Storage by project, "+bytesText(s.Storage.Packs)+" in packs", "project", "stored")
	for _, p := range s.Storage.Projects {
		t.row(cell{full: p.Name}, bytesCell(p.Stored))
	}
	return t.flush()
}

// printLargest lists the sessions and the versions that take most, or all of them.
func (e *Env) printLargest(s stats.Stats, all bool) error {
	most := func(n int) int {
		if all {
			return n
		}
		return min(n, statsRows)
	}
	if list := s.Storage.Sessions; len(list) > 0 {
		t := e.section("Storage by session"+of(most(len(list)), len(list)), "session", "size", "stored", "versions", "title")
		t.columns[4] = column{name: "title", shrinks: true}
		for _, x := range list[:most(len(list))] {
			t.row(cell{full: x.Session, short: shortID(x.Session)}, bytesCell(x.Bytes), bytesCell(x.Stored), bytesCell(x.Versions), cell{full: x.Title})
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	list := s.Storage.Versions
	if len(list) == 0 {
		return nil
	}
	t := e.section("Storage by version"+of(most(len(list)), len(list)), "version", "tokens", "ratio", "stored")
	for _, v := range list[:most(len(list))] {
		t.row(cell{full: v.Session + ":" + v.Version, short: shortID(v.Session) + ":" + v.Version}, countCell(v.Tokens),
			cell{full: strconv.FormatFloat(v.Ratio, 'f', 2, 64)}, bytesCell(v.Stored))
	}
	return t.flush()
}

// of says how many are listed if they are not all.
func of(listed, all int) string {
	if listed == all {
		return ""
	}
	return fmt.Sprintf(", %d of %d (mem stats -a lists all)", listed, all)
}

func (e *Env) printMonths(s stats.Stats) error {
	t := e.section("Growth by month", "month", "sessions", "messages", "tokens", "stored")
	for _, x := range s.Months {
		t.row(cell{full: x.Month}, countCell(x.Sessions), countCell(x.Messages), countCell(x.Tokens), bytesCell(x.Stored))
	}
	return t.flush()
}

func (e *Env) printRatios(s stats.Stats) error {
	if s.Versions == 0 {
		return nil
	}
	t := e.section("Versions by ratio", "ratio", "versions", "tokens")
	for _, x := range s.Ratios {
		t.row(cell{full: x.Ratio}, countCell(x.Versions), countCell(x.Tokens))
	}
	return t.flush()
}

func (e *Env) printMarkers(s stats.Stats) error {
	if s.Markers == 0 {
		return nil
	}
	t := e.section(fmt.Sprintf("Survival of %s in %s", count(s.Markers, "marker"), count(s.Versions, "version")), "weight", "preserved", "summarised")
	for _, w := range s.Weights {
		t.row(cell{full: w.Weight}, countCell(w.Kept), countCell(w.Lost))
	}
	t.row(cell{full: "all"}, countCell(s.Kept), countCell(s.Lost))
	return t.flush()
}

func (e *Env) printModels(s stats.Stats) error {
	if len(s.Costs) == 0 {
		return nil
	}
	t := e.section("Cost of models", "model", "requests", "tokens in", "tokens out", "dollars")
	for _, c := range s.Costs {
		t.row(cell{full: c.Model}, countCell(c.Requests), countCell(c.Input), countCell(c.Output), cell{full: strconv.FormatFloat(c.Dollars, 'f', 4, 64)})
	}
	return t.flush()
}

func (e *Env) printLatencies(s stats.Stats) error {
	if len(s.Hooks) == 0 {
		return nil
	}
	ms := func(f float64) cell { return cell{full: strconv.FormatFloat(f, 'f', 1, 64)} }
	t := e.section("Latency of hooks", "event", "runs", "failed", "p50 ms", "p95 ms", "last")
	for _, h := range s.Hooks {
		t.row(cell{full: h.Event}, countCell(h.Runs), countCell(h.Failed), ms(h.P50), ms(h.P95),
			cell{full: h.Last, short: agoText(e.Now(), h.Last)})
	}
	return t.flush()
}

func (e *Env) printHandovers(s stats.Stats) error {
	if len(s.Handovers) == 0 {
		return nil
	}
	t := e.section("Hand-overs", "event", "count", "sessions", "characters")
	for _, h := range s.Handovers {
		t.row(cell{full: h.Event}, countCell(h.Count), countCell(h.Sessions), countCell(h.Characters))
	}
	return t.flush()
}

// agoText says how long ago a time in JSON's form was.
func agoText(now time.Time, text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return ago(now, at)
}
