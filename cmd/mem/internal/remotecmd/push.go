package remotecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/secrets"
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
		Description: "Pushes this project, the project of --project, or all of them with --all. Only lanes of\n" +
			"this device, the branches that it writes, are sent, as fast-forwards; the exception is\n" +
			"a lane that \"mem forget\" rewrote, which replaces exactly the known state of the remote.\n" +
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
				out, err := runPush(c.Context, e, run.Memory, r, projects)
				if err != nil {
					return err
				}
				return printPush(e, r, out)
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

// A pushAnswer is the JSON form of a push.
type pushAnswer struct {
	Remote  string            `json:"remote"`
	URL     string            `json:"url"`
	Lanes   []pushedLane      `json:"lanes"`
	Objects int               `json:"objects"`
	Bytes   int64             `json:"bytes"`
	Secrets int               `json:"secrets"`
	Rules   int               `json:"rules"`
	DryRun  bool              `json:"dryRun"`
	Absent  []sync.AbsentLane `json:"absent,omitempty"`  // what other devices remember that the remote does not have
	Unswept int               `json:"unswept,omitempty"` // branches whose deleted data may still be there
}

type pushedLane struct {
	Project   string         `json:"project"`
	ProjectID string         `json:"projectId"`
	Old       string         `json:"old,omitempty"`
	New       string         `json:"new,omitempty"`
	Status    string         `json:"status"`
	Why       string         `json:"why,omitempty"`
	Restored  bool           `json:"restored,omitempty"`
	Leaks     []secrets.Leak `json:"leaks,omitempty"`
	Cleaned   int            `json:"cleaned,omitempty"`   // sessions, objects and records cleaned before the first push
	Exact     bool           `json:"originals,omitempty"` // it is about the exact bytes
	Forced    bool           `json:"forced,omitempty"`    // the lane is rewritten there, without forgotten data
	name      string         // of the project, distinct in this push
	dropped   bool           // its former data is deleted there
	share     []string       // the commands that permit the push
}

func runPush(ctx context.Context, e *app.Env, m *layers.Memory, r refs.Remote, projects []state.Project) (sync.Pushed, error) {
	known, err := trust.Projects(ctx, m.DB)
	if err != nil {
		return sync.Pushed{}, err
	}
	bar := e.ProgressBytes("pushing", 0)
	o := sync.PushOptions{Remote: r, Projects: projects, DryRun: e.Opt.DryRun, Progress: bar.Add,
		Consent: ConsentTo(e, projects, known)}
	out, err := sync.Push(ctx, m.DB, o)
	bar.End()
	var twin *sync.DivergedError
	if errors.As(err, &twin) && !e.Opt.DryRun {
		out, err = pushAgain(ctx, e, m, o, twin)
	}
	return out, err
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
		var list []string
		for _, p := range pending {
			list = append(list, app.DistinctName(p, known))
		}
		var err error
		answer, err = e.Ask("send the memory of %d projects (%s) to %s (%s)?",
			len(list), strings.Join(list, ", "), r.Name, r.URL)
		asked = err == nil
		return answer, err
	}
}

// pushAnswerOf returns the JSON form of a push, and its exit status: 1 if nothing could be pushed, 3 if only a part could.
func pushAnswerOf(r refs.Remote, out sync.Pushed, dryRun bool) (a pushAnswer, status error) {
	refused, done := 0, 0
	a = pushAnswer{Remote: r.Name, URL: r.URL, Lanes: []pushedLane{}, Objects: out.Objects, Bytes: out.Bytes,
		Rules: out.Rules, DryRun: dryRun, Absent: out.Absent, Unswept: len(out.Sweep.Unswept)}
	var projects []state.Project
	for _, l := range out.Lanes {
		projects = append(projects, l.Project)
	}
	for _, l := range out.Lanes {
		lane := pushedLane{l.Project.Name, string(l.Project.ID), l.Old, l.New, l.Status, l.Why, l.Restored, l.Leaks,
			l.Cleaned.Sessions + l.Cleaned.Objects + l.Cleaned.Records, l.Exact, l.Forced,
			app.DistinctName(l.Project, projects), l.Dropped, nil}
		if l.Foreign != nil {
			lane.share = app.ShareHints(l.Foreign)
		}
		a.Lanes = append(a.Lanes, lane)
		a.Secrets += len(l.Leaks)
		switch l.Status {
		case "refused", "rejected", "declined":
			refused++
		default:
			done++
		}
	}
	switch {
	case refused == 0:
		return a, nil
	case done > 0:
		return a, app.Exit(app.ExitPartial)
	}
	return a, app.Exit(app.ExitNo)
}

// printPush prints what was pushed, and returns the exit status of [pushAnswerOf].
func printPush(e *app.Env, r refs.Remote, out sync.Pushed) error {
	a, status := pushAnswerOf(r, out, e.Opt.DryRun)
	if !e.Opt.JSON {
		printPushed(e, r, a, out)
	} else if err := e.PrintJSON("push", a); err != nil {
		return err
	}
	return status
}

// printPushed prints a push for people.
func printPushed(e *app.Env, r refs.Remote, a pushAnswer, out sync.Pushed) {
	defer func() {
		for _, l := range a.Absent {
			e.Note("%s lacks records of %s in %s: only that device can push them", a.Remote, l.Device, l.Project)
		}
		app.WarnUnswept(e, r, out.Sweep)
	}()
	changed := false
	for _, l := range a.Lanes {
		changed = changed || l.Status != "current"
	}
	if !changed {
		e.Note("everything is up to date")
		return
	}
	declined := map[string]bool{}
	for _, l := range a.Lanes {
		if l.Status == "declined" {
			declined[l.ProjectID] = true
		}
	}
	if len(declined) > 0 {
		e.Note("%s not sent to %s", term.Count(len(declined), "project"), a.Remote)
	}
	if !slices.ContainsFunc(a.Lanes, func(l pushedLane) bool { return l.Status != "declined" && l.Status != "current" }) {
		return
	}
	e.Report("To %s\n", e.Safe(a.URL))
	for _, l := range a.Lanes {
		switch l.Status {
		case "declined":
		case "new":
			e.Report(" * %-22s  %s\n", "[new branch]", e.Safe(l.title()))
		case "updated":
			e.Report("   %-22s  %s\n", app.Moved(l.Old, l.New), e.Safe(l.title()))
		case "current":
			if e.Opt.Verbose {
				e.Report(" = %-22s  %s\n", "[up to date]", e.Safe(l.name))
			}
		default:
			e.Printf(" ! %-22s  %s%s\n", "["+l.Status+"]", e.Safe(l.title()), e.Safe(because(l.Why)))
		}
		if l.Restored {
			again := "it was sent again"
			if a.DryRun {
				again = "it would be sent again"
			}
			e.Warn("%s had more of project %s before: it was rolled back or recreated; %s", a.Remote, l.name, again)
		}
		if l.Forced && l.dropped {
			e.Note("forgotten data of %s is deleted from %s", l.name, a.Remote)
		}
		if l.Cleaned > 0 {
			e.Note("secrets were removed from %d sessions, objects and records of %s first: they had been stored without rules",
				l.Cleaned, l.name)
		}
		printLeaks(e, l.Leaks)
		for _, hint := range l.share {
			e.Hint("%s", hint)
		}
	}
	if !slices.ContainsFunc(a.Lanes, func(l pushedLane) bool { return l.Status == "new" || l.Status == "updated" }) {
		e.Report("nothing was sent\n")
		return
	}
	verb := ""
	if a.DryRun {
		verb = "would send "
	}
	e.Report("%s%d object%s, %s, %d secret%s found\n", verb, a.Objects, term.Plural(a.Objects), app.BytesText(a.Bytes),
		a.Secrets, term.Plural(a.Secrets))
	if a.Rules == 0 {
		e.Warn("there are no rules for secrets: nothing was looked for")
	}
}

// title returns the name of the project and the part of it that is meant.
func (l pushedLane) title() string { return exactly(l.name, l.Exact) }

func exactly(name string, exact bool) string {
	if exact {
		return name + " (exact bytes)"
	}
	return name
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return "  " + why
}

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
func pushAgain(
	ctx context.Context, e *app.Env, m *layers.Memory, o sync.PushOptions, twin *sync.DivergedError,
) (sync.Pushed, error) {
	if err := split(ctx, e, m, o.Remote, twin.Own); err != nil {
		return sync.Pushed{}, fmt.Errorf("%w; become a new device: %w", twin, err)
	}
	var err error
	if o.Remote, err = sync.Remote(m.DB, o.Remote.Name); err != nil {
		return sync.Pushed{}, err
	}
	o.Progress = nil
	return sync.Push(ctx, m.DB, o)
}

// split makes the store a new device and prints a note.
func split(ctx context.Context, e *app.Env, m *layers.Memory, r refs.Remote, own bool) error {
	was := m.Repo().Device()
	if err := sync.Split(ctx, m.DB, r, own); err != nil {
		return err
	}
	if now := m.Repo().Device(); now.ID != was.ID {
		e.Warn("%s has other memory of the device %s (%s): this store is a copy, or was restored from an old one",
			r.Name, was.Name, was.ID[:8])
		e.Note("it is the device %s (%s) from now on; nothing is lost", now.Name, now.ID[:8])
	}
	return nil
}
