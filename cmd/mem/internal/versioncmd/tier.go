package versioncmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
)

type tierOptions struct{ weekly, monthly int }

// Tier returns mem tier.
func Tier(e *app.Env) *cli.Command {
	var o tierOptions
	ages := []cli.Flag{
		app.ParsedFlag(&o.weekly, "weekly", "summarise weeks after `AGE`, such as 7d, instead of the setting", parseDays),
		app.ParsedFlag(&o.monthly, "monthly", "summarise months after `AGE`, such as 30d, instead of the setting", parseDays),
	}
	return &cli.Command{
		Name:  "tier",
		Usage: "show old sessions as weekly and monthly summaries",
		Description: "A session stays as it is for a week; then the summary of its week replaces it in\n" +
			"contexts, and after a month the summary of its month. A summary is a composition of\n" +
			"its sessions within a budget; \"mem show\" prints it. Older sessions also get\n" +
			"versions, and superfluous versions are hidden. Originals are never changed, and\n" +
			"\"mem undo\" restores hidden versions. The settings autoDecay.* set the ages, and\n" +
			"autoDecay.run whether this happens automatically.",
		Subcommands: []*cli.Command{
			{Name: "status", Usage: "show the tier of each session and what is due", Flags: ages,
				Action: app.Action(e, 0, 0, o.status)},
			{Name: "run", Usage: "create the summaries that are due; safe to repeat", Flags: ages,
				Action: app.Action(e, 0, 0, o.run)},
		},
	}
}

// parseDays parses an age in days: 7, 7d or 2w.
func parseDays(s string) (int, error) {
	unit, digits := 1, strings.TrimSuffix(s, "d")
	if weeks, ok := strings.CutSuffix(s, "w"); ok {
		unit, digits = 7, weeks
	}
	n := 0
	for _, r := range digits {
		if r < '0' || r > '9' || n > 10_000 {
			return 0, fmt.Errorf("want days such as 7d or 2w")
		}
		n = 10*n + int(r-'0')
	}
	if n < 1 || digits == "" {
		return 0, fmt.Errorf("want days such as 7d or 2w")
	}
	return n * unit, nil
}

// tierPolicy returns the policy of ageing from the settings and options.
func tierPolicy(e *app.Env, o tierOptions) (derive.TierOptions, error) {
	out := derive.TierOptions{DryRun: e.Opt.DryRun}
	conf, err := e.Settings()
	if err != nil {
		return out, err
	}
	p := &out.Policy
	p.WeeklyAfter, p.MonthlyAfter = conf.Int("autoDecay.weeklyAfterDays"), conf.Int("autoDecay.monthlyAfterDays")
	p.CreateAfter, p.AggressiveAfter = conf.Int("autoDecay.createAfterDays"), conf.Int("autoDecay.aggressiveAfterDays")
	p.IntermediateAfter = conf.Int("autoDecay.pruneIntermediateAfterDays")
	p.WeeklyTokens, p.MonthlyTokens = conf.Int("autoDecay.weeklyTokens"), conf.Int("autoDecay.monthlyTokens")
	p.CreatePreset, p.AggressivePreset = conf.String("autoDecay.createPreset"), conf.String("autoDecay.aggressivePreset")
	if o.weekly > 0 {
		p.WeeklyAfter = o.weekly
	}
	if o.monthly > 0 {
		p.MonthlyAfter = o.monthly
	}
	if err := p.Check(); err != nil {
		return out, app.WithHint(app.Usagef("%v", err), "mem config list")
	}
	out.Decay = app.DecayOf(conf)
	return out, nil
}

// run makes the summaries that are due.
func (o *tierOptions) run(ctx context.Context, run app.Run) error {
	how, err := tierPolicy(run.Env, *o)
	if err != nil {
		return err
	}
	var bar *app.Progress
	how.Progress = func(done, of int) {
		if done == 0 {
			bar = run.Progress("making versions", int64(of))
			return
		}
		bar.Add(1)
	}
	did, err := derive.Tier(ctx, run.DB, run.Project, how)
	bar.End()
	if err != nil {
		return err
	}
	if run.Opt.JSON {
		err = run.PrintJSON("tier.run", nil, tieredObject(did, run.Opt.DryRun)...)
	} else {
		printTiered(run.Env, did)
	}
	for _, f := range did.Failed {
		run.Warn("%v", f)
	}
	if err == nil && len(did.Failed) > 0 {
		return app.Exit(app.ExitPartial)
	}
	return err
}

// printTiered prints the result of ageing.
func printTiered(e *app.Env, t derive.TierResult) {
	compressed, hid := e.Verb("compressed", "would compress"), e.Verb("hidden", "would hide")
	for _, v := range t.Compressed {
		what := term.ShortID(v.Session.ID)
		if v.Label != "" {
			what += ":" + v.Label
		}
		e.Report("%s %s  %s, ~%s tokens, %s\n", compressed, e.Safe(what), v.Preset, tokens.Format(v.Tokens), v.Why)
	}
	for _, s := range t.Summaries {
		e.Report("%s\n", e.Safe(summaryLine(s, e.Opt.DryRun)))
	}
	if len(t.Hidden) > 0 {
		e.Report("%s %s\n", hid, e.Safe(term.Some(t.Hidden, 8)))
	}
	switch {
	case t.Empty():
		e.Note("nothing to do")
	case !e.Opt.DryRun && len(t.Hidden) > 0:
		e.Hint("%s restores hidden versions", e.Typed("mem", "undo"))
	case !e.Opt.DryRun && len(t.Summaries) > 0:
		e.Hint("mem show %s", t.Summaries[len(t.Summaries)-1].Label)
	}
}

// summaryLine describes a summary.
func summaryLine(s derive.TierSummary, would bool) string {
	verb := cmp.Or(app.If(s.Replaced, "summarised again"), "summarised")
	if would {
		verb = "would have " + verb
		verb = strings.Replace(verb, "would have summarised", "would summarise", 1)
	}
	line := fmt.Sprintf("%s %s  %s, ~%s", verb, s.Label, term.Count(len(s.Sessions), "session"), tokens.Format(s.TokensIn))
	if s.Tokens > 0 {
		line += fmt.Sprintf(" -> ~%s", tokens.Format(s.Tokens))
	}
	line += " tokens"
	if s.Omitted > 0 {
		line += fmt.Sprintf(", no room for %d", s.Omitted)
	}
	return line
}

// tieredObject returns the JSON form of the result of ageing.
func tieredObject(t derive.TierResult, dryRun bool) app.Object {
	compressed, summaries := []app.Object{}, []app.Object{}
	for _, v := range t.Compressed {
		compressed = append(compressed, app.Object{"sessionId", v.Session.ID, "label,omitempty", v.Label, "preset", v.Preset,
			"tokens", v.Tokens, "why", v.Why})
	}
	for _, s := range t.Summaries {
		summaries = append(summaries, app.Object{"name", s.Label, "tier", s.Age, "period", s.Name,
			"start", term.TimeText(s.Start), "end", term.TimeText(s.End), "sessions", s.Sessions, "anew", s.Replaced,
			"tokensIn", s.TokensIn, "tokens", s.Tokens, "leftOut", s.Omitted})
	}
	return app.Object{"dryRun", dryRun, "compressed", compressed, "summaries", summaries,
		"hidden", append([]string{}, t.Hidden...), "failed", app.Each(t.Failed, error.Error)}
}

// status prints the tiers of sessions.
func (o *tierOptions) status(ctx context.Context, run app.Run) error {
	how, err := tierPolicy(run.Env, *o)
	if err != nil {
		return err
	}
	states, todo, err := derive.TierStatus(ctx, run.DB, run.Project, how)
	if err != nil {
		return err
	}
	l := run.List("tier.status", "tiers", "tier", "period", app.Column{Name: "sessions", Right: true}, "state",
		app.Column{Name: "summary", Shrinks: true})
	for _, r := range tierRows(states, todo) {
		l.Add(app.Object{"tier", r.tier, "period,omitempty", r.period, "sessions", r.sessions, "summary,omitempty", r.summary, "state", r.state},
			r.tier, r.period, len(r.sessions), r.state, app.Cell{Full: r.summary, Paint: run.Style().Cyan})
	}
	l.After = app.Object{"todo", tieredObject(todo, true)}
	if err := l.Print(); err != nil || run.Opt.JSON {
		return err
	}
	if todo.Empty() {
		run.Note("nothing to do")
		return nil
	}
	run.Note("to do: %s", todoText(todo))
	run.Hint("mem tier run")
	return nil
}

// A tierRow is the sessions of a week or month.
type tierRow struct {
	tier, period, summary string
	state                 string // as they are, summarised, due, not over
	sessions              []string
}

// tierRows groups sessions by tier, period and summary, the newest first.
func tierRows(states []derive.TierState, todo derive.TierResult) (rows []tierRow) {
	for _, s := range states {
		r := tierRow{tier: string(s.Tier), period: s.Period.Name, summary: s.Summary, state: "summarised"}
		due := slices.ContainsFunc(todo.Summaries, func(t derive.TierSummary) bool { return t.Label == s.Period.Label() })
		switch {
		case s.Tier == planning.Recent:
			r.state = "as they are"
		case due:
			r.state = "due"
		case s.Summary != s.Period.Label():
			r.state = "not over"
		}
		i := slices.IndexFunc(rows, func(x tierRow) bool {
			return x.tier == r.tier && x.period == r.period && x.summary == r.summary
		})
		if i < 0 {
			i = len(rows)
			rows = append(rows, r)
		}
		rows[i].sessions = append(rows[i].sessions, s.Session.ID)
	}
	return rows
}

// todoText lists the pending work in one line.
func todoText(t derive.TierResult) string {
	var parts []string
	for _, p := range []struct {
		n         int
		one, many string
	}{
		{len(t.Compressed), "version to make", "versions to make"},
		{len(t.Summaries), "summary to make", "summaries to make"},
		{len(t.Hidden), "thing to hide", "things to hide"}, {len(t.Failed), "thing that fails", "things that fail"},
	} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.one)
		case p.n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.many))
		}
	}
	return strings.Join(parts, ", ")
}

// Auto ages the sessions of a project if the setting autoDecay.run schedules it now. An error is only a warning.
func Auto(ctx context.Context, e *app.Env, m *layers.Memory, p state.Project) {
	if e.Opt.DryRun || p.ID == "" {
		return
	}
	err := func() error {
		conf, err := e.Settings()
		if err != nil {
			return err
		}
		schedule := conf.String("autoDecay.run")
		if schedule == string(derive.TierOff) {
			return nil
		}
		how, err := tierPolicy(e, tierOptions{})
		if err != nil {
			return err
		}
		did, _, err := derive.AutoTier(ctx, m.DB, p, derive.TierSchedule(schedule), how)
		if !did.Empty() {
			e.Note("autoDecay: %s", strings.NewReplacer(" to make", "", " to hide", " hidden").Replace(todoText(did)))
		}
		return errors.Join(append(did.Failed, err)...)
	}()
	if err != nil {
		e.Warn("autoDecay: %v", err)
	}
}

// AutoAll ages the sessions of the projects to which sessions were added, if that is scheduled now.
func AutoAll(ctx context.Context, e *app.Env, m *layers.Memory, added []capture.Added) {
	var done []state.Project
	for _, a := range added {
		if !slices.Contains(done, a.Project) {
			done = append(done, a.Project)
			Auto(ctx, e, m, a.Project)
		}
	}
}

// AutoEverywhere ages the sessions of all projects for which that is scheduled now. The background worker after a
// session calls it.
func AutoEverywhere(ctx context.Context, e *app.Env) {
	conf, err := e.Settings()
	if err != nil || conf.String("autoDecay.run") == string(derive.TierOff) {
		return // other commands report the error
	}
	m, err := app.OpenMemory(e)
	if err != nil {
		return
	}
	defer m.Close()
	projects, err := trust.Projects(ctx, m.DB)
	if err != nil {
		return
	}
	for _, p := range projects {
		Auto(ctx, e, m, p)
	}
}
