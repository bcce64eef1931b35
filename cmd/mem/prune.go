package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/state"
)

type pruneOptions struct {
	olderThan string
	keepLast  int
	unused    bool
	expired   bool
	force     bool
}

// prune is the older name of mem rm with the options that choose versions; without one it is mem rm --expired.
func (e *Env) prune() *cli.Command {
	o := pruneOptions{}
	return &cli.Command{
		Name:        "prune",
		Usage:       "hide unused versions",
		ArgsUsage:   "[<session>]",
		Description: "The same as \"mem rm\" with these options; without one, the same as \"mem rm --expired\".",
		Flags: []*cli.Flag{
			cli.String(&o.olderThan, "older-than", "hide versions made and used last before `TIME`, such as 60d"),
			cli.Int(&o.keepLast, "keep-last", "hide all but the newest `N` versions of each session"),
			cli.Bool(&o.unused, "unused", "hide all but the newest version of each session"),
			cli.Bool(&o.force, "force,f", "hide what compositions use, too"),
		},
		Action: func(ctx context.Context, c *cli.Command) error { return e.doPrune(ctx, c, o) },
	}
}

// doPrune hides the versions that the options choose.
func (e *Env) doPrune(ctx context.Context, c *cli.Command, o pruneOptions) error {
	if err := e.wantOperands(c, 0, 1); err != nil {
		return err
	}
	if o.keepLast < 0 {
		return usagef("option --keep-last cannot be %d: want a whole number from 0", o.keepLast)
	}
	r, some, err := e.retention(o, c.IsSet("keep-last"))
	if err != nil {
		return err
	}
	if !some {
		e.note("all versions are kept: storage.compressionRetention is all")
		e.hint("mem rm --older-than 60d, or mem config set storage.compressionRetention 90d")
		return e.printPruned(nil, nil, false)
	}
	return e.runPrune(ctx, o, r, e.operand(0))
}

// retention returns what the options say must stay, or else the setting; some is false if all must.
func (e *Env) retention(o pruneOptions, kept bool) (r derive.Retention, some bool, err error) {
	r.Keep = 1
	if kept {
		r.Keep = o.keepLast
	}
	if o.olderThan != "" {
		if r.Before, err = parseTime(o.olderThan, e.Now()); err != nil {
			return r, false, usagef("option --older-than cannot be %q: %v", o.olderThan, err)
		}
	}
	if kept || o.unused || o.olderThan != "" {
		return r, true, nil
	}
	conf, err := e.settings()
	if err != nil {
		return r, false, err
	}
	keep, err := conf.String("storage.compressionRetention")
	if err != nil || keep == "all" {
		return r, false, err
	}
	if n, err := strconv.Atoi(keep); err == nil {
		r.Keep = n
		return r, true, nil
	}
	r.Before, err = ageBefore(keep, e.Now())
	return r, true, err
}

// ageBefore reads an age as settings have it: a number and d, w, m (months) or y.
func ageBefore(age string, now time.Time) (time.Time, error) {
	if months, ok := strings.CutSuffix(age, "m"); ok {
		age = months + "mo"
	}
	return parseTime(age, now)
}

// A prunedAnswer is a version as prune --json prints it.
type prunedAnswer struct {
	Session string   `json:"session"`
	Label   string   `json:"label"`
	Tokens  int      `json:"tokens"`
	Created string   `json:"created"`
	UsedBy  []string `json:"used_by"`
	Asked   bool     `json:"asked_for,omitempty"` // a person asked for it, and its session was not named
}

func (e *Env) runPrune(ctx context.Context, o pruneOptions, r derive.Retention, name string) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		var only *state.Session
		p := sc.Project
		if name != "" {
			rev, err := e.resolveSession(ctx, m, sc, name)
			if err != nil {
				return err
			}
			only, p = rev.Session, rev.Project
		}
		taken, spared, err := m.Derive().Prune(ctx, p, only, r, o.force, true)
		if err != nil {
			return err
		}
		if len(taken) > 0 && !e.opt.dryRun {
			if ok, err := e.confirm("take %s out of the lists?", count(len(taken), "version")); err != nil || !ok {
				return err
			}
			if taken, spared, err = m.Derive().Prune(ctx, p, only, r, o.force, false); err != nil {
				return err
			}
		}
		return e.printPruned(taken, spared, true)
	})
}

func (e *Env) printPruned(taken, spared []derive.Pruning, asked bool) error {
	answer := struct {
		DryRun bool           `json:"dry_run"`
		Pruned []prunedAnswer `json:"pruned"`
		Spared []prunedAnswer `json:"spared"`
	}{e.opt.dryRun, []prunedAnswer{}, []prunedAnswer{}}
	add := func(list *[]prunedAnswer, from []derive.Pruning) {
		for _, x := range from {
			*list = append(*list, prunedAnswer{x.Session.ID, x.Version.Label, x.Version.TokensOut, timeText(x.Version.Time), append([]string{}, x.UsedBy...), x.Asked})
		}
	}
	add(&answer.Pruned, taken)
	add(&answer.Spared, spared)
	if e.opt.json {
		return e.printJSON("prune", answer)
	}
	verb := "hidden:"
	if e.opt.dryRun {
		verb = "would hide:"
	}
	for _, x := range taken {
		e.note("%s %s  %s", verb, label(x.Version), modeOf(x.Version))
	}
	for _, x := range spared {
		if x.Asked {
			e.note("%s stays: you asked for it; name its session to hide it", label(x.Version))
			continue
		}
		e.warn("%s stays: %s uses it; take it anyway with --force", label(x.Version), strings.Join(x.UsedBy, ", "))
	}
	switch {
	case len(taken)+len(spared) == 0 && asked:
		e.note("nothing to hide")
	case len(taken) > 0 && !e.opt.dryRun:
		e.hint("mem undo brings %s back", map[bool]string{true: "it", false: "them"}[len(taken) == 1])
	}
	return nil
}
