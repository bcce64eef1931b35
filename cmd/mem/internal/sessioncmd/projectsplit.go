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
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
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
		Action: e.Action(0, -1, func(c *cli.Context) error { return runProjectSplit(c.Context, e, e.Operands) }),
	}
}

// A splitAnswer is the JSON form of one move.
type splitAnswer struct {
	Dir      string   `json:"dir"`
	From     string   `json:"from"`
	To       string   `json:"to"`
	ToName   string   `json:"toName"`
	Sessions []string `json:"sessions"`
	Deleted  []string `json:"deleted"` // names of what was derived from them
	Removed  int      `json:"removed"`
	Others   int      `json:"otherDevices"`
	Remotes  []string `json:"remotes"`
}

func runProjectSplit(ctx context.Context, e *app.Env, dirs []string) error {
	m, err := app.OpenMemory(e)
	if err != nil {
		return err
	}
	defer m.Close()
	strays, err := toSplit(ctx, e, m, dirs)
	if err != nil {
		return err
	}
	if len(strays) == 0 && !e.Opt.JSON {
		e.Note("each directory is in its own project")
		return nil
	}
	moved := []splitAnswer{}
	for _, s := range strays {
		a, err := split(ctx, e, m, s, strays)
		if err != nil {
			return fmt.Errorf("move the sessions of %s: %w", s.Dir, err)
		}
		moved = append(moved, a)
		if !e.Opt.JSON {
			printSplit(e, s, a)
		}
	}
	if e.Opt.JSON {
		return e.PrintJSON("project.split", nil, "moved", moved, "dryRun", e.Opt.DryRun)
	}
	return nil
}

// toSplit returns the strays, or the given directories with the projects that have and own them.
func toSplit(ctx context.Context, e *app.Env, m *layers.Memory, dirs []string) ([]projects.Stray, error) {
	if len(dirs) == 0 {
		return projects.Strays(ctx, m.DB)
	}
	var out []projects.Stray
	for _, dir := range dirs {
		dir = e.Path(dir)
		in, known, err := projects.Locate(ctx, m.DB, dir)
		if err != nil {
			return nil, err
		}
		if !known {
			return nil, app.WithCode(app.ExitNo, app.WithHint(fmt.Errorf("%s is in no project of this memory", dir), "mem project list"))
		}
		owner, err := projects.Owner(ctx, m.DB, dir)
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
func split(ctx context.Context, e *app.Env, m *layers.Memory, s projects.Stray, all []projects.Stray) (splitAnswer, error) {
	within := func(root, cwd string) bool {
		rel, err := filepath.Rel(root, cwd)
		return err == nil && filepath.IsLocal(rel)
	}
	selected := func(cwd string) bool {
		return within(s.Dir, cwd) && !slices.ContainsFunc(all, func(o projects.Stray) bool {
			return len(o.Dir) > len(s.Dir) && within(o.Dir, cwd)
		})
	}
	a, err := move(ctx, e, m, s, selected)
	if err != nil || e.Opt.DryRun {
		return a, err
	}
	return a, projects.Meet(ctx, m.DB, state.Project{ID: s.Owns.ID, Name: s.Owns.Name, Identity: s.Owns.Identity}, s.Dir)
}

// move moves the sessions of selected directories from the project that has them to the one that owns them. Without a
// selection it merges the projects.
func move(ctx context.Context, e *app.Env, m *layers.Memory, s projects.Stray, selected func(cwd string) bool) (splitAnswer, error) {
	a := splitAnswer{Dir: s.Dir, From: string(s.In.ID), To: string(s.Owns.ID), ToName: s.Owns.Name, Sessions: []string{},
		Deleted: []string{}, Remotes: []string{}}
	temp, err := os.MkdirTemp("", "mem-split-")
	if err != nil {
		return a, err
	}
	defer os.RemoveAll(temp) // an error leaves a private directory
	var moved forget.Moved
	if selected == nil {
		moved, err = forget.Merge(ctx, m.DB, s.In, s.Owns, temp, e.Opt.DryRun)
	} else {
		moved, err = forget.Move(ctx, m.DB, s.In, s.Owns, selected, temp, e.Opt.DryRun)
	}
	a.Removed, a.Others = moved.Removed, moved.Others
	a.Sessions, a.Remotes = append(a.Sessions, moved.Sessions...), append(a.Remotes, moved.Remotes...)
	for _, t := range moved.Things {
		a.Deleted = append(a.Deleted, t.Kind+" "+t.Name)
	}
	return a, err
}

func printSplit(e *app.Env, s projects.Stray, a splitAnswer) {
	verb, of := "moved", ""
	if e.Opt.DryRun {
		verb = "would move"
	}
	if s.Dir != "" {
		of = " of " + s.Dir
	}
	e.Printf("%s %s%s from project %s to %s\n", verb, term.Count(len(a.Sessions), "session"), e.Safe(of), e.Safe(s.In.Name),
		e.Safe(s.Owns.Name))
	for _, name := range a.Deleted {
		e.Printf("  deleted in %s: %s\n", e.Safe(s.In.Name), e.Safe(name))
	}
	if a.Removed > 0 {
		e.Note("%s that you removed stay in %s: mem forget deletes them", term.Count(a.Removed, "session"), s.In.Name)
	}
	if a.Others > 0 {
		e.Note("%s of other devices stay in %s: run mem project split there", term.Count(a.Others, "session"), s.In.Name)
	}
	for _, name := range a.Remotes {
		e.Hint(term.Shell("mem", "push", name, "-p", string(s.In.ID[:8])))
	}
}
