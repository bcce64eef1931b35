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
	"github.com/memvcs/mem/cmd/mem/internal/forgetcmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
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
			"There are no merges and no conflicts. \"mem pull\" does the same and lists the sessions\n" +
			"that arrived. Without -p, fetches every project of the remote.",
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

// fetching returns the flags and action of mem fetch and mem pull, which differ in their output.
func fetching(e *app.Env, what string) func(c *cli.Context) error {
	return e.Action(0, 1, func(c *cli.Context) error {
		return withRemote(e, func(m *layers.Memory, r refs.Remote) error {
			out, err := runFetch(c.Context, e, m, r)
			if err != nil {
				return err
			}
			if len(out.Devices) == 0 { // printFetch names the new ones
				if err := app.HintUntrusted(c.Context, e, m); err != nil {
					return err
				}
			}
			return errors.Join(noteParted(c.Context, e, m, out), printFetch(e, what, r, out))
		})
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
		Action: e.Action(0, 1, func(c *cli.Context) error {
			return withRemote(e, func(m *layers.Memory, r refs.Remote) error { return runSync(c.Context, e, m, r) })
		}),
	}
}

// withRemote opens the memory, resolves the named remote and calls f.
func withRemote(e *app.Env, f func(*layers.Memory, refs.Remote) error) error {
	m, err := app.OpenMemory(e)
	if err != nil {
		return err
	}
	defer m.Close()
	r, err := sync.Remote(m.DB, e.Operand(0))
	if err != nil {
		return err
	}
	return f(m, r)
}

// runFetch fetches the project of -p, or all projects.
func runFetch(ctx context.Context, e *app.Env, m *layers.Memory, r refs.Remote) (sync.Fetched, error) {
	out, err := runFetchOn(ctx, e, m, r, nil)
	if err == nil && !e.Opt.DryRun && e.Opt.Project == "" {
		err = m.Repo().EndClone(r.URL) // an interrupted clone has all that it was to bring
	}
	return out, err
}

// runFetchOn is runFetch on the open session s, if it is not nil, and closes it.
func runFetchOn(ctx context.Context, e *app.Env, m *layers.Memory, r refs.Remote,
	s remote.Session) (sync.Fetched, error) {
	o := sync.FetchOptions{Remote: r, Session: s, DryRun: e.Opt.DryRun}
	if e.Opt.Project != "" && !e.Opt.AllProjects {
		p, err := app.ProjectNamed(ctx, e, m, e.Opt.Project)
		if err != nil {
			return sync.Fetched{}, endSession(s, err)
		}
		o.Projects = []refs.Project{p.ID}
	}
	bar := e.ProgressBytes("fetching", 0)
	if o.Progress = bar.Add; bar != nil {
		bar.Idle = "waiting for the remote"
	}
	out, err := sync.Fetch(ctx, m.DB, o)
	bar.End()
	if err != nil || !out.Twin {
		return out, err
	}
	if err := split(ctx, e, m, r, true); err != nil {
		return out, err
	}
	out.Lanes = append(out.Lanes[:0:0], withoutTwins(out.Lanes)...)
	return out, nil
}

// endSession closes the session s, if it is not nil, after an error.
func endSession(s remote.Session, err error) error {
	if s == nil {
		return err
	}
	return errors.Join(err, s.Close())
}

// withoutTwins drops the lanes of the old device after this store became a new one.
func withoutTwins(lanes []sync.FetchedLane) []sync.FetchedLane {
	var out []sync.FetchedLane
	for _, l := range lanes {
		if !l.Own || l.Status != "rewritten" {
			out = append(out, l)
		}
	}
	return out
}

// A fetchAnswer is the JSON form of a fetch.
type fetchAnswer struct {
	Remote  string         `json:"remote"`
	URL     string         `json:"url"`
	Lanes   []fetchedLane  `json:"lanes"`
	Devices []state.Device `json:"newDevices"`
	Objects int            `json:"objects"`
	Bytes   int64          `json:"bytes"`
	DryRun  bool           `json:"dryRun"`

	Forgotten []forgetcmd.ForgottenAnswer `json:"forgotten,omitempty"` // here, because another device forgot it
	Hidden    []sync.HiddenSession        `json:"hidden,omitempty"`    // sessions that other devices hid
}

type fetchedLane struct {
	Project   string         `json:"project"`
	ProjectID string         `json:"projectId"`
	Device    string         `json:"device"`
	Old       string         `json:"old,omitempty"`
	New       string         `json:"new,omitempty"`
	Status    string         `json:"status"`
	Why       string         `json:"why,omitempty"`
	Commits   int            `json:"commits"`
	Records   int            `json:"records"`
	Kinds     map[string]int `json:"kinds"`
}

func fetchAnswerOf(r refs.Remote, out sync.Fetched, dryRun bool) fetchAnswer {
	a := fetchAnswer{r.Name, r.URL, []fetchedLane{}, append([]state.Device{}, out.Devices...), out.Objects, out.Bytes,
		dryRun, forgetcmd.ForgottenAnswers(out.Forgotten), out.Hidden}
	for _, l := range out.Lanes {
		kinds := l.Arrival.Kinds
		if kinds == nil {
			kinds = map[string]int{}
		}
		a.Lanes = append(a.Lanes, fetchedLane{l.Name, string(l.Project), l.By, l.Old, l.New, l.Status, l.Why,
			l.Arrival.Commits, l.Arrival.Records, kinds})
	}
	return a
}

// printFetch prints the result: of a fetch the branches, as git does, of a pull the sessions and versions. It returns
// the exit status of [fetchStatus].
func printFetch(e *app.Env, what string, r refs.Remote, out sync.Fetched) error {
	if e.Opt.JSON {
		if err := e.PrintJSON(what, fetchAnswerOf(r, out, e.Opt.DryRun)); err != nil {
			return err
		}
	} else {
		printFetched(e, what, r, out)
	}
	return fetchStatus(out)
}

// noteParted names the sessions of lanes with new captures that went on differently on another device.
func noteParted(ctx context.Context, e *app.Env, m *layers.Memory, out sync.Fetched) error {
	said := map[string]bool{}
	var all []app.Parted
	for _, l := range out.Lanes {
		if l.Own || l.Lane.Outside || e.Opt.DryRun || l.Arrival.Kinds["session"] == 0 {
			continue
		}
		parted, err := app.PartedSessions(ctx, m.DB, l.Project, l.Device)
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
		e.Note("%s", e.Safe(line))
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

func printFetched(e *app.Env, what string, r refs.Remote, out sync.Fetched) {
	if what == "fetch" {
		printFetchLines(e, r, out)
	} else {
		printPulled(e, r, out)
	}
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

// printFetchLines prints a line for each changed lane.
func printFetchLines(e *app.Env, r refs.Remote, out sync.Fetched) {
	said := false
	for _, l := range out.Lanes {
		line := ""
		switch l.Status {
		case "new":
			line = fmt.Sprintf(" * %-22s", "[new branch]")
		case "updated":
			line = fmt.Sprintf("   %-22s", app.Moved(l.Old, l.New))
		default:
			continue
		}
		if !said {
			e.Report("From %s\n", e.Safe(r.URL))
			said = true
		}
		by := e.Safe(l.By)
		if l.Lane.Outside {
			by += ", not trusted"
		}
		e.Report("%s  %s (%s)\n", line, e.Safe(exactly(l.Name, l.Exact)), by)
	}
	if !said && !troubled(out) {
		e.Note("already up to date")
	}
}

// printPulled prints the new data of each device.
func printPulled(e *app.Env, r refs.Remote, out sync.Fetched) {
	verb, said := "pulled", false
	if e.Opt.DryRun {
		verb = "would pull"
	}
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
	if !said && !troubled(out) {
		e.Note("already up to date with %s", r.Name)
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
func runSync(ctx context.Context, e *app.Env, m *layers.Memory, r refs.Remote) error {
	in, err := runFetch(ctx, e, m, r)
	if err != nil {
		return err
	}
	if !e.Opt.JSON {
		printFetched(e, "pull", r, in)
	}
	if r, err = sync.Remote(m.DB, r.Name); err != nil {
		return err
	}
	projects, err := projectsToSync(ctx, e, m, r)
	if err != nil {
		return err
	}
	out, err := runPush(ctx, e, m, r, projects)
	if err != nil {
		return err
	}
	a, pushed := pushAnswerOf(r, out, e.Opt.DryRun)
	if !e.Opt.JSON {
		printPushed(e, r, a, out)
	} else if err := e.PrintJSON("sync", nil, "pull", fetchAnswerOf(r, in, e.Opt.DryRun), "push", a); err != nil {
		return err
	}
	if pushed != nil {
		return pushed
	}
	return fetchStatus(in)
}

// projectsToSync returns the project of the directory and those that were pushed to the remote before.
func projectsToSync(ctx context.Context, e *app.Env, m *layers.Memory, r refs.Remote) ([]state.Project, error) {
	here, err := app.TheProject(ctx, e, m)
	if err != nil {
		return nil, err
	}
	known, err := trust.Projects(ctx, m.DB)
	if err != nil {
		return nil, err
	}
	var out []state.Project
	for _, p := range known {
		_, before := r.Projects[p.ID]
		if e.Opt.Project != "" {
			before = false
		}
		if before || p.ID == here.ID || e.Opt.AllProjects {
			out = append(out, p)
		}
	}
	return out, nil
}
