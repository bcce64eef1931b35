package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/hookcmd"
	"github.com/memvcs/mem/cmd/mem/internal/sessioncmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/refs"
)

// An overview is the output of mem without arguments: the state of the memory and of this directory, and useful next
// commands.
type overview struct {
	Memory    bool               // whether there is one
	Project   string             // of this directory
	Stored    int                // in memory; without a memory, those that Claude Code has
	Subagents int                // sessions of subagents in memory
	New       int                // sessions of this project that are not in memory
	Changed   int                // sessions that grew since they were captured
	Hooks     bool               // whether sessions are captured automatically
	Next      []example          // what to type
	newest    *sessioncmd.Listed // in memory
	projects  int                // that have sessions in memory; without a memory, of Claude Code
}

// runOverview prints at most twelve lines.
func runOverview(ctx context.Context, e *app.Env) error {
	err := app.WithMemory(ctx, e, func(run app.Run) error {
		r, err := sessioncmd.SessionsReport(ctx, run)
		if err != nil {
			return err
		}
		o := overview{
			Memory: true, Project: run.Project.Name, Stored: r.Stored, Subagents: r.Subagents, New: len(r.Untracked), Changed: len(r.Changed),
			Hooks: hookcmd.Found(e), newest: r.Newest,
		}
		projects, err := app.Projects(ctx, run.Memory)
		if err != nil {
			return err
		}
		o.projects = len(projects)
		undecided, err := run.Undecided(ctx, r.Stored)
		if err != nil {
			return err
		}
		o.Next = o.commands(r, undecided)
		return printOverview(e, o)
	})
	if errors.Is(err, refs.ErrNotRepo) {
		return printOverview(e, overviewOfNothing(e))
	}
	return err
}

// overviewOfNothing prints the overview if there is no memory yet.
func overviewOfNothing(e *app.Env) overview {
	o := overview{Hooks: hookcmd.Found(e), Next: []example{
		{"mem demo", "try it on your sessions, in a throwaway memory"},
		{"mem init", "create the memory"},
		{"mem import", "capture every session that Claude Code has"},
		{"mem hooks install", "capture from now on, and brief each new session"},
	}}
	claude, err := e.ClaudeDir()
	if err != nil {
		return o // no home, so no sessions
	}
	sources, err := capture.Sources(claude)
	if err != nil {
		return o
	}
	dirs := map[string]bool{}
	for _, s := range sources {
		if s.Parent == "" {
			o.Stored++
			dirs[filepath.Dir(s.Path)] = true
		}
	}
	o.projects = len(dirs)
	return o
}

// commands returns the useful next commands, the most urgent first.
func (o overview) commands(r sessioncmd.StatusReport, undecided []string) []example {
	var next []example
	add := func(when bool, command, about string) {
		if when {
			next = append(next, example{command, about})
		}
	}
	for _, name := range undecided[:min(2, len(undecided))] {
		add(true, term.Shell("mem", "device", "trust", name), "use the data of this device, which is not trusted yet")
	}
	add(len(undecided) > 2, "mem device list", fmt.Sprintf("list the %d devices that are not trusted yet", len(undecided)))
	unseen := o.New + o.Changed
	if h := r.Link; h != nil {
		add(true, h.Command, h.Why)
	}
	elsewhere := len(r.Elsewhere)
	switch {
	case unseen > 0 && elsewhere > 0:
		add(true, "mem import", fmt.Sprintf("capture %s, and %d of other projects", changesText(o.New, o.Changed), elsewhere))
	case unseen > 0:
		add(true, "mem import", "capture "+changesText(o.New, o.Changed))
	default:
		add(o.Stored == 0 && elsewhere > 0, "mem import", "capture every session that Claude Code has")
	}
	add(!o.Hooks, "mem hooks install", "capture from now on, and brief each new session")
	add(o.Stored > 0, "mem next", "print the text for the next session")
	add(o.newest != nil, "mem show @", "print the newest session")
	add(o.Stored > 0, "mem search WORDS", "search this project's sessions")
	add(o.Stored == 0 && o.projects > 0, "mem ls --all-projects", "list the sessions of other projects")
	add(o.Stored == 0 && unseen == 0 && o.projects == 0 && len(r.Elsewhere) == 0, "mem demo",
		"see what it does, on a sample")
	return next[:min(len(next), overviewCommands)]
}

// overviewCommands is the maximum number of commands in an overview, which has twelve lines at most.
const overviewCommands = 6

// changesText returns the numbers of new and of grown sessions.
func changesText(added, changed int) string {
	var parts []string
	if added > 0 {
		parts = append(parts, fmt.Sprintf("%d new", added))
	}
	if changed > 0 {
		parts = append(parts, fmt.Sprintf("%d changed", changed))
	}
	return strings.Join(parts, " and ") + " session" + term.Plural(max(changed, cmp.Or(added, changed)))
}

func printOverview(e *app.Env, o overview) error {
	if e.Opt.JSON {
		return e.PrintJSON("overview", nil, "memory", o.Memory, "project,omitempty", o.Project, "sessions", o.Stored,
			"subagents", o.Subagents, "new", o.New, "changed", o.Changed, "hooks", o.Hooks, "next", append([]example{}, o.Next...))
	}
	for _, line := range o.lines(e) {
		e.Printf("%s\n", e.Safe(line))
	}
	var b strings.Builder
	writeExamples(&b, o.Next)
	e.Printf("\n%s\nmem help lists the common commands, mem help -a all of them\n", e.Safe(b.String()))
	return nil
}

// lines returns the lines about the state of the memory.
func (o overview) lines(e *app.Env) []string {
	if !o.Memory {
		first := "mem captures every Claude Code session and hands the next one what it needs."
		if o.Stored == 0 {
			return []string{first, "There is no memory yet, and no session of Claude Code."}
		}
		return []string{first, fmt.Sprintf("There is no memory yet. Claude Code has %s in %s.",
			term.Count(o.Stored, "session"), term.Count(o.projects, "project"))}
	}
	head := fmt.Sprintf("project %s: %s in memory", o.Project, term.Sessions(o.Stored, o.Subagents))
	if o.newest != nil {
		head += fmt.Sprintf(", newest %s (%s)", term.ShortID(o.newest.ID), app.Ago(e.Now(), o.newest.Last))
	}
	lines := []string{head}
	if o.New+o.Changed > 0 {
		lines = append(lines, fmt.Sprintf("%s not captured", changesText(o.New, o.Changed)))
	}
	return lines
}
