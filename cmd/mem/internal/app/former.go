package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A Former is a project whose sessions may be those of the working directory, which has none in memory.
type Former struct {
	Why     string // for a line of its own
	Briefly string // for a remark
	Command string // links the directory to the project
}

// A kind of evidence that the working directory is that of another project.
type evidence func(ctx context.Context, run Run) ([]Former, error)

// Formers returns the projects that the working directory may have been part of, by the most certain evidence that there
// is: its session files, a directory that is gone, the name.
func Formers(ctx context.Context, run Run) ([]Former, error) {
	if run.Opt.Project != "" || run.Opt.AllProjects {
		return nil, nil
	}
	for _, find := range []evidence{moved, renamed, namesakes} {
		if found, err := find(ctx, run); err != nil || len(found) > 0 {
			return found, err
		}
	}
	return nil, nil
}

// moved finds the project of the working directory before it was moved. Its session files name the old directory, which
// must not exist any more but have a project in memory. A git repository needs no such link.
func moved(ctx context.Context, run Run) ([]Former, error) {
	if !strings.HasPrefix(run.Project.Identity, "path ") {
		return nil, nil
	}
	claude, err := run.ClaudeDir()
	if err != nil {
		return nil, nil // no home, so no session files
	}
	files, err := filepath.Glob(filepath.Join(claude, "projects", capture.ClientDir(run.Dir), "*.jsonl"))
	if err != nil {
		return nil, nil // a name that is no pattern has no session files
	}
	for _, name := range files {
		cwd := cwdOf(name)
		if cwd == "" || cwd == run.Dir {
			continue
		}
		if _, err := os.Stat(cwd); err == nil {
			continue
		}
		p, _, err := projects.Locate(ctx, run.DB, cwd)
		if err != nil {
			return nil, err
		}
		if has, err := projects.HasProject(ctx, run.DB, p.ID); err != nil {
			return nil, err
		} else if has && p.ID != run.Project.ID {
			return []Former{{
				fmt.Sprintf("The session files of this directory belong to project %s, whose directory is gone", p.Name),
				"this directory moved: its sessions are of that project", LinkCommand(run.Dir, run.Dir, p),
			}}, nil
		}
	}
	return nil, nil
}

// renamed finds the project of the working directory before it was renamed.
func renamed(ctx context.Context, run Run) (out []Former, err error) {
	found, err := projects.Renamed(ctx, run.DB, run.Dir)
	for _, r := range found {
		out = append(out, Former{
			fmt.Sprintf("If this directory was renamed: the sessions of project %s are from %s, which is gone", r.Of.Name, r.From),
			"if this directory was renamed, from project " + r.Of.Name, LinkCommand(run.Dir, r.Dir, r.Of),
		})
	}
	return out, err
}

// namesakes finds projects with sessions and the name of the working directory's, that with the most first: without a remote, the same work has
// another path on another machine.
func namesakes(ctx context.Context, run Run) (out []Former, err error) {
	all, sessions, err := run.others(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(p state.Project) bool { return !namesake(p, run.Project) })
	slices.SortStableFunc(all, func(p, q state.Project) int { return cmp.Compare(sessions[q.ID], sessions[p.ID]) })
	for _, p := range all {
		n, where := sessions[p.ID], strings.TrimPrefix(p.Identity, "path ")
		out = append(out, Former{
			fmt.Sprintf("If this directory is of the other project %s: it has %s, from %s", p.Name, term.Count(n, "session"), where),
			fmt.Sprintf("if this is the other project %s, with %s", p.Name, term.Count(n, "session")),
			LinkCommand(run.Dir, projects.CheckoutOf(run.Dir), p),
		})
	}
	return out, nil
}

// others returns the other projects with sessions, and how many each has.
func (run Run) others(ctx context.Context) (out []state.Project, sessions map[refs.Project]int, err error) {
	all, err := trust.Projects(ctx, run.DB)
	sessions = map[refs.Project]int{}
	for _, p := range all {
		st, err := trust.Outline(ctx, run.DB, p.ID)
		if err != nil {
			return nil, nil, err
		}
		if n := len(st.Recent()); n > 0 && p.ID != run.Project.ID {
			out, sessions[p.ID] = append(out, p), n
		}
	}
	return out, sessions, err
}

// AnyFormer returns how to link the working directory, of which nothing is known, to a project with sessions. It returns false
// if there is none.
func AnyFormer(ctx context.Context, run Run) (f Former, ok bool, err error) {
	if run.Opt.Project != "" || run.Opt.AllProjects {
		return f, false, nil
	}
	others, _, err := run.others(ctx)
	if err != nil {
		return f, false, err
	}
	switch len(others) {
	case 0:
		return f, false, nil
	case 1:
		f.Briefly, f.Command = "if this directory is of project "+others[0].Name, LinkCommand(run.Dir, projects.CheckoutOf(run.Dir), others[0])
	default:
		f.Briefly, f.Command = "if this directory is of another project", "mem project link PROJECT"
	}
	return f, true, nil
}

// maxGone is the number of projects that a line names.
const maxGone = 3

// GoneWorktrees returns the projects of removed directories that may have been worktrees of the repository of the working
// directory.
func GoneWorktrees(ctx context.Context, run Run) (out []state.Project, err error) {
	if run.Opt.Project != "" || run.Opt.AllProjects || !projects.InsideRepo(run.Dir) {
		return nil, nil
	}
	list, err := projects.GoneProjects(ctx, run.DB)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	find, err := projects.LoadFinder(ctx, run.DB)
	if err != nil {
		return nil, err
	}
	for _, g := range list {
		st, err := trust.Outline(ctx, run.DB, g.Of.ID)
		if err != nil {
			return nil, err
		}
		branches := Each(st.Recent(), func(s *state.Session) string { return s.Now().Scan.Branch })
		slices.Sort(branches)
		if g.Of.ID != run.Project.ID && find.WereWorktrees(ctx, run.Dir, g.Dirs, slices.Compact(branches)) {
			out = append(out, g.Of)
		}
	}
	return out, nil
}

// FormerWorktrees returns [GoneWorktrees] as one line, nil if there are none.
func FormerWorktrees(ctx context.Context, run Run) ([]Former, error) {
	found, err := GoneWorktrees(ctx, run)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	if len(found) == 1 {
		return []Former{{
			fmt.Sprintf("Project %s seems to be of a worktree of this repository, which is gone", found[0].Name),
			"a removed worktree has a project of its own: " + found[0].Name,
			term.Shell("mem", "project", "merge", string(found[0].ID[:8])),
		}}, nil
	}
	named := term.Some(Each(found, func(p state.Project) string { return p.Name }), maxGone)
	return []Former{{
		"Projects " + named + " seem to be of worktrees of this repository, which are gone",
		"removed worktrees have projects of their own: " + named, "mem project merge",
	}}, nil
}

// namesake reports whether two projects have the same name, or remotes whose repositories have.
func namesake(p, q state.Project) bool {
	repository := func(p state.Project) string {
		url, ok := strings.CutPrefix(p.Identity, "origin ")
		if !ok {
			return ""
		}
		return path.Base(url)
	}
	return p.Name == q.Name || repository(p) != "" && repository(p) == repository(q)
}

// cwdOf returns the first directory in a session file, "" if there is none or the file cannot be read.
func cwdOf(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	cwd, err := transcript.Cwd(f)
	if err != nil {
		return ""
	}
	return cwd
}
