package historycmd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
	"github.com/memvcs/mem/refs"
)

// Log returns mem log.
func Log(e *app.Env) *cli.Command {
	var o LogOptions
	return &cli.Command{
		Name:      "log",
		Usage:     "list operations, newest first",
		ArgsUsage: "[<rev>]",
		Description: "Each change of the memory is one operation: a commit in its git repository. The\n" +
			"captures of a session on one day are folded into one line; --all, --graph, --stat,\n" +
			"--patch, -S and --json list each of them. With a session, version or composition, lists\n" +
			"the operations that created, changed or used it; with HEAD~3 or a hash, the operations up\n" +
			"to that commit. \"mem show HASH\" shows one operation. -S TEXT lists the operations that\n" +
			"added TEXT to a session, version or composition, or removed it.\n\n" +
			"It does not list messages. The line of a capture that found turns which the user withdrew\n" +
			"says \"2 turns rewound\"; \"mem show SESSION\" marks them in the transcript.",
		Flags: []cli.Flag{
			app.BoolFlag(&o.Oneline, "oneline", "print one line per operation"),
			app.IntFlag(&o.Number, "number,n", "print the newest `N` only"),
			e.Since(&o.Since, "print the operations"),
			app.BoolFlag(&o.Graph, "graph", "draw the operations as a graph"),
			app.BoolFlag(&o.Stat, "stat", "print figures for each operation"),
			app.BoolFlag(&o.Patch, "patch,p", "print the changes of versions and compositions"),
			app.BoolFlag(&o.Handed, "handed", "list what hooks handed over, to which session and when"),
			app.BoolFlag(&o.All, "all,a", "print each capture, not one line for a session and day"),
			app.StringFlag(&o.Format, "format", "print each operation by a Go `TEMPLATE`, such as '{{.commit}} {{.subject}}'"),
			app.BoolFlag(&o.Undo, "undo", "list this device's operations and what undo and redo would do"),
			app.StringFlag(&o.Search, "S", "print the operations that added or removed `TEXT`"),
		},
		Action: e.Action(0, 1, func(c *cli.Context) error {
			if o.Number < 0 {
				return app.Usagef("option --number cannot be %d: want a whole number from 0", o.Number)
			}
			if c.IsSet("S") && strings.TrimSpace(o.Search) == "" {
				return app.Usagef("option -S requires a text to search for")
			}
			if o.Undo {
				if name := e.Operand(0); name != "" {
					hint := "mem log --undo"
					if o.Patch {
						hint = patchMeans + term.Shell("mem", "log", "--undo", "--project", name)
					}
					return app.WithHint(app.Usagef("mem log --undo takes no revision"), hint)
				}
				return app.WithMemory(c.Context, e, func(run app.Run) error { return runOpLog(c.Context, run, o.Number) })
			}
			if o.Handed {
				return runHanded(c.Context, e, o, e.Operand(0))
			}
			o.Rev, o.Limited = e.Operand(0), c.IsSet("number")
			return runLog(c.Context, e, o)
		}),
	}
}

// LogOptions are the options of mem log.
type LogOptions struct {
	Format  string
	Oneline bool
	Number  int
	Since   time.Time
	Graph   bool
	Stat    bool
	Patch   bool
	Search  string
	Handed  bool
	Undo    bool
	All     bool
	Rev     string // list only operations on this revision, "" for all
	Limited bool   // Number was given
}

// Asks reports whether the options select more than entries.
func (o LogOptions) Asks() bool { return o.Graph || o.Stat || o.Patch || o.Search != "" }

func runLog(ctx context.Context, e *app.Env, o LogOptions) error {
	app.SpendMemory()
	return app.WithMemory(ctx, e, func(run app.Run) error {
		n := 0
		if o.Limited && o.Since.IsZero() && o.Search == "" && (o.All || o.Asks() || e.Opt.JSON) { // else captures are folded
			n = max(o.Number, 1)
		}
		found, in, err := logEntries(ctx, run, o.Rev, n)
		if err != nil {
			return patchHint(ctx, run, o, err)
		}
		found = slices.Clone(found)
		if o.Rev == "" && !o.Asks() && !e.Opt.JSON && o.Format == "" {
			for p := range in.Names {
				earlier, err := history.Earlier(ctx, run.DB, p)
				if err != nil {
					return err
				}
				found = append(found, earlier...)
			}
		}
		if err := nameDevices(ctx, run, found); err != nil {
			return err
		}
		if !o.Graph {
			slices.SortStableFunc(found, func(a, b refs.Entry) int { return b.Time.Compare(a.Time) })
		}
		if !o.Since.IsZero() {
			found = slices.DeleteFunc(found, func(en refs.Entry) bool { return en.Time.Before(o.Since) })
		}
		err = logDetails(ctx, &details{Run: run, LogScope: in}, o, found)
		if o.Rev != "" {
			return err
		}
		return run.Listed(ctx, len(found), err)
	})
}

// logDetails prints entries with the details that the options select.
func logDetails(ctx context.Context, d *details, o LogOptions, entries []refs.Entry) error {
	switch {
	case !o.Asks() && !o.All && !d.Opt.JSON:
		entries = Folded(entries)
	case o.Asks():
		if err := d.look(ctx, o, entries); err != nil {
			return err
		}
		if o.Search != "" { // keep those in which the text appears or disappears
			entries = slices.DeleteFunc(slices.Clone(entries), func(en refs.Entry) bool { return len(d.mentions[en.Commit]) == 0 })
		}
	}
	if o.Limited {
		entries = entries[:min(o.Number, len(entries))]
	}
	if !o.Asks() || d.Opt.JSON || o.Format != "" || len(entries) == 0 {
		return d.printLog(o, entries)
	}
	d.Page("log")
	return d.print(ctx, o, entries)
}

func noteNothingLogged(run app.Run, o LogOptions) {
	switch {
	case o.Limited && o.Number <= 0:
	case !o.Since.IsZero() || o.Search != "" || o.Rev != "" || run.Opt.AllProjects:
		run.Note("no matching operations")
	default:
		run.Note("no operations in project %s", run.Project.Name)
		run.Hint("see other projects with --all-projects")
	}
}

// patchMeans is the start of the hint to those who type -p for the project.
const patchMeans = "-p of mem log is --patch, as in git; for the project: "

// patchHint adds to the error of mem log -p NAME the hint that -p means --patch here, if NAME is a project.
func patchHint(ctx context.Context, run app.Run, o LogOptions, err error) error {
	var missing *state.NotFoundError
	if !o.Patch || !errors.As(err, &missing) {
		return err
	}
	var several *state.AmbiguousError
	if _, nope := app.ProjectNamed(ctx, run.Env, run.Memory, o.Rev); nope != nil && !errors.As(nope, &several) {
		return err
	}
	return app.WithHint(&state.NotFoundError{What: missing.What, Name: missing.Name},
		patchMeans+term.Shell("mem", "log", "--project", o.Rev))
}

// A LogScope selects operations.
type LogScope struct {
	Names   map[refs.Project]string // of the projects
	session string                  // id, if only those about one session are
}

// logEntries returns the newest n operations, or all if n is 0.
func logEntries(ctx context.Context, run app.Run, rev string, n int) ([]refs.Entry, LogScope, error) {
	in := LogScope{Names: map[refs.Project]string{run.Project.ID: run.Project.Name}}
	if rev != "" {
		r, err := run.Resolve(ctx, rev)
		if err != nil {
			return nil, in, err
		}
		in.Names[r.Project.ID] = r.Project.Name
		if r.Session != nil {
			in.session = r.Session.ID
		}
		found, err := trust.LogOf(ctx, run.DB, r)
		return found, in, err
	}
	if !run.Opt.AllProjects {
		found, err := history.Log(ctx, run.DB, run.Project.ID, n)
		return found, in, err
	}
	projects, err := app.Projects(ctx, run.Memory)
	if err != nil {
		return nil, in, err
	}
	for _, p := range projects {
		in.Names[p.ID] = p.Name
	}
	found, err := history.ByTime(ctx, run.DB, projects, n)
	return found, in, err
}

// nameDevices names devices with equal names as mem device list does.
func nameDevices(ctx context.Context, run app.Run, found []refs.Entry) error {
	devices, err := trust.Devices(ctx, run.DB)
	if err != nil {
		return err
	}
	equal := map[string]string{}
	for _, d := range devices {
		if strings.HasSuffix(d.Name, "~"+d.ID[:min(8, len(d.ID))]) {
			equal[d.ID] = d.Name
		}
	}
	for i := range found {
		found[i].Name = cmp.Or(equal[found[i].Device], found[i].Name)
	}
	return nil
}

// printLog prints entries in the form of the options.
func (d *details) printLog(o LogOptions, found []refs.Entry) error {
	people := !d.Opt.JSON && o.Format == ""
	if people && len(found) == 0 {
		noteNothingLogged(d.Run, o)
		return nil
	}
	if !people || !o.Oneline {
		l := d.List("log", "operations", "commit", "when", "device", d.ProjectColumn(), app.Column{Name: "operation", Shrinks: true})
		l.Page, l.Format = "log", o.Format
		for i := range found {
			en := &found[i]
			l.Add(d.answer(o, en), app.Cell{Full: en.Commit, Short: en.Commit[:shortCommit], Paint: d.Style().Yellow}, en.Time,
				en.Name, d.Names[en.Project], en.Subject)
		}
		return l.Print()
	}
	d.Page("log")
	for _, en := range found {
		subject := d.Safe(d.subject(d.Env, &en))
		if width := d.Width() - shortCommit - 1; width > 0 {
			subject = app.Cut(subject, width)
		}
		d.Printf("%s %s\n", d.Style().Yellow(en.Commit[:shortCommit]), subject)
	}
	return nil
}

// shortCommit is the number of digits of a commit for people.
const shortCommit = 7

// subject returns the subject of an entry, after its project with --all-projects.
func (in LogScope) subject(e *app.Env, en *refs.Entry) string {
	if e.Opt.AllProjects {
		return in.Names[en.Project] + ": " + en.Subject
	}
	return en.Subject
}

func (d *details) answer(o LogOptions, en *refs.Entry) view.Operation {
	a := view.OperationOf(en, d.Names[en.Project])
	a.Changes = d.mentions[en.Commit]
	if w := d.works[en.Commit]; w != nil && o.Graph {
		a.Uses = w.Parents
	}
	if w := d.works[en.Commit]; w != nil && o.Stat {
		a.Stat = statLines(true, w)
	}
	return a
}
