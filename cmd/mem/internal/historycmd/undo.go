package historycmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/knowledgecmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// Undo returns mem undo.
func Undo(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:      "undo",
		Usage:     "undo the last operation",
		ArgsUsage: "[<n> | <operation>]",
		Description: "Undoes the last operation of this device in the project, or the last N, or the one with\n" +
			"a hash of \"mem log --undo\": removed, pruned and hidden  things are listed again,\n" +
			"created things are not, and markers and facts get their previous values. The history\n" +
			"only grows, nothing is deleted, and \"mem redo\" reverses an undo. A capture cannot be\n" +
			"undone: hide the session with \"mem rm\"; the operation before it is the last. A forget\n" +
			"cannot be undone, nor can the operations before it. After a restore of Claude's notes\n" +
			"the files are written as they were. Things that another operation or device has changed\n" +
			"since are left alone; if that is all, nothing is undone, and no older operation in its\n" +
			"place. \"mem log --undo\" lists the operations that can be undone. Several at once are\n" +
			"listed on a terminal, and asked about, first. What the user states about rules and\n" +
			"facts only the user can undo, at a terminal.",
		Action: func(c *cli.Context) error {
			return doRevert(e, c, "undo", history.Undo)
		},
	}
}

// Redo returns mem redo.
func Redo(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:      "redo",
		Usage:     "redo an undone operation",
		ArgsUsage: "[<n> | <operation>]",
		Description: "Redoes the operation that was undone last, or the last N, or the one with a hash of\n" +
			"\"mem log --undo\". A new operation clears the list of operations that can be redone.",
		Action: func(c *cli.Context) error {
			return doRevert(e, c, "redo", history.Redo)
		},
	}
}

type reverter func(ctx context.Context, db *state.DB, p refs.Project, n int, o history.Options) ([]history.Reverted, error)

func doRevert(e *app.Env, c *cli.Context, verb string, revert reverter) error {
	if err := e.WantOperands(c, 0, 1); err != nil {
		return err
	}
	n, hash := 1, ""
	if s := e.Operand(0); isHash(s) {
		hash = s
	} else if s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 1 {
			return app.WithHint(app.Usagef("mem %s: %q is no number of operations from 1, and no hash of an operation", verb, s), "mem log --undo")
		}
	}
	if e.Opt.AllProjects {
		return app.Usagef("mem %s works on one project", verb)
	}
	return app.WithMemory(c.Context, e, func(run app.Run) error {
		return runRevert(c.Context, run, verb, n, hash, revert)
	})
}

// isHash reports whether an operand is the hash of an operation, or the beginning of one: up to six digits are a number.
func isHash(s string) bool {
	return len(s) >= 4 && strings.Trim(s, "0123456789abcdef") == "" && (len(s) > 6 || strings.ContainsAny(s, "abcdef"))
}

// operationNamed returns the commit of an operation of this device.
func operationNamed(ctx context.Context, run app.Run, hash string) (string, error) {
	ops, err := history.Operations(ctx, run.DB, run.Project.ID)
	if err != nil {
		return "", err
	}
	var found []history.Operation
	for _, op := range ops {
		if strings.HasPrefix(op.Commit, hash) {
			found = append(found, op)
		}
	}
	switch len(found) {
	case 1:
		return found[0].Commit, nil
	case 0:
		return "", app.WithHint(app.WithCode(app.ExitFatal, fmt.Errorf("no operation of this device in project %s is %s", run.Project.Name, hash)),
			"mem log --undo", "another project: -p PROJECT")
	}
	return "", app.WithHint(app.Usagef("%d operations begin with %s", len(found), hash), "mem log --undo")
}

// refusal adds what can be typed instead of an operation that is not undone or redone.
func refusal(run app.Run, err error) error {
	var r *history.RefusedError
	if !errors.As(err, &r) {
		return err
	}
	typed := func(operand string) string { return run.Typed("mem", r.Verb, operand) }
	var hints []string
	if history.WritesFiles(r.Operation) && len(r.Left) > 0 {
		hints = append(hints, "mem notes log")
	}
	if r.After > 0 {
		hints = append(hints, fmt.Sprintf("the %s after it: %s", term.Count(r.After, "operation"), typed(strconv.Itoa(r.After))))
	}
	if r.Instead != nil {
		hints = append(hints, fmt.Sprintf("the operation before it, %s: %s", r.Instead.Subject, typed(r.Instead.Commit[:7])))
	}
	if len(hints) == 0 {
		hints = append(hints, "mem log --undo")
	}
	return app.WithCode(app.ExitNo, app.WithHint(err, hints...))
}

func runRevert(ctx context.Context, run app.Run, verb string, n int, hash string, revert reverter) error {
	var of []string
	if hash != "" {
		commit, err := operationNamed(ctx, run, hash)
		if err != nil {
			return err
		}
		of = []string{commit}
	}
	done, err := revert(ctx, run.DB, run.Project.ID, n, history.Options{Of: of, DryRun: true})
	if len(history.Files(done)) > 0 && !run.Opt.DryRun {
		if err := knowledgecmd.CaptureNotes(ctx, run); err != nil { // a file that was changed since is left alone
			return err
		}
		done, err = revert(ctx, run.DB, run.Project.ID, n, history.Options{Of: of, DryRun: true})
	}
	if errors.Is(err, history.ErrNothingToUndo) && verb == "undo" && forgot(ctx, run) {
		return app.WithCode(app.ExitNo,
			fmt.Errorf("a forget cannot be undone, and there are no later operations: %w",
				history.ErrNothingToUndo))
	}
	if errors.Is(err, history.ErrNothingToUndo) {
		return app.WithHint(app.WithCode(app.ExitNo, fmt.Errorf("nothing to %s in project %s: %w", verb,
			run.Project.Name, history.ErrNothingToUndo)), "mem log --undo", "another project: mem "+verb+" -p PROJECT")
	}
	if err != nil {
		return refusal(run, err)
	}
	if len(done) < n {
		return app.WithHint(app.WithCode(app.ExitNo, fmt.Errorf("project %s has only %s to %s, not %d", run.Project.Name,
			term.Count(len(done), "operation"), verb, n)), run.Typed("mem", verb, strconv.Itoa(len(done))), run.Typed("mem", "log", "--undo"))
	}
	for _, r := range done {
		if r.Stated && !run.Opt.DryRun && !app.UserTypes(run.Env) {
			return app.WithCode(app.ExitNo, app.WithHint(fmt.Errorf("%s: the user stated it: only the user can %s it", r.Operation.Subject, verb),
				"the user types, at a terminal: "+run.Typed("mem", verb, r.Operation.Commit[:7])))
		}
	}
	if verb == "undo" && hash == "" {
		if err := noteSkipped(ctx, run, done[0]); err != nil {
			return err
		}
	}
	if n > 1 && run.Term.Stdin && !run.Opt.Yes && !run.Opt.DryRun { // several are listed and asked about first
		for _, r := range done {
			run.Message("%s  (%s, %s)", r.Operation.Subject, r.Operation.Commit[:7], app.Ago(run.Now(), r.Operation.Time))
		}
		if ok, err := run.Confirm("%s %s?", verb, term.Count(len(done), "operation")); err != nil || !ok {
			return err
		}
	}
	if files := history.Files(done); !run.Opt.DryRun {
		if len(files) > 0 {
			if err := knowledgecmd.RestoreNotes(run, files); err != nil {
				return err
			}
		}
		of = nil
		for _, r := range done { // what was listed, and nothing else
			of = append(of, r.Operation.Commit)
		}
		if done, err = revert(ctx, run.DB, run.Project.ID, n, history.Options{Of: of, Wrote: files}); err != nil {
			return refusal(run, err)
		}
		for _, r := range done {
			if err := revertMerge(ctx, run, r.Operation, verb, revert); err != nil {
				return err
			}
		}
	}
	if run.Opt.JSON {
		operations := app.Each(done, func(r history.Reverted) app.Object {
			return app.Object{"commit", r.Operation.Commit, "operation", r.Operation.Subject,
				"time", term.TimeText(r.Operation.Time), "changed", append([]string{}, r.Changed...),
				"left", append([]string{}, r.Left...)}
		})
		return run.PrintJSON(verb, nil, "dryRun", run.Opt.DryRun, "operations", operations)
	}
	did := run.Verb("", "would be ") + history.Participle(verb)
	for _, r := range done {
		run.Note("%s: %s  (%s, %s)", did, r.Operation.Subject, r.Operation.Commit[:7], app.Ago(run.Now(), r.Operation.Time))
		if len(r.Left) > 0 {
			run.Note("left as it is, because it was changed since: %s", strings.Join(r.Left, ", "))
		}
	}
	return nil
}

// revertMerge does the same to the part of the merge of a project in that project, and links its directories again.
func revertMerge(ctx context.Context, run app.Run, op refs.Entry, verb string, revert reverter) error {
	from := refs.Project(op.Trailer("From"))
	if op.Trailer("Op") != "merge" || from == "" {
		return nil
	}
	st, err := trust.Outline(ctx, run.DB, from)
	if err != nil {
		return err
	}
	ops, err := history.Operations(ctx, run.DB, from)
	if err != nil {
		return err
	}
	for _, part := range ops {
		if part.Trailer("Into") == op.Commit {
			if _, err := revert(ctx, run.DB, from, 1, history.Options{Of: []string{part.Commit}}); err != nil {
				return fmt.Errorf("project %s: %w", st.Name, err)
			}
		}
	}
	if verb == "redo" {
		return projects.Relink(ctx, run.DB, from, run.Project)
	}
	return projects.Relink(ctx, run.DB, run.Project.ID, st.AsProject())
}

// noteSkipped names the operations after the one that is undone first, the newest first.
func noteSkipped(ctx context.Context, run app.Run, first history.Reverted) error {
	ops, err := history.Operations(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	var out []string
	for _, op := range ops[:max(0, slices.IndexFunc(ops, func(o history.Operation) bool { return o.Commit == first.Operation.Commit }))] {
		kind := op.Trailer("Op")
		if op.State == history.OpFixed && kind != "undo" && kind != "redo" {
			out = append(out, op.Subject)
		}
	}
	if n := len(out) - 2; n > 1 {
		out = append(out[:2], strconv.Itoa(n)+" more")
	}
	if len(out) > 0 && !run.Opt.JSON {
		run.Note("skipped, because mem undo does not change it: %s", strings.Join(out, "; "))
	}
	return nil
}

// forgot reports whether the last operation of this device is a forget.
func forgot(ctx context.Context, run app.Run) bool {
	ops, err := history.Operations(ctx, run.DB, run.Project.ID)
	return err == nil && slices.ContainsFunc(ops, func(o history.Operation) bool { return o.Trailer("Op") == "forget" })
}

// Op returns mem op.
func Op(e *app.Env) *cli.Command {
	number := 0
	return &cli.Command{
		Name:  "op",
		Usage: "list operations and what undo and redo would do",
		Subcommands: []*cli.Command{{
			Name: "log", Usage: "list the operations of this device, the newest first",
			Description: "The column undo shows which operation \"mem undo\" undoes next, which ones it can undo\n" +
				"after that, which ones are undone, and whether \"mem redo\" can redo them. Captures and\n" +
				"uses by a session cannot be undone.",
			Flags: []cli.Flag{app.IntFlag(&number, "number,n", "print the newest `N` only")},
			Action: app.Action(e, 0, 0, func(ctx context.Context, run app.Run) error {
				if number < 0 {
					return app.Usagef("option --number cannot be %d: want a whole number from 0", number)
				}
				return runOpLog(ctx, run, number)
			}),
		}},
	}
}

func runOpLog(ctx context.Context, run app.Run, n int) error {
	ops, err := history.Operations(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	if n > 0 {
		ops = ops[:min(n, len(ops))]
	}
	l := run.List("op.log", "operations", "commit", "when", "undo", app.Column{Name: "operation", Shrinks: true})
	l.Page = "op"
	words := map[history.OpState]string{history.OpNext: "next", history.OpUndoable: "yes",
		history.OpRedoable: "undone, can be redone", history.OpUndone: "undone", history.OpFixed: "-"}
	for _, op := range ops {
		l.Add(app.Object{"commit", op.Commit, "operation", op.Subject, "time", term.TimeText(op.Time), "state", string(op.State)},
			app.Cell{Full: op.Commit, Short: op.Commit[:7], Paint: run.Style().Yellow}, op.Time,
			app.Cell{Full: string(op.State), Short: words[op.State]}, op.Subject)
	}
	return l.Print()
}
