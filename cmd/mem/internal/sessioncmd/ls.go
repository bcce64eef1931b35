package sessioncmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
	"github.com/memvcs/mem/refs"
	"github.com/urfave/cli/v2"
)

type lsOptions struct {
	number    int
	from, to  time.Time
	branch    string
	month     time.Time
	untracked bool
	subagents bool
	removed   bool
	all       bool
	sort      string
	one       bool
	composed  bool
	format    string
}

// Ls returns mem ls.
func Ls(e *app.Env) *cli.Command {
	var o lsOptions
	return &cli.Command{
		Name:      "ls",
		Usage:     "list sessions of the project, or versions of a session",
		ArgsUsage: "[<session>]",
		Description: "The mark before a session is * for the newest session in memory (@), M for a file that\n" +
			"changed since it was added, ? for a file that is not in memory, D for a hidden session,\n" +
			"R for a session hidden by \"mem revoke\". Token counts are estimates.\n\n" +
			"A pipe gets the same columns without headings, separated by tabs: status, id, time of the\n" +
			"last message, messages, tokens, versions, markers, with --all-projects the project, title.",
		Flags: []cli.Flag{
			app.IntFlag(&o.number, "number,n", "list the newest `N` only"),
			e.Since(&o.from, "list the sessions that were active"), e.Until(&o.to, "list the sessions that began"),
			app.StringFlag(&o.branch, "branch", "list the sessions that ended on the git branch `NAME`"),
			app.ParsedFlag(&o.month, "month", "list the sessions of `MONTH` only, such as 2026-01", term.ParseMonth),
			app.BoolFlag(&o.untracked, "untracked,u", "list only sessions that are not in memory"),
			app.BoolFlag(&o.subagents, "subagents", "list the sessions of subagents too"),
			app.BoolFlag(&o.removed, "hidden,removed", "list hidden sessions too"),
			app.BoolFlag(&o.all, "all,a", "list hidden and revoked sessions and versions too"),
			app.ChoiceFlag(&o.sort, "sort", "sort by `WHAT`: when or tokens", "when", "tokens"),
			app.BoolFlag(&o.composed, "compositions", "list the compositions of the project instead"),
			app.BoolFlag(&o.one, "1", "print the ids alone"),
			app.StringFlag(&o.format, "format", "print each session by a Go `TEMPLATE`, such as '{{.sessionId}} {{.title}}'"),
		},
		Action: e.Action(0, 1, func(c *cli.Context) error {
			if session := e.Operand(0); session != "" {
				if o != (lsOptions{all: o.all}) {
					return app.WithHint(app.Usagef("mem ls %s lists versions: of the options, only --all applies", session),
						"mem ls -h")
				}
				return app.WithMemory(c.Context, e, func(run app.Run) error {
					return versioncmd.RunVersions(c.Context, run, session, versioncmd.VersionsOptions{All: o.all})
				})
			}
			if o.number < 0 {
				return app.Usagef("option --number cannot be negative")
			}
			if o.composed {
				return runLsCompositions(c.Context, e, o)
			}
			return runLs(c.Context, e, o)
		}),
	}
}

// A Listed is a session in a list, with its project.
type Listed struct {
	sessions.Item
	project state.Project
	newest  bool
	on      string // the device on which it went on differently, "" for no branch
}

func (it Listed) view() view.Session { return view.SessionOf(it.Item, it.project, it.newest) }

func runLs(ctx context.Context, e *app.Env, o lsOptions) error {
	return app.WithMemory(ctx, e, func(run app.Run) error {
		all, elsewhere, err := list(ctx, run, capture.ListOptions{Subagents: o.subagents, Removed: o.removed || o.all,
			Revoked: o.all})
		if err != nil {
			return err
		}
		if o.untracked && len(elsewhere) > 0 {
			e.Hint("%s: mem ls -u --all-projects", elsewhereText(elsewhere))
		}
		items := slices.DeleteFunc(slices.Clone(all), func(it Listed) bool { return !o.shows(it) })
		if o.sort == "tokens" {
			slices.SortStableFunc(items, func(a, b Listed) int { return cmp.Compare(b.Tokens, a.Tokens) })
		}
		if o.number > 0 && len(items) > o.number {
			if items = items[:o.number]; e.Term.Stdout && !e.Opt.JSON {
				defer e.Note("the newest %d; mem ls lists all", o.number)
			}
		}
		form := e.Opt.JSON || o.format != ""
		if !form && !o.one {
			waiting, err := app.WaitingSessions(ctx, run.DB, run.Project.ID)
			if err != nil {
				return err
			}
			for _, line := range app.WaitingLines(waiting) {
				e.Note("%s", e.Safe(line))
			}
		}
		switch {
		case o.one && !form:
			for _, it := range items {
				e.Printf("%s\n", e.Safe(it.ID))
			}
		case len(items) == 0 && !form:
			err = noteNothingListed(ctx, run, len(all) > 0, len(elsewhere) > 0)
		default:
			err = lsTable(run, o, items)
		}
		return run.Listed(ctx, len(all), err)
	})
}

// shows reports whether the options include a session.
func (o lsOptions) shows(it Listed) bool {
	if o.untracked && it.Status != sessions.Untracked {
		return false
	}
	began := it.Last
	if it.Session != nil && !it.Session.Now().Scan.First.IsZero() {
		began = it.Session.Now().Scan.First
	}
	if !o.from.IsZero() && it.Last.Before(o.from) || !o.to.IsZero() && !began.Before(o.to) ||
		o.branch != "" && (it.Session == nil || it.Session.Now().Scan.Branch != o.branch) {
		return false
	}
	return o.month.IsZero() || !it.Last.Before(o.month) && it.Last.Before(o.month.AddDate(0, 1, 0))
}

// clientOptions adds Claude Code's directory to o, and warnings about unreadable files.
func clientOptions(e *app.Env, o capture.ListOptions) capture.ListOptions {
	var err error
	if o.Claude, err = e.ClaudeDir(); err != nil {
		e.Warn("%v: Claude Code's own files are not listed", err)
	}
	if o.Unreadable == nil {
		o.Unreadable = func(err error) error {
			e.Warn("%v: Claude Code's sessions there are not listed", err)
			return nil
		}
	}
	return o
}

// list returns the sessions of the project, or with --all-projects of all projects, the newest first, and separately
// the untracked sessions of other projects.
func list(ctx context.Context, run app.Run, o capture.ListOptions) (all, elsewhere []Listed, err error) {
	app.SpendMemory()
	o = clientOptions(run.Env, o)
	if o.Read, err = o.ReadFiles(); err != nil {
		return nil, nil, err
	}
	if all, err = listKnown(ctx, run, o); err != nil {
		return nil, nil, err
	}
	o.Unreadable = func(error) error { return nil } // listing the project warns already
	o.Dir = run.Dir
	items, of, err := sessions.ListUntracked(ctx, run.DB, o)
	if err != nil {
		return nil, nil, err
	}
	for i, it := range items {
		if listed := (Listed{Item: it, project: of[i]}); run.Opt.AllProjects || of[i].ID == run.Project.ID {
			all = append(all, listed)
		} else {
			elsewhere = append(elsewhere, listed)
		}
	}
	slices.SortStableFunc(all, func(a, b Listed) int { return b.Ended().Compare(a.Ended()) })
	return all, elsewhere, nil
}

// elsewhereText returns the number of untracked sessions and of their projects.
func elsewhereText(items []Listed) string {
	projects := map[refs.Project]bool{}
	for _, it := range items {
		projects[it.project.ID] = true
	}
	verb := cmp.Or(app.If(len(items) == 1, "is"), "are")
	return fmt.Sprintf("%s of %s %s not in memory", term.Count(len(items), "session"),
		term.Count(len(projects), "other project"), verb)
}

// listKnown lists the sessions of the projects in memory.
func listKnown(ctx context.Context, run app.Run, o capture.ListOptions) ([]Listed, error) {
	projects, err := run.ListedProjects(ctx)
	if err != nil {
		return nil, err
	}
	var all []Listed
	left := int64(capture.CountAtOnce)
	for _, p := range projects {
		left = capture.CountMissing(ctx, run.DB, p.ID, left)
		if o.Dir = ""; p.ID == run.Project.ID {
			o.Dir = run.Dir
		}
		items, st, err := sessions.List(ctx, run.DB, p, o)
		if err != nil {
			return nil, err
		}
		newest := ""
		if recent := st.Recent(); len(recent) > 0 {
			newest = recent[0].ID
		}
		for _, it := range items {
			listed := Listed{Item: it, project: p, newest: it.ID == newest}
			if it.Session != nil && it.Session.File != "" {
				if listed.on, err = trust.DeviceName(ctx, run.DB, it.Session.Device()); err != nil {
					return nil, err
				}
			}
			all = append(all, listed)
		}
	}
	return all, nil
}
