package remotecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// Push returns mem push.
func Push(e *app.Env) *cli.Command {
	var all bool
	return &cli.Command{
		Name:      "push",
		Usage:     "send the memory of a project to a remote",
		ArgsUsage: "[<remote>]",
		Description: "Pushes this project, the project of --project, or all of them with --all. Only the\n" +
			"branches that this device writes are sent, as fast-forwards; the exception is one that\n" +
			"\"mem forget\" rewrote, which replaces exactly the known state of the remote.\n" +
			"All data is scanned for secrets first, and a project with a secret is not pushed. The\n" +
			"first push of a project to a remote asks once. A public repository is refused.",
		Flags: []cli.Flag{app.BoolFlag(&all, "all", "push every project")},
		Action: e.Action(0, 2, func(c *cli.Context) error {
			if len(e.Operands) > 1 {
				return app.WithHint(app.Usagef("mem push takes no branch"), "it sends the whole memory of the project: "+
					term.Shell("mem", "push", e.Operand(0)))
			}
			if all && e.Opt.Project != "" {
				return app.Usagef("--project cannot be combined with --all")
			}
			return app.WithMemory(c.Context, e, func(run app.Run) error {
				r, err := sync.Remote(run.DB, e.Operand(0))
				if err != nil {
					return err
				}
				projects, err := projectsToPush(c.Context, run, &r, all || e.Opt.AllProjects)
				if err != nil {
					return app.WithHint(err, "mem push --all")
				}
				out, err := runPush(c.Context, run, r, projects)
				if err != nil {
					return err
				}
				err = printPush(e, r, out)
				return cmp.Or(noteUnstored(c.Context, run), err)
			})
		}),
	}
}

// projectsToPush returns the project of the run, or all projects that show something or that the remote has.
func projectsToPush(ctx context.Context, run app.Run, r *refs.Remote, all bool) ([]state.Project, error) {
	known, err := trust.Projects(ctx, run.DB)
	if err != nil {
		return nil, err
	}
	if all && r == nil { // an archive has all
		return known, nil
	}
	if all {
		out := slices.DeleteFunc(known, func(p state.Project) bool {
			_, there := r.Projects[p.ID]
			left, lerr := trust.Idle(ctx, run.DB, p.ID)
			err = errors.Join(err, lerr)
			return left && !there
		})
		return out, err
	}
	for _, p := range known {
		if p.ID == run.Project.ID {
			return []state.Project{p}, nil
		}
	}
	return nil, app.WithCode(app.ExitNo, app.WithHint(fmt.Errorf("no memory of project %s",
		run.Project.Name), "mem project list"))
}

func runPush(ctx context.Context, run app.Run, r refs.Remote, projects []state.Project) (sync.Pushed, error) {
	known, err := trust.Projects(ctx, run.DB)
	if err != nil {
		return sync.Pushed{}, err
	}
	bar := run.ProgressBytes("pushing", 0)
	o := sync.PushOptions{Remote: r, Projects: projects, DryRun: run.Opt.DryRun, Progress: bar.Add,
		Consent: ConsentTo(run.Env, projects, known)}
	out, err := sync.Push(ctx, run.DB, o)
	bar.End()
	var twin *sync.DivergedError
	if errors.As(err, &twin) && !run.Opt.DryRun {
		out, err = pushAgain(ctx, run, o, twin)
	}
	return out, err
}

// noteUnstored prints a note about the session files of the project that are new or have grown: only what is in memory
// is sent.
func noteUnstored(ctx context.Context, run app.Run) error {
	claude, err := run.ClaudeDir()
	here, perr := app.TheProject(ctx, run.Env, run.Memory)
	if err != nil || perr != nil {
		return nil //nolint:nilerr // without a home or a directory there are no session files of it
	}
	items, _, err := sessions.ListAll(ctx, run.DB, here, capture.ListOptions{Claude: claude, Dir: run.Dir,
		Unreadable: func(error) error { return nil }}) // mem status reports it
	stored := func(it sessions.Item) bool { return it.Status != sessions.Changed && it.Status != sessions.Untracked }
	if n := len(slices.DeleteFunc(items, stored)); n > 0 {
		run.Note("not sent: the turns of %s that are not in memory  (use \"mem import\")", term.Count(n, "session"))
	}
	return err
}

// ConsentTo returns the function that asks whether a project may be pushed to a remote. The answer is stored with the
// remote, so it is asked once. One question covers all projects that the remote does not have yet. Known are the
// projects in memory, to distinguish those with equal names.
func ConsentTo(e *app.Env, projects, known []state.Project) func(state.Project, refs.Remote) (bool, error) {
	asked, answer := false, false
	return func(p state.Project, r refs.Remote) (bool, error) {
		if e.Opt.Yes || e.Opt.DryRun {
			return true, nil
		}
		pending := slices.DeleteFunc(slices.Clone(projects), func(p state.Project) bool {
			_, sent := r.Projects[p.ID]
			return sent
		})
		if len(pending) < 2 {
			return e.Ask("send the memory of project %s to %s (%s)?", app.DistinctName(p, known), r.Name, r.URL)
		}
		if asked {
			return answer, nil
		}
		list := app.Each(pending, func(p state.Project) string { return app.DistinctName(p, known) })
		var err error
		answer, err = e.Ask("send the memory of %d projects (%s) to %s (%s)?",
			len(list), strings.Join(list, ", "), r.Name, r.URL)
		asked = err == nil
		return answer, err
	}
}

// pushed returns the JSON of a push.
func pushed(r refs.Remote, out sync.Pushed, dryRun bool) app.Object {
	lanes := app.Each(out.Lanes, func(l sync.PushedLane) app.Object {
		return app.Object{"project", l.Project.Name, "projectId", l.Project.ID, "old,omitempty", l.Old,
			"new,omitempty", l.New, "status", l.Status, "why,omitempty", l.Why, "restored,omitempty", l.Restored,
			"leaks,omitempty", l.Leaks, "cleaned,omitempty", cleaned(l), "originals,omitempty", l.Exact,
			"forced,omitempty", l.Forced}
	})
	return app.Object{"remote", r.Name, "url", r.URL, "lanes", lanes, "objects", out.Objects, "bytes", out.Bytes,
		"secrets", leaked(out), "rules", out.Rules, "dryRun", dryRun, "sessions,omitempty", out.Sessions, "absent,omitempty", out.Absent,
		"unswept,omitempty", len(out.Sweep.Unswept)}
}

// cleaned returns the number of sessions, objects and records that were cleaned before the push.
func cleaned(l sync.PushedLane) int {
	return l.Cleaned.Sessions + l.Cleaned.Objects + l.Cleaned.Records
}

// leaked returns the number of secrets that a push found.
func leaked(out sync.Pushed) (n int) {
	for _, l := range out.Lanes {
		n += len(l.Leaks)
	}
	return n
}

// pushStatus returns exit status 1 if nothing could be pushed, 3 if only a part could.
func pushStatus(out sync.Pushed) error {
	refused := 0
	for _, l := range out.Lanes {
		if slices.Contains([]string{"refused", "rejected", "declined"}, l.Status) {
			refused++
		}
	}
	switch {
	case refused == 0:
		return nil
	case refused < len(out.Lanes):
		return app.Exit(app.ExitPartial)
	}
	return app.Exit(app.ExitNo)
}

// printPush prints what was pushed, and returns [pushStatus].
func printPush(e *app.Env, r refs.Remote, out sync.Pushed) error {
	if !e.Opt.JSON {
		printPushed(e, r, out)
	} else if err := e.PrintJSON("push", pushed(r, out, e.Opt.DryRun)); err != nil {
		return err
	}
	return pushStatus(out)
}

// printPushed prints a push for people.
func printPushed(e *app.Env, r refs.Remote, out sync.Pushed) {
	defer func() {
		for _, l := range out.Absent {
			e.Note("%s lacks records of %s in %s: only that device can push them", r.Name, l.Device, l.Project)
		}
		app.WarnUnswept(e, r, out.Sweep)
	}()
	with := func(statuses ...string) func(sync.PushedLane) bool {
		return func(l sync.PushedLane) bool { return slices.Contains(statuses, l.Status) }
	}
	others := slices.DeleteFunc(slices.Clone(out.Lanes), with("current"))
	if len(others) == 0 {
		e.Note("everything is up to date")
		return
	}
	var projects []state.Project
	declined := map[refs.Project]bool{}
	for _, l := range out.Lanes {
		projects = append(projects, l.Project)
		if l.Status == "declined" {
			declined[l.Project.ID] = true
		}
	}
	if len(declined) > 0 {
		e.Note("%s not sent to %s", term.Count(len(declined), "project"), r.Name)
	}
	if len(slices.DeleteFunc(others, with("declined"))) == 0 {
		return
	}
	e.Report("To %s\n", e.Safe(r.URL))
	created := map[string]bool{}
	for _, l := range out.Lanes {
		name := app.DistinctName(l.Project, projects)
		title := e.Safe(exactly(name, l.Exact))
		switch l.Status {
		case "declined":
		case "new":
			if !created[title] { // an archive has a branch of each device
				e.Report(" * %-22s  %s\n", "[new branch]", title)
			}
			created[title] = true
		case "updated":
			e.Report("   %-22s  %s\n", app.ShortCommit(l.Old)+".."+app.ShortCommit(l.New), title)
		case "current":
			if e.Opt.Verbose {
				e.Report(" = %-22s  %s\n", "[up to date]", e.Safe(name))
			}
		default:
			e.Printf(" ! %-22s  %s%s\n", "["+l.Status+"]", title, e.Safe(because(l.Why)))
		}
		if l.Restored {
			e.Warn("%s had more of project %s before: it was rolled back or recreated; %s", r.Name, name,
				e.Verb("it was sent again", "it would be sent again"))
		}
		if l.Forced && l.Dropped {
			e.Note("forgotten data of %s is deleted from %s", name, r.Name)
		}
		if n := cleaned(l); n > 0 {
			e.Note("secrets were removed from %d sessions, objects and records of %s first: they had been stored without rules",
				n, name)
		}
		printLeaks(e, l.Leaks)
		if l.Foreign != nil {
			for _, hint := range app.ShareHints(l.Foreign) {
				e.Hint("%s", hint)
			}
		}
	}
	if !slices.ContainsFunc(out.Lanes, with("new", "updated")) {
		e.Report("nothing was sent\n")
		return
	}
	reportSessions(e, out.Sessions)
	secrets := leaked(out)
	e.Report("%s%d object%s, %s, %d secret%s found\n", e.Verb("", "would send "), out.Objects, term.Plural(out.Objects),
		app.BytesText(out.Bytes), secrets, term.Plural(secrets))
	if out.Rules == 0 {
		e.Warn("there are no rules for secrets: nothing was looked for")
	}
}

func exactly(name string, exact bool) string { return name + app.If(exact, " (exact bytes)") }

func because(why string) string { return app.If(why != "", "  "+why) }

// printLeaks prints the places of secrets, never their values.
func printLeaks(e *app.Env, leaks []secrets.Leak) {
	const most = 20
	for i, l := range leaks {
		if i == most {
			e.Note("  and %d more", len(leaks)-most)
			break
		}
		e.Note("  %s", l.String())
	}
	if len(leaks) == 0 {
		return
	}
	if i := slices.IndexFunc(leaks, func(l secrets.Leak) bool { return l.Message > 0 }); i >= 0 {
		e.Hint("%s#%d deletes the message permanently, here and on remotes; mem forget --secret - deletes only the value, "+
			"everywhere", term.Shell("mem", "forget", term.ShortID(leaks[i].Session)), leaks[i].Message)
	} else {
		e.Hint("mem forget --secret - deletes a value permanently and everywhere, here and on remotes")
	}
	e.Hint("mem secrets allow %s, if that is no secret", leaks[0].Hash)
}

// pushAgain pushes as a new device, because the remote has different data of this one: the store is a copy, or was
// restored from an old backup.
func pushAgain(ctx context.Context, run app.Run, o sync.PushOptions, twin *sync.DivergedError) (sync.Pushed, error) {
	if err := split(ctx, run, o.Remote, twin.Own); err != nil {
		return sync.Pushed{}, fmt.Errorf("%w; become a new device: %w", twin, err)
	}
	var err error
	if o.Remote, err = sync.Remote(run.DB, o.Remote.Name); err != nil {
		return sync.Pushed{}, err
	}
	o.Progress = nil
	return sync.Push(ctx, run.DB, o)
}

// split makes the store a new device and prints a note.
func split(ctx context.Context, run app.Run, r refs.Remote, own bool) error {
	was := run.Repo().Device()
	if err := sync.Split(ctx, run.DB, r, own); err != nil {
		return err
	}
	if now := run.Repo().Device(); now.ID != was.ID {
		run.Warn("%s has other memory of the device %s (%s): this store is a copy, or was restored from an old one",
			r.Name, was.Name, was.ID[:8])
		run.Note("it is the device %s (%s) from now on; nothing is lost", now.Name, now.ID[:8])
	}
	return nil
}
