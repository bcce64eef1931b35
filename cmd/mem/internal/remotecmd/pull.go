package remotecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/forgetcmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
)

// Fetch returns mem fetch.
func Fetch(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:      "fetch",
		Usage:     "fetch from a remote and verify everything",
		ArgsUsage: "[<remote>]",
		Description: "Fetched data goes to a quarantine, where every object, signature and record is\n" +
			"verified. Data of a device that violates a rule is refused alone; the others join the memory.\n" +
			"There are no merges and no conflicts, and so \"mem pull\" is the same. Without -p, fetches\n" +
			"every project of the remote.",
		Action: fetching(e, "fetch"),
	}
}

// Pull returns mem pull.
func Pull(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:      "pull",
		Usage:     "fetch from a remote and list what arrived",
		ArgsUsage: "[<remote>]",
		Description: "A project is the union of the records of your devices; a pull adds records and changes\n" +
			"none of yours. Data of an untrusted device is verified and put aside: nothing reads it\n" +
			"until \"mem device trust\".",
		Action: fetching(e, "pull"),
	}
}

// fetching returns the action of mem fetch and mem pull, which differ in the schema of their JSON.
func fetching(e *app.Env, what string) func(c *cli.Context) error {
	return onRemote(e, func(ctx context.Context, run app.Run, r refs.Remote) error {
		out, err := runFetch(ctx, run, r)
		if err != nil {
			return err
		}
		if len(out.Devices) == 0 { // printFetch names the new ones
			if err := app.HintUntrusted(ctx, e, run.Memory); err != nil {
				return err
			}
		}
		return errors.Join(noteParted(ctx, run, out), printFetch(e, what, r, out))
	})
}

// Sync returns mem sync.
func Sync(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:      "sync",
		Usage:     "pull, then push",
		ArgsUsage: "[<remote>]",
		Description: "Pulls, then pushes this project and every project that was pushed to the remote before.\n" +
			"It is safe at any time; there is nothing to resolve.",
		Action: onRemote(e, runSync),
	}
}

// runFetch fetches the project of -p, or all projects.
func runFetch(ctx context.Context, run app.Run, r refs.Remote) (sync.Fetched, error) {
	out, err := runFetchOn(ctx, run, r, nil)
	if err == nil && !run.Opt.DryRun && run.Opt.Project == "" {
		err = run.Repo().EndClone(r.URL) // an interrupted clone has all that it was to bring
	}
	return out, err
}

// runFetchOn is runFetch on the open session s, if it is not nil, and closes it.
func runFetchOn(ctx context.Context, run app.Run, r refs.Remote, s remote.Session) (sync.Fetched, error) {
	only, err := wanted(ctx, run)
	if err != nil {
		return sync.Fetched{}, endSession(s, err)
	}
	bar := run.ProgressBytes("fetching", 0)
	o := sync.FetchOptions{Remote: r, Session: s, Projects: only, DryRun: run.Opt.DryRun, Progress: bar.Add}
	if bar != nil {
		bar.Idle = "waiting for the remote"
	}
	out, err := sync.Fetch(ctx, run.DB, o)
	bar.End()
	if err != nil || !out.Twin {
		return out, err
	}
	if err := split(ctx, run, r, true); err != nil {
		return out, err
	}
	out.Lanes = slices.DeleteFunc(out.Lanes, func(l sync.FetchedLane) bool { // of the device that this was
		return l.Own && l.Status == "rewritten"
	})
	return out, nil
}

// wanted returns the project of -p, nil for all projects.
func wanted(ctx context.Context, run app.Run) ([]refs.Project, error) {
	if run.Opt.Project == "" || run.Opt.AllProjects {
		return nil, nil
	}
	p, err := app.ProjectNamed(ctx, run.Env, run.Memory, run.Opt.Project)
	return []refs.Project{p.ID}, err
}

// endSession closes the session s, if it is not nil, after an error.
func endSession(s remote.Session, err error) error {
	if s == nil {
		return err
	}
	return errors.Join(err, s.Close())
}

// fetched returns the JSON of a fetch.
func fetched(r refs.Remote, out sync.Fetched, dryRun bool) app.Object {
	lanes := []app.Object{}
	for _, l := range out.Lanes {
		kinds := map[string]int{}
		maps.Copy(kinds, l.Arrival.Kinds)
		lanes = append(lanes, app.Object{"project", l.Name, "projectId", l.Project, "device", l.By, "old,omitempty", l.Old,
			"new,omitempty", l.New, "status", l.Status, "why,omitempty", l.Why, "commits", l.Arrival.Commits,
			"records", l.Arrival.Records, "kinds", kinds})
	}
	return app.Object{"remote", r.Name, "url", r.URL, "lanes", lanes, "newDevices", append([]state.Device{}, out.Devices...),
		"objects", out.Objects, "bytes", out.Bytes, "dryRun", dryRun,
		"forgotten,omitempty", forgetcmd.ForgottenAnswers(out.Forgotten), "sessions,omitempty", out.Sessions, "hidden,omitempty", out.Hidden}
}

// printFetch prints the sessions and versions that arrived. It returns the exit status of [fetchStatus].
func printFetch(e *app.Env, what string, r refs.Remote, out sync.Fetched) error {
	if e.Opt.JSON {
		if err := e.PrintJSON(what, fetched(r, out, e.Opt.DryRun)); err != nil {
			return err
		}
	} else {
		printFetched(e, r, out)
	}
	return fetchStatus(out)
}

// noteParted names the sessions of lanes with new captures that went on differently on another device.
func noteParted(ctx context.Context, run app.Run, out sync.Fetched) error {
	said := map[string]bool{}
	var all []app.Parted
	for _, l := range out.Lanes {
		if l.Own || l.Lane.Outside || run.Opt.DryRun || l.Arrival.Kinds["session"] == 0 {
			continue
		}
		parted, err := app.PartedSessions(ctx, run.DB, l.Project, l.Device)
		if err != nil {
			return err
		}
		for _, p := range parted {
			if !said[p.Session] {
				all = append(all, p)
			}
			said[p.Session] = true
		}
	}
	for _, line := range app.PartedLines(all) {
		run.Note("%s", run.Safe(line))
	}
	return nil
}

// fetchStatus returns exit status 1 if the remote has invalid lanes, 3 if other lanes were fetched.
func fetchStatus(out sync.Fetched) error {
	took, bad := 0, 0
	for _, l := range out.Lanes {
		switch {
		case l.Status == "new", l.Status == "updated":
			took++
		case unsound(l):
			bad++
		}
	}
	if bad == 0 {
		return nil
	}
	if took > 0 {
		return app.Exit(app.ExitPartial)
	}
	return app.Exit(app.ExitNo)
}

// unsound reports whether a lane on the remote is invalid.
func unsound(l sync.FetchedLane) bool {
	return slices.Contains([]string{"refused", "rewritten", "missing", "behind"}, l.Status)
}

func troubled(out sync.Fetched) bool { return slices.ContainsFunc(out.Lanes, unsound) }

func printFetched(e *app.Env, r refs.Remote, out sync.Fetched) {
	printPulled(e, r, out)
	hinted := map[string]bool{}
	for _, l := range out.Lanes {
		warnLane(e, r, l)
		if l.Status == "refused" && l.Listed && !l.Own && !hinted[l.Device] {
			hinted[l.Device] = true
			e.Hint("to remove its data and fetch no more of it: %s", term.Shell("mem", "device", "drop", l.Device[:8]))
		}
	}
	forgetcmd.PrintHeeded(e, out.Forgotten)
	const most = 4
	for i, s := range out.Hidden {
		if i == most {
			e.Note("%s hidden too: mem ls -a", term.Count(len(out.Hidden)-most, "session"))
			break
		}
		id := records.ShortID(s.Session)
		e.Note("[%s] %s hid %s %s; to show it again: %s", e.Safe(s.Project), e.Safe(s.By), id, e.Safe(term.Quoted(s.Title)),
			term.Shell("mem", "rm", "--undo", id, "-p", s.Project))
	}
	for _, d := range out.Devices {
		if !d.Trusted {
			e.Note("new device %s (%s): %s", d.Name, d.Fingerprint, waitingText(d))
			e.Hint("%s", term.Shell("mem", "device", "trust", d.Name))
			if name, _, same := strings.Cut(d.Name, "~"); same {
				e.Hint("this device is called %s, too; to tell them apart: %s NAME", name, term.Shell("mem", "device", "rename", name))
			}
		}
	}
}

// waitingText says what data of an untrusted device waits.
func waitingText(d state.Device) string {
	w := d.Waiting
	if w == nil {
		return "its data is not used until you trust it"
	}
	return fmt.Sprintf("%s in %s (%s) not used until you trust it", term.Count(w.Sessions, "session"),
		term.Count(w.Projects, "project"), app.BytesText(w.Bytes))
}

// printPulled prints the new data of each device.
func printPulled(e *app.Env, r refs.Remote, out sync.Fetched) {
	verb, said := e.Verb("pulled", "would pull"), false
	for _, l := range out.Lanes {
		if l.Status != "new" && l.Status != "updated" {
			continue
		}
		said = true
		if l.Lane.Outside && !e.Opt.DryRun {
			continue // its device is named below
		}
		if l.Arrival.Removed > 0 {
			e.Report("[%s] %s has forgotten %s\n", e.Safe(l.Name), e.Safe(l.By), term.Count(l.Arrival.Removed, "record"))
			if l.Arrival.Records == l.Arrival.Kinds[records.KindPurge] {
				continue
			}
		}
		e.Report("[%s] %s %s from %s\n", e.Safe(l.Name), verb, arrived(l), e.Safe(l.By))
	}
	reportSessions(e, out.Sessions)
	if !said && !troubled(out) {
		e.Note("already up to date with %s", r.Name)
	}
}

// reportSessions lists ten of the sessions that moved.
func reportSessions(e *app.Env, moved []sync.SessionChange) {
	const most = 10
	for i, s := range moved {
		if i == most {
			e.Report("    and %d more\n", len(moved)-most)
			return
		}
		e.Report("    %-9s  %s  %s\n", s.Change, e.Safe(term.ShortID(s.Session)), e.Safe(cmp.Or(s.Title, "(no title)")))
	}
}

// arrived returns the new data of a lane.
func arrived(l sync.FetchedLane) string {
	if l.Exact {
		return "exact bytes"
	}
	if l.Arrival.Commits == 0 {
		return "data" // of a dry run, which has not fetched it
	}
	var parts []string
	rest := l.Arrival.Records
	if l.Arrival.Removed > 0 {
		rest -= l.Arrival.Kinds[records.KindPurge] // printed before
	}
	for _, k := range []string{"session", "version", "composition"} {
		if n := l.Arrival.Kinds[k]; n > 0 {
			parts = append(parts, term.Count(n, cmp.Or(map[string]string{"session": "capture"}[k], k)))
			rest -= n
		}
	}
	if rest > 0 {
		parts = append(parts, term.Count(rest, "small change"))
	}
	return strings.Join(parts, ", ")
}

// warnLane warns of an invalid lane on a remote.
func warnLane(e *app.Env, r refs.Remote, l sync.FetchedLane) {
	whose := "of device " + l.By
	if l.Own {
		whose = "of this device"
	}
	switch l.Status {
	case "refused":
		e.Warn("%s, project %s: the data %s was not fetched: %s", r.Name, l.Name, whose, l.Why)
	case "rewritten":
		e.Warn("%s, project %s: the data %s was rewritten; the local copy stays", r.Name, l.Name, whose)
	case "missing":
		e.Warn("%s, project %s: the data %s is gone; the remote was recreated, or the data was deleted",
			r.Name, l.Name, whose)
	case "behind":
		e.Warn("%s, project %s: the data %s was rolled back; the local copy stays", r.Name, l.Name, whose)
	default:
		return
	}
	if l.Own {
		e.Hint("%s", term.Shell("mem", "push", r.Name))
	}
}

// runSync pulls, then pushes the project of the directory and those that were pushed before.
func runSync(ctx context.Context, run app.Run, r refs.Remote) error {
	if err := mayAsk(ctx, run, r); err != nil {
		return err
	}
	in, err := runFetch(ctx, run, r)
	if err != nil {
		return err
	}
	if !run.Opt.JSON {
		printFetched(run.Env, r, in)
	}
	if r, err = sync.Remote(run.DB, r.Name); err != nil {
		return err
	}
	projects, err := projectsToSync(ctx, run, r)
	if err != nil {
		return err
	}
	out, err := runPush(ctx, run, r, projects)
	if err != nil {
		return err
	}
	if !run.Opt.JSON {
		printPushed(run.Env, r, out)
	} else if err := run.PrintJSON("sync", nil, "pull", fetched(r, in, run.Opt.DryRun),
		"push", pushed(r, out, run.Opt.DryRun)); err != nil {
		return err
	}
	return cmp.Or(noteUnstored(ctx, run), pushStatus(out), fetchStatus(in))
}

// mayAsk returns the error of a question that the push will ask and that has no terminal, so that nothing is pulled.
func mayAsk(ctx context.Context, run app.Run, r refs.Remote) error {
	if run.Opt.Yes || run.Opt.DryRun || run.Term.Stdin && run.Term.Stderr {
		return nil
	}
	projects, err := projectsToSync(ctx, run, r)
	if err != nil {
		return err
	}
	lanes, err := run.DB.Refs.Lanes()
	for _, l := range lanes {
		i := slices.IndexFunc(projects, func(p state.Project) bool { return p.ID == l.Project })
		if _, sent := r.Projects[l.Project]; i >= 0 && !sent && l.Device == run.DB.Refs.Device().ID {
			_, err := ConsentTo(run.Env, projects, projects)(projects[i], r)
			return err
		}
	}
	return err
}

// projectsToSync returns the project of the directory and those that were pushed to the remote before.
func projectsToSync(ctx context.Context, run app.Run, r refs.Remote) ([]state.Project, error) {
	here, err := app.TheProject(ctx, run.Env, run.Memory)
	if err != nil {
		return nil, err
	}
	known, err := trust.Projects(ctx, run.DB)
	return slices.DeleteFunc(known, func(p state.Project) bool {
		_, before := r.Projects[p.ID]
		return p.ID != here.ID && !run.Opt.AllProjects && (!before || run.Opt.Project != "")
	}), err
}
