package sessioncmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
)

// movedFrom returns the project of the working directory before it was moved. Its session files name the old
// directory, which must not exist any more but have a project in memory. A git repository needs no such link.
func movedFrom(ctx context.Context, run names.Run) (state.Project, bool, error) {
	var none state.Project
	if !strings.HasPrefix(run.Project.Identity, "path ") {
		return none, false, nil
	}
	claude, err := run.ClaudeDir()
	if err != nil {
		return none, false, nil // no home, so no session files
	}
	files, err := filepath.Glob(filepath.Join(claude, "projects", capture.ClientDir(run.Dir), "*.jsonl"))
	if err != nil {
		return none, false, nil // a name that is no pattern has no session files
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
			return none, false, err
		}
		if has, err := projects.HasProject(ctx, run.DB, p.ID); err != nil || has && p.ID != run.Project.ID {
			return p, has, err
		}
	}
	return none, false, nil
}

// renamedFrom returns the project of the working directory before it was renamed, and the command that links it. The
// newest directory that is gone is the best guess.
func renamedFrom(ctx context.Context, run names.Run) (name, command string, err error) {
	found, err := projects.Renamed(ctx, run.DB, run.Dir)
	if err != nil || len(found) == 0 {
		return "", "", err
	}
	return found[0].Of.Name, names.LinkCommand(run.Dir, found[0].Dir, found[0].Of), nil
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

// linkTo returns the command that links the working directory to a project.
func linkTo(p state.Project) string { return term.Shell("mem", "project", "link", string(p.ID[:8])) }
