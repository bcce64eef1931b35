package sessioncmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/projects"
)

// projectSplit returns mem project split.
func projectSplit(e *app.Env) *cli.Command {
	return &cli.Command{
		Name: "split", Usage: "move the sessions of unrelated directories into their own projects", ArgsUsage: "[<dir>...]",
		Description: "Without a directory, of all that \"mem doctor\" reports: their repository says that they\n" +
			"belong to another project than the one that has their sessions. The sessions keep their\n" +
			"exact bytes, subagents and files. What was derived from them in the old project is\n" +
			"deleted there, as \"mem forget\" does, and a remote loses them with the next push of that\n" +
			"project. Each device moves its own sessions. To keep a directory in the project instead:\n" +
			"\"mem project link\".",
		Action: app.StoreAction(e, 0, -1, runProjectSplit),
	}
}

func runProjectSplit(ctx context.Context, run app.Run) error {
	strays, err := toSplit(ctx, run)
	if err != nil {
		return err
	}
	if len(strays) == 0 && !run.Opt.JSON {
		run.Note("each directory is in its own project")
		return nil
	}
	moved := []app.Object{}
	for _, s := range strays {
		done, err := split(ctx, run, s, strays)
		if err != nil {
			return fmt.Errorf("move the sessions of %s: %w", s.Dir, err)
		}
		moved = append(moved, printMoved(run.Env, s, done))
	}
	if run.Opt.JSON {
		return run.PrintJSON("project.split", nil, "moved", moved, "dryRun", run.Opt.DryRun)
	}
	return nil
}

// toSplit returns the strays, or the given directories with the projects that have and own them.
func toSplit(ctx context.Context, run app.Run) ([]projects.Stray, error) {
	if len(run.Operands) == 0 {
		return projects.Strays(ctx, run.DB)
	}
	var out []projects.Stray
	for _, dir := range run.Operands {
		dir = run.Path(dir)
		in, known, err := projects.Locate(ctx, run.DB, dir)
		if err != nil {
			return nil, err
		}
		if !known {
			return nil, app.WithCode(app.ExitNo, app.WithHint(fmt.Errorf("%s is in no project of this memory", dir), "mem project list"))
		}
		owner, err := projects.Owner(ctx, run.DB, dir)
		if err != nil {
			return nil, err
		}
		if in.ID == owner.ID {
			return nil, app.WithCode(app.ExitNo, fmt.Errorf("%s belongs to project %s, which has its sessions", dir, in.Name))
		}
		out = append(out, projects.Stray{Dir: dir, In: in, Owns: owner})
	}
	return out, nil
}

// split moves the sessions of a stray directory and of the directories in it that are not strays themselves.
func split(ctx context.Context, run app.Run, s projects.Stray, all []projects.Stray) (forget.Moved, error) {
	within := func(root, cwd string) bool {
		rel, err := filepath.Rel(root, cwd)
		return err == nil && filepath.IsLocal(rel)
	}
	selected := func(cwd string) bool {
		return within(s.Dir, cwd) && !slices.ContainsFunc(all, func(o projects.Stray) bool {
			return len(o.Dir) > len(s.Dir) && within(o.Dir, cwd)
		})
	}
	done, err := move(ctx, run, s, selected)
	if err != nil || run.Opt.DryRun {
		return done, err
	}
	return done, projects.Meet(ctx, run.DB, s.Owns, s.Dir)
}

// move moves the sessions of selected directories from the project that has them to the one that owns them. Without a
// selection it merges the projects.
func move(ctx context.Context, run app.Run, s projects.Stray, selected func(cwd string) bool) (done forget.Moved, err error) {
	temp, err := os.MkdirTemp("", "mem-split-")
	if err != nil {
		return done, err
	}
	defer os.RemoveAll(temp) // an error leaves a private directory
	if selected == nil {
		return forget.Merge(ctx, run.DB, s.In, s.Owns, temp, run.Opt.DryRun)
	}
	return forget.Move(ctx, run.DB, s.In, s.Owns, selected, temp, run.Opt.DryRun)
}

// printMoved prints a move for people, and returns its JSON.
func printMoved(e *app.Env, s projects.Stray, done forget.Moved) app.Object {
	deleted := app.Each(done.Things, func(t forget.DeletedItem) string { return t.Kind + " " + t.Name })
	if e.Opt.JSON {
		return app.Object{"dir", s.Dir, "from", s.In.ID, "to", s.Owns.ID, "toName", s.Owns.Name,
			"sessions", append([]string{}, done.Sessions...), "deleted", deleted, "removed", done.Removed,
			"otherDevices", done.Others, "remotes", append([]string{}, done.Remotes...)}
	}
	of := app.If(s.Dir != "", " of "+s.Dir)
	e.Printf("%s %s%s from project %s to %s\n", e.Verb("moved", "would move"), term.Count(len(done.Sessions), "session"),
		e.Safe(of), e.Safe(s.In.Name), e.Safe(s.Owns.Name))
	for _, name := range deleted {
		e.Printf("  deleted in %s: %s\n", e.Safe(s.In.Name), e.Safe(name))
	}
	if done.Removed > 0 {
		e.Note("%s that you removed stay in %s: mem forget deletes them", term.Count(done.Removed, "session"), s.In.Name)
	}
	if done.Others > 0 {
		e.Note("%s of other devices stay in %s: run mem project split there", term.Count(done.Others, "session"), s.In.Name)
	}
	for _, name := range done.Remotes {
		e.Hint(term.Shell("mem", "push", name, "-p", string(s.In.ID[:8])))
	}
	return nil
}
