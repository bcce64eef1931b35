package main

import (
	"context"
	"errors"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/state"
)

// rm is the command that hides things.
func (e *Env) rm() *cli.Command {
	var o pruneOptions
	return &cli.Command{
		Name:      "rm",
		Usage:     "hide sessions, versions or compositions",
		ArgsUsage: "<rev>...",
		Description: "Nothing is deleted: the bytes stay in the memory, \"mem ls -a\" lists what is hidden and \"mem undo\" restores it. A version\n" +
			"that a composition uses is only hidden with --force; the composition keeps its own copy.\n\n" +
			"--older-than, --keep-last, --unused and --expired choose versions, of all sessions or of the one that is named. The\n" +
			"newest version of each session stays, unless --keep-last says otherwise. Without a session, only versions that mem made\n" +
			"for compositions and tiers are hidden, not those that you made with \"mem compress\".",
		Flags: []*cli.Flag{
			cli.String(&o.olderThan, "older-than", "hide versions made and used last before `TIME`, such as 60d"),
			cli.Int(&o.keepLast, "keep-last", "hide all but the newest `N` versions of each session"),
			cli.Bool(&o.unused, "unused", "hide all but the newest version of each session"),
			cli.Bool(&o.expired, "expired", "hide versions that storage.compressionRetention does not keep"),
			cli.Bool(&o.force, "force,f", "hide what compositions use, too"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if o.expired || o.unused || o.olderThan != "" || c.IsSet("keep-last") {
				return e.doPrune(ctx, c, o)
			}
			if err := e.wantOperands(c, 1, -1); err != nil {
				return err
			}
			return e.runRm(ctx, e.operands, o.force)
		},
	}
}

// A removedAnswer is what was removed, as --json prints it.
type removedAnswer struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

func (e *Env) runRm(ctx context.Context, names []string, force bool) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		revs, err := e.resolveAll(ctx, m, sc, names)
		if err != nil {
			return err
		}
		for _, rev := range revs { // all or nothing
			if err := m.Derive().Remove(ctx, rev, force, true); err != nil {
				return removeError(rev, err)
			}
		}
		if e.Term.Stdin { // a script is not asked: nothing is lost
			if ok, err := e.confirm("take %s out of the lists?", rmNames(revs)); err != nil || !ok {
				return err
			}
		}
		answer := struct {
			DryRun  bool            `json:"dry_run"`
			Removed []removedAnswer `json:"removed"`
		}{e.opt.dryRun, []removedAnswer{}}
		for _, rev := range revs {
			if err := m.Derive().Remove(ctx, rev, force, e.opt.dryRun); err != nil {
				return removeError(rev, err)
			}
			answer.Removed = append(answer.Removed, removedAnswer{string(rev.Kind), revName(rev)})
		}
		if e.opt.json {
			return e.printJSON("rm", answer)
		}
		verb := "removed"
		if e.opt.dryRun {
			verb = "would remove"
		}
		for _, r := range answer.Removed {
			e.note("%s %s %s", verb, r.Kind, r.Name)
		}
		return nil
	})
}

// rmNames writes what would be removed: by name if it is one thing.
func rmNames(revs []state.Rev) string {
	if len(revs) == 1 {
		return string(revs[0].Kind) + " " + revName(revs[0])
	}
	return count(len(revs), "thing")
}

// removeError adds to an error of a removal what can be done about it.
func removeError(rev state.Rev, err error) error {
	var used *derive.UsedError
	switch {
	case errors.As(err, &used):
		return withHint(err, "see it with \""+shell("mem", "show", revName(rev))+"\"; remove it anyway with -f: compositions keep their own copy")
	case errors.Is(err, state.ErrNotRemovable):
		return withHint(usagef("%v", err), "mem help revisions")
	}
	return err
}

// revName writes what a revision names so that it can be typed.
func revName(rev state.Rev) string {
	switch {
	case rev.Version != nil:
		return label(rev.Version)
	case rev.Composition != nil:
		return rev.Composition.Name
	case rev.Session != nil:
		return shortID(rev.Session.ID)
	case rev.Commit != "":
		return rev.Commit
	}
	return "b3:" + rev.Hash.String()
}
