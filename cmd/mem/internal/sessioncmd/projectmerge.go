package sessioncmd

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
)

// projectMerge returns mem project merge.
func projectMerge(e *app.Env) *cli.Command {
	return &cli.Command{
		Name: "merge", Usage: "move the sessions of other projects into this one", ArgsUsage: "[<project>...]",
		Description: "Without a project, of those that \"mem status\" names: their directories are gone, and their\n" +
			"sessions were on branches of this repository, so they seem to have been worktrees of it.\n" +
			"The sessions keep their exact bytes, subagents and files, and the directories are linked\n" +
			"to this project. In the other project they stay, hidden, with what was derived from them\n" +
			"there: \"mem undo\" moves them back. Each device moves its own sessions. To keep a project\n" +
			"instead, link its directory to it: \"mem project link\".",
		Action: e.Action(0, -1, func(c *cli.Context) error { return runProjectMerge(c.Context, e, e.Operands) }),
	}
}

func runProjectMerge(ctx context.Context, e *app.Env, list []string) error {
	return app.WithMemory(ctx, e, func(run app.Run) error {
		from, err := toMerge(ctx, run, list)
		if err != nil {
			return err
		}
		if len(from) == 0 && !e.Opt.JSON {
			e.Note("no project seems to be of a removed worktree of %s", run.Project.Name)
			return nil
		}
		merged := []splitAnswer{}
		for _, p := range from {
			s := projects.Stray{In: p, Owns: run.Project}
			a, err := move(ctx, e, run.Memory, s, nil)
			if err == nil && !e.Opt.DryRun {
				err = linkAll(ctx, run, p)
			}
			if err != nil {
				return fmt.Errorf("move the sessions of project %s: %w", p.Name, err)
			}
			merged = append(merged, a)
			if !e.Opt.JSON {
				printSplit(e, s, a)
			}
			if !e.Opt.JSON && !e.Opt.DryRun && len(a.Sessions) > 0 {
				e.Hint("%s moves them back", run.Typed("mem", "undo"))
			}
		}
		if e.Opt.JSON {
			return e.PrintJSON("project.merge", nil, "merged", merged, "dryRun", e.Opt.DryRun)
		}
		return nil
	})
}

// toMerge returns the named projects, or those of removed worktrees.
func toMerge(ctx context.Context, run app.Run, list []string) (out []state.Project, err error) {
	if len(list) == 0 {
		return app.GoneWorktrees(ctx, run)
	}
	for _, name := range list {
		p, err := app.ProjectNamed(ctx, run.Env, run.Memory, name)
		if err != nil {
			return nil, err
		}
		if p.ID == run.Project.ID {
			return nil, app.Usagef("%s is the project that the sessions would be moved to", p.Name)
		}
		out = append(out, p)
	}
	return out, nil
}

// linkAll links the directories of a project to that of the run.
func linkAll(ctx context.Context, run app.Run, p state.Project) error {
	dirs, err := projects.DirsOf(ctx, run.DB, p.ID)
	for _, dir := range dirs {
		if err == nil {
			err = projects.LinkProject(ctx, run.DB, run.Project, dir)
		}
	}
	return err
}
