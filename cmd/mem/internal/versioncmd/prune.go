package versioncmd

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/state"
)

// PruneOptions choose versions to hide.
type PruneOptions struct {
	OlderThan string
	KeepLast  int
	Unused    bool
	Expired   bool
	Force     bool
}

// Flags returns the options that mem prune and mem rm share.
func (o *PruneOptions) Flags() []cli.Flag {
	return []cli.Flag{
		app.StringFlag(&o.OlderThan, "older-than", "hide versions made and used last before `TIME`, such as 60d"),
		app.IntFlag(&o.KeepLast, "keep-last", "hide all but the newest `N` versions of each session"),
		app.BoolFlag(&o.Unused, "unused", "hide all but the newest version of each session"),
		app.BoolFlag(&o.Force, "force,f", "hide versions that compositions use, too"),
	}
}

// Prune returns mem prune: mem rm with options that choose versions, by default --expired.
func Prune(e *app.Env) *cli.Command {
	o := PruneOptions{}
	return &cli.Command{
		Name:        "prune",
		Usage:       "hide unused versions",
		ArgsUsage:   "[<session>]",
		Description: "The same as \"mem rm\" with these options; without one, the same as \"mem rm --expired\".",
		Flags:       o.Flags(),
		Action:      func(c *cli.Context) error { return DoPrune(e, c, o) },
	}
}

// DoPrune hides the versions that match the options.
func DoPrune(e *app.Env, c *cli.Context, o PruneOptions) error {
	if err := e.WantOperands(c, 0, 1); err != nil {
		return err
	}
	if o.KeepLast < 0 {
		return app.Usagef("option --keep-last cannot be %d: want a whole number from 0", o.KeepLast)
	}
	r, some, err := retention(e, o, c.IsSet("keep-last"))
	if err != nil {
		return err
	}
	if !some {
		e.Note("all versions are kept: storage.compressionRetention is all")
		e.Hint("mem rm --older-than 60d, or mem config set storage.compressionRetention 90d")
		return printPruned(e, nil, nil, false)
	}
	r.Force = o.Force
	return app.WithMemory(c.Context, e, func(run app.Run) error {
		return runPrune(c.Context, run, r, e.Operand(0))
	})
}

// retention returns the versions to keep by the options or the setting; some is false if all are kept.
func retention(e *app.Env, o PruneOptions, kept bool) (r derive.Retention, some bool, err error) {
	r.Keep = 1
	if kept {
		r.Keep = o.KeepLast
	}
	if o.OlderThan != "" {
		if r.Before, err = term.ParseTime(o.OlderThan, e.Now()); err != nil {
			return r, false, app.Usagef("option --older-than cannot be %q: %v", o.OlderThan, err)
		}
	}
	if kept || o.Unused || o.OlderThan != "" {
		return r, true, nil
	}
	conf, err := e.Settings()
	if err != nil {
		return r, false, err
	}
	keep := conf.String("storage.compressionRetention")
	if keep == "all" {
		return r, false, nil
	}
	if n, err := strconv.Atoi(keep); err == nil {
		r.Keep = n
		return r, true, nil
	}
	r.Before, err = ageBefore(keep, e.Now())
	return r, true, err
}

// ageBefore parses an age in a setting: a number and d, w, m (months) or y.
func ageBefore(age string, now time.Time) (time.Time, error) {
	if months, ok := strings.CutSuffix(age, "m"); ok {
		age = months + "mo"
	}
	return term.ParseTime(age, now)
}

func runPrune(ctx context.Context, run app.Run, r derive.Retention, name string) error {
	var only *state.Session
	p := run.Project
	if name != "" {
		rev, err := run.ResolveSession(ctx, name)
		if err != nil {
			return err
		}
		only, p = rev.Session, rev.Project
	}
	taken, spared, err := derive.Prune(ctx, run.DB, p, only, r, true)
	if err != nil {
		return err
	}
	if len(taken) > 0 && !run.Opt.DryRun {
		if ok, err := run.Confirm("hide %s?", term.Count(len(taken), "version")); err != nil || !ok {
			return err
		}
		if taken, spared, err = derive.Prune(ctx, run.DB, p, only, r, false); err != nil {
			return err
		}
	}
	return printPruned(run.Env, taken, spared, true)
}

func printPruned(e *app.Env, taken, spared []derive.PrunedVersion, asked bool) error {
	objects := func(from []derive.PrunedVersion) []app.Object {
		out := []app.Object{}
		for _, x := range from { // askedFor: made by mem compress, and kept because its session was not named
			out = append(out, app.Object{"sessionId", x.Session.ID, "versionId", x.Version.Label, "tokens", x.Version.TokensOut,
				"created", term.TimeText(x.Version.Time), "usedInCompositions", append([]string{}, x.UsedBy...),
				"askedFor,omitempty", x.Requested})
		}
		return out
	}
	if e.Opt.JSON {
		return e.PrintJSON("prune", nil, "dryRun", e.Opt.DryRun, "pruned", objects(taken), "spared", objects(spared))
	}
	verb := e.Verb("hidden:", "would hide:")
	for _, x := range taken {
		e.Note("%s %s  %s", verb, app.Label(x.Version), app.ModeOf(x.Version))
	}
	for _, x := range spared {
		if x.Requested {
			e.Note("%s stays: you asked for it; name its session to hide it", app.Label(x.Version))
			continue
		}
		e.Warn("%s stays: %s uses it; take it anyway with --force", app.Label(x.Version), strings.Join(x.UsedBy, ", "))
	}
	switch {
	case len(taken)+len(spared) == 0 && asked:
		e.Note("nothing to hide")
	case len(taken) > 0 && !e.Opt.DryRun:
		e.Hint("%s brings %s back", e.Typed("mem", "undo"), map[bool]string{true: "it", false: "them"}[len(taken) == 1])
	}
	return nil
}
