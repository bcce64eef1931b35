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
		Name: "merge", Usage: "move the sessions of other projects into this one", ArgsUsage: "<project>...",
		Description: "For example those of a worktree that was removed before its sessions were captured. The sessions\nkeep their exact bytes, subagents and files, and the directories are linked\n" +
			"to this project. In the other project they stay, hidden, with what was derived from them\n" +
			"there: \"mem undo\" moves them back. Each device moves its own sessions. To keep a project\n" +
			"instead, link its directory to it: \"mem project link\".",
		Action: app.Action(e, 1, -1, runProjectMerge),
	}
}

func runProjectMerge(ctx context.Context, run app.Run) error {
	from, err := toMerge(ctx, run, run.Operands)
	if err != nil {
		return err
	}
	merged := []app.Object{}
	for _, p := range from {
		s := projects.Stray{In: p, Owns: run.Project}
		done, err := move(ctx, run, s, nil)
		if err == nil && !run.Opt.DryRun {
			err = linkAll(ctx, run, p)
		}
		if err != nil {
			return fmt.Errorf("move the sessions of project %s: %w", p.Name, err)
		}
		merged = append(merged, printMoved(run.Env, s, done))
		if !run.Opt.DryRun && len(done.Sessions) > 0 {
			run.Hint("%s moves them back", run.Typed("mem", "undo"))
		}
	}
	if run.Opt.JSON {
		return run.PrintJSON("project.merge", nil, "merged", merged, "dryRun", run.Opt.DryRun)
	}
	return nil
}

// toMerge returns the named projects.
func toMerge(ctx context.Context, run app.Run, list []string) (out []state.Project, err error) {
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
