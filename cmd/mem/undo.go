package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// undo is the command that takes operations back.
func (e *Env) undo() *cli.Command {
	return &cli.Command{
		Name:      "undo",
		Usage:     "undo the last operation",
		ArgsUsage: "[<n>]",
		Description: "Takes back the last operation of this device in the project, or the last few: what was removed, pruned or hidden is in\n" +
			"the lists again, what was made is out of them, markers and facts are what they were. It adds to the history and\n" +
			"deletes nothing, so \"mem redo\" does it again. What was captured stays: take it out of the lists with \"mem rm\".\n" +
			"What another operation or device has changed since is left as it is. \"mem log --undo\" lists what can be undone.",
		Action: func(ctx context.Context, c *cli.Command) error {
			return e.doRevert(ctx, c, "undo", func(m *layers.Memory, ctx context.Context, p refs.Project, n int, dryRun bool) ([]history.Reverted, error) {
				return m.History().Undo(ctx, p, n, dryRun)
			})
		},
	}
}

// redo is the command that does again what was undone.
func (e *Env) redo() *cli.Command {
	return &cli.Command{
		Name:        "redo",
		Usage:       "redo an undone operation",
		ArgsUsage:   "[<n>]",
		Description: "Does the operation again that was undone last, or the last few. A new operation ends what can be done again.",
		Action: func(ctx context.Context, c *cli.Command) error {
			return e.doRevert(ctx, c, "redo", func(m *layers.Memory, ctx context.Context, p refs.Project, n int, dryRun bool) ([]history.Reverted, error) {
				return m.History().Redo(ctx, p, n, dryRun)
			})
		},
	}
}

type reverter func(m *layers.Memory, ctx context.Context, p refs.Project, n int, dryRun bool) ([]history.Reverted, error)

func (e *Env) doRevert(ctx context.Context, c *cli.Command, verb string, revert reverter) error {
	if err := e.wantOperands(c, 0, 1); err != nil {
		return err
	}
	n := 1
	if s := e.operand(0); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 1 || n > 1_000_000 {
			return withHint(usagef("mem %s cannot go back %q: want a number of operations", verb, s), "mem log --undo")
		}
	}
	if e.opt.allProjects {
		return usagef("mem %s works on one project", verb)
	}
	return e.runRevert(ctx, verb, n, revert)
}

// A revertedAnswer is an operation as undo and redo print it with --json.
type revertedAnswer struct {
	Commit    string   `json:"commit"`
	Operation string   `json:"operation"`
	Time      string   `json:"time"`
	Changed   []string `json:"changed"`
	Left      []string `json:"left"`
}

func (e *Env) runRevert(ctx context.Context, verb string, n int, revert reverter) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		done, err := revert(m, ctx, sc.Project.ID, n, e.opt.dryRun)
		if errors.Is(err, history.ErrNothingToUndo) && verb == "undo" && e.forgot(ctx, m, sc) {
			return withCode(exitNo, fmt.Errorf("what was forgotten is gone: mem undo cannot bring it back, and nothing was done since: %w", history.ErrNothingToUndo))
		}
		if errors.Is(err, history.ErrNothingToUndo) {
			return withHint(withCode(exitNo, fmt.Errorf("there is nothing to %s in project %s: %w", verb, sc.Project.Name, history.ErrNothingToUndo)), "mem log --undo", "another project: mem "+verb+" -p PROJECT")
		}
		if err != nil {
			return err
		}
		answer := struct {
			DryRun     bool             `json:"dry_run"`
			Operations []revertedAnswer `json:"operations"`
		}{e.opt.dryRun, []revertedAnswer{}}
		for _, r := range done {
			answer.Operations = append(answer.Operations, revertedAnswer{
				r.Operation.Commit, r.Operation.Subject, timeText(r.Operation.Time), append([]string{}, r.Changed...), append([]string{}, r.Left...),
			})
		}
		if e.opt.json {
			return e.printJSON(verb, answer)
		}
		did := map[string]string{"undo": "undone", "redo": "done again"}[verb]
		if e.opt.dryRun {
			did = "would be " + did
		}
		for _, r := range done {
			e.note("%s: %s  (%s, %s)", did, r.Operation.Subject, r.Operation.Commit[:7], ago(e.Now(), r.Operation.Time))
			if len(r.Left) > 0 {
				e.note("left as it is, because it was changed since: %s", strings.Join(r.Left, ", "))
			}
		}
		if len(done) < n {
			e.note("there was no more to %s", verb)
		}
		return nil
	})
}

// forgot reports whether the last operation of this device was to forget something.
func (e *Env) forgot(ctx context.Context, m *layers.Memory, sc state.Scope) bool {
	ops, err := m.History().Operations(ctx, sc.Project.ID)
	return err == nil && slices.ContainsFunc(ops, func(o history.Operation) bool { return o.Trailer("Op") == "forget" })
}

// op is the command about operations as undo sees them.
func (e *Env) op() *cli.Command {
	number := 0
	return &cli.Command{
		Name:  "op",
		Usage: "list operations and what undo and redo would do",
		Commands: []*cli.Command{{
			Name: "log", Usage: "list the operations of this device, the newest first",
			Description: "The column undo says what \"mem undo\" takes back next, what it can take back after that, what was undone, and whether\n" +
				"\"mem redo\" can do it again. A capture, or the use of something by a session, cannot be undone.",
			Flags: []*cli.Flag{cli.Int(&number, "number,n", "print the newest `N` only")},
			Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 0, 0); err != nil {
					return err
				}
				if number < 0 {
					return usagef("option --number cannot be %d: want a whole number from 0", number)
				}
				return e.runOpLog(ctx, number)
			},
		}},
	}
}

// An opAnswer is an operation as op log prints it with --json.
type opAnswer struct {
	Commit    string `json:"commit"`
	Operation string `json:"operation"`
	Time      string `json:"time"`
	State     string `json:"state"` // undo, undoable, redo, undone, fixed
}

// stateCell says what can be done about an operation.
func stateCell(s history.OpState) cell {
	words := map[history.OpState]string{history.OpNext: "next", history.OpUndoable: "yes", history.OpRedoable: "undone, can be redone", history.OpUndone: "undone", history.OpFixed: "-"}
	return cell{full: string(s), short: words[s]}
}

func (e *Env) runOpLog(ctx context.Context, n int) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		ops, err := m.History().Operations(ctx, sc.Project.ID)
		if err != nil {
			return err
		}
		if n > 0 {
			ops = ops[:min(n, len(ops))]
		}
		answer := struct {
			Operations []opAnswer `json:"operations"`
		}{[]opAnswer{}}
		t := e.table(column{name: "commit"}, column{name: "when"}, column{name: "undo"}, column{name: "operation", shrinks: true})
		for _, op := range ops {
			answer.Operations = append(answer.Operations, opAnswer{op.Commit, op.Subject, timeText(op.Time), string(op.State)})
			t.row(cell{full: op.Commit, short: op.Commit[:7], paint: e.style().yellow}, e.timeCell(op.Time), stateCell(op.State), cell{full: op.Subject})
		}
		if e.opt.json {
			return e.printJSON("op.log", answer)
		}
		if err := e.page("op"); err != nil {
			return err
		}
		return t.flush()
	})
}
