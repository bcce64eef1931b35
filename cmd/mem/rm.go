package main

import (
	"context"
	"errors"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/state"
)

// rm is the command that takes things out of the lists.
func (e *Env) rm() *cli.Command {
	var force bool
	return &cli.Command{
		Name:      "rm",
		Usage:     "hide sessions, versions or compositions",
		ArgsUsage: "<rev>...",
		Description: "Nothing is lost: the bytes stay in the memory, and adding a session or composing a name again brings it back.\n" +
			"What a composition uses is only removed with --force; the composition keeps its own copy.",
		Flags: []*cli.Flag{
			cli.Bool(&force, "force,f", "remove what compositions use, too"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 1, -1); err != nil {
				return err
			}
			return e.runRm(ctx, e.operands, force)
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
