package exportcmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs/disk"
)

// Resume returns mem resume.
func Resume(e *app.Env) *cli.Command {
	var run bool
	return &cli.Command{
		Name:      "resume",
		Usage:     "put a session where Claude Code resumes it",
		ArgsUsage: "[<session>]",
		Description: "Writes a session, by default the newest of this project from any device, with its\n" +
			"subagents and tool results to the directory in which Claude Code looks for the sessions\n" +
			"of the working directory, and prints the command that resumes it. Paths of the former\n" +
			"working directory become those of this one, in the fields that the client and the tools\n" +
			"fill; what anybody said stays. On another device than the one that captured the session,\n" +
			"the secrets that redaction removed are missing: the output names them.\n\n" +
			"If Claude Code has the beginning of the session, its file gets the turns that follow. If it\n" +
			"has turns that memory lacks, they are captured first. If a file of the session, also in another\n" +
			"directory of Claude Code, has other turns than the session, a fork is written, with a new ID.\n" +
			"If the session went on differently on another device, <session>~<device> resumes that.",
		Flags: []cli.Flag{app.BoolFlag(&run, "run", "start Claude Code with the session")},
		Action: e.Action(0, 1, func(c *cli.Context) error {
			return runResume(c.Context, e, app.OrNewest(e.Operand(0)), run)
		}),
	}
}

func runResume(ctx context.Context, e *app.Env, name string, start bool) error {
	var done checkout.Resumed
	err := app.WithMemory(ctx, e, func(run app.Run) error {
		rev, err := run.Resolve(ctx, name)
		if err != nil {
			return err
		}
		if rev.Kind == state.IsComposition {
			return app.WithHint(app.Usagef("mem resume takes a session, and %s is a composition", name),
				"to start a session with it: "+term.Shell("mem", "checkout", name)+" -o DIR, then claude --resume DIR/composed.jsonl --fork-session")
		}
		if rev.Session == nil {
			return app.WithHint(app.Usagef("%s is a %s, not a session", name, rev.Kind), "mem ls")
		}
		if err := resumable(ctx, run, rev); err != nil {
			return err
		}
		claude, err := e.ClaudeDir()
		if err != nil {
			return err
		}
		done, err = checkout.Resume(ctx, run.DB, rev, claude, e.Dir, projects.CheckoutOf(e.Dir), e.Opt.DryRun)
		var there *disk.FileError
		if errors.As(err, &there) && errors.Is(err, disk.ErrExists) {
			return app.WithCode(app.ExitNo, app.WithHint(
				fmt.Errorf("%s and the session in memory went on differently: each has turns that the other lacks", there.Path),
				"to resume that file: "+term.Shell("claude", "--resume", rev.Session.FileID()),
				"to read the other: "+term.Shell("mem", "show", records.ShortID(rev.Session.ID))))
		}
		if err != nil {
			return err
		}
		if rev.Session.File == "" {
			rev.Session = done.Session
			return run.NoteBranches(ctx, rev, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	command, of := []string{"claude", "--resume", done.ID}, "" // the session, if a fork of it was written
	if done.ID != done.Session.FileID() {
		of = done.Session.ID
	}
	if e.Opt.JSON && !start {
		removed := map[string]int{}
		maps.Copy(removed, done.Removed)
		return e.PrintJSON("resume", nil, "sessionId", done.ID, "dir", e.Dir, "files", append([]string{}, done.Files...),
			"from,omitempty", done.From, "changedLines", done.Changed, "removedSecrets", removed, "command", command,
			"continued", done.Continued, "captured", done.Captured, "forkOf,omitempty", of, "dryRun", e.Opt.DryRun)
	}
	printResume(e, done, of)
	if !start {
		e.Printf("%s\n", term.Shell(command...))
	} else if !e.Opt.DryRun {
		return startClaude(ctx, e, command)
	}
	return nil
}

// resumable returns an error if a session cannot be resumed in the working directory.
func resumable(ctx context.Context, run app.Run, rev state.Rev) error {
	id := records.ShortID(rev.Session.ID)
	switch {
	case rev.Kind == state.IsVersion:
		return app.WithHint(app.Usagef("mem resume takes a session, and %s:%s is a version", id, rev.Version.Label),
			"to start a session with it: "+term.Shell("mem", "compose", "NAME", id+":"+rev.Version.Label),
			"to go on with the session itself: "+term.Shell("mem", "resume", id))
	case rev.Kind != state.IsSession && rev.Kind != state.IsOriginal:
		return app.WithHint(app.Usagef("mem resume takes a session"), term.Shell("mem", "resume", id))
	case rev.Session.Parent() != "":
		parent := records.ShortID(rev.Session.Parent())
		return app.WithHint(app.Usagef("%s is a subagent of %s", id, parent), term.Shell("mem", "resume", parent))
	}
	e := *run.Env
	e.Opt.Project = "" // the files are written for the directory, whatever -p says
	here, err := app.TheProject(ctx, &e, run.Memory)
	if err != nil {
		return err
	}
	if rev.Project.ID != here.ID {
		return app.WithCode(app.ExitNo, app.WithHint(fmt.Errorf("%s is a session of project %s, not of this directory", id, rev.Project.Name),
			"change to a directory of that project, or: "+app.LinkCommand(run.Dir, run.Dir, rev.Project)))
	}
	return trust.MayUse(ctx, run.DB, rev)
}

func printResume(e *app.Env, a checkout.Resumed, of string) {
	if a.Captured {
		e.Note("captured the file of Claude Code, which has more than memory had")
	}
	for i, f := range a.Files {
		verb := e.Verb("wrote", "would write")
		if a.Continued && i == 0 {
			verb = e.Verb("continued", "would continue")
		}
		e.Note("%s %s", verb, e.Safe(f))
	}
	if of != "" {
		file, _ := records.CutDevice(of)
		e.Note("a file of %s here has other turns: %s is a fork of %s", term.ShortID(file), a.ID, term.ShortID(of))
	} else if a.From != "" && a.Changed > 0 {
		e.Note("paths in %s were changed from %s", term.Count(a.Changed, "line"), e.Safe(a.From))
	}
	if len(a.Removed) > 0 {
		list := app.Each(app.SortedKeys(a.Removed), func(rule string) string {
			return fmt.Sprintf("%d %s", a.Removed[rule], rule)
		})
		e.Note("without the secrets that only the capturing device has: %s", e.Safe(strings.Join(list, ", ")))
	}
}

// startClaude runs the client in the terminal of mem.
func startClaude(ctx context.Context, e *app.Env, command []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return app.WithHint(fmt.Errorf("claude is not installed: %w", err), term.Shell(command...))
	}
	cmd := e.Command(context.WithoutCancel(ctx), nil, path, command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.Stdin, term.File(e.Stdout), term.File(e.Stderr)
	err = cmd.Run()
	var status *exec.ExitError
	if errors.As(err, &status) {
		return app.Exit(app.ExitFatal) // the client has said why
	}
	return err
}
