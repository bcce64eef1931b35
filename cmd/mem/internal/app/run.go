package app

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/urfave/cli/v2"
)

// A Run is a running command: its environment, the open memory and the scope of its names.
type Run struct {
	*Env
	*layers.Memory
	state.Scope
}

// WithMemory opens the memory, finds the scope of the run and calls f.
func WithMemory(ctx context.Context, e *Env, f func(Run) error) error {
	return WithStore(e, func(m *layers.Memory) error {
		sc, err := Scope(ctx, e, m)
		if err != nil {
			return err
		}
		return f(Run{e, m, sc})
	})
}

// Action returns the action of a command that works on a project: it checks the number of operands, as [Env.Action],
// opens the memory and finds the scope.
func Action(e *Env, least, most int, f func(context.Context, Run) error) cli.ActionFunc {
	return e.Action(least, most, func(c *cli.Context) error {
		return WithMemory(c.Context, e, func(run Run) error { return f(c.Context, run) })
	})
}

// StoreAction is [Action] for a command that needs no project: its run has no scope.
func StoreAction(e *Env, least, most int, f func(context.Context, Run) error) cli.ActionFunc {
	return e.Action(least, most, func(c *cli.Context) error {
		return WithStore(e, func(m *layers.Memory) error { return f(c.Context, Run{Env: e, Memory: m}) })
	})
}

// Resolve resolves a revision.
func (run Run) Resolve(ctx context.Context, rev string) (state.Rev, error) {
	r, err := revision.Resolve(ctx, run.DB, run.Scope, rev)
	var ambiguous *state.AmbiguousError
	if errors.As(err, &ambiguous) {
		hint := "write more of the name"
		if ambiguous.What == "composition" {
			hint = "name the project: -p " + ambiguous.Candidates[0]
		}
		return r, WithHint(err, hint)
	}
	var missing *state.NotFoundError
	switch {
	case err == nil:
		return r, run.NoteBranches(ctx, r, rev)
	case errors.Is(err, revision.ErrLayer):
		return r, WithHint(err, "the layers are original, L1 and L2")
	case errors.As(err, &missing) && len(missing.Candidates) == 0 && IsRecent(missing.Name):
		return r, run.noSessions(ctx, missing)
	case errors.As(err, &missing):
		return r, run.withProjectHint(ctx, withUntrustedHint(ctx, run.Memory, err), missing.Name)
	}
	return r, err
}

// withProjectHint adds to the error about an operand how to name the project with its name, if there is one.
func (run Run) withProjectHint(ctx context.Context, err error, operand string) error {
	all, lerr := Projects(ctx, run.Memory)
	if lerr != nil || !slices.ContainsFunc(all, func(p state.Project) bool { return p.Name == operand }) {
		return err // the operand is the error to report
	}
	return WithHint(err, "for the project of that name: -p "+term.Shell(operand))
}

// WithProjectHint is the same for a command that has not opened the memory.
func WithProjectHint(ctx context.Context, e *Env, err error, operand string) error {
	hinted := err
	if oerr := WithMemory(ctx, e, func(run Run) error {
		hinted = run.withProjectHint(ctx, err, operand)
		return nil
	}); oerr != nil {
		return err // the operand is the error to report
	}
	return hinted
}

// An emptyError reports that a project has no newest session, which the user need not have named.
type emptyError struct {
	project string
	missing *state.NotFoundError
}

func (e *emptyError) Error() string { return "project " + e.project + " has no sessions in memory" }
func (e *emptyError) Unwrap() error { return e.missing }

// noSessions returns the error for the newest session of a project without any, with the project that the directory may be
// of.
func (run Run) noSessions(ctx context.Context, missing *state.NotFoundError) error {
	hints := []string{"capture all of Claude Code's sessions with \"mem import\""}
	if h, ok, err := Unlinked(ctx, run); err != nil {
		return err
	} else if ok {
		hints = append(hints, h.Why+": "+h.Command)
	}
	return WithHint(withUntrustedHint(ctx, run.Memory, &emptyError{run.Project.Name, missing}), hints...)
}

// ResolveAll resolves revisions; a bare label belongs to the session of the revision before it.
func (run Run) ResolveAll(ctx context.Context, revs []string) ([]state.Rev, error) {
	var out []state.Rev
	for _, s := range revs {
		r, err := run.Resolve(ctx, s)
		if err != nil {
			return nil, err
		}
		if r.Session != nil {
			run.Last = r.Session
		}
		out = append(out, r)
	}
	return out, nil
}

// ResolveSession resolves a revision of a session or of a part of one.
func (run Run) ResolveSession(ctx context.Context, name string) (state.Rev, error) {
	rev, err := run.Resolve(ctx, name)
	if err != nil {
		return rev, err
	}
	if rev.Session == nil {
		list := "mem ls"
		if rev.Kind == state.IsComposition {
			list = term.Shell("mem", "show", name) + "; all: mem ls --compositions"
		}
		return rev, WithHint(Usagef("%s is a %s, not a session", name, rev.Kind), list)
	}
	return rev, nil
}

// ListedProjects returns the project of the run, or with --all-projects all projects.
func (run Run) ListedProjects(ctx context.Context) ([]state.Project, error) {
	if run.Opt.AllProjects {
		return Projects(ctx, run.Memory)
	}
	return []state.Project{run.Project}, nil
}

// OrNewest returns rev, or "@" (the newest session) if it is empty.
func OrNewest(rev string) string { return cmp.Or(rev, "@") }
