package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
)

// fetch is the command that brings what a remote has.
func (e *Env) fetch() *cli.Command {
	return &cli.Command{
		Name:      "fetch",
		Usage:     "fetch and merge from a remote",
		ArgsUsage: "[<remote>]",
		Description: "Everything goes to a quarantine first, where every object, signature and record is checked; only lanes that keep all\n" +
			"rules become part of the memory. There is nothing to merge and nothing to resolve. \"mem pull\" is the same and says\n" +
			"what came in the words of memory. Without -p it takes every project that the remote has.",
		Action: e.fetching("fetch"),
	}
}

// pull is the command that brings what a remote has and says what it is.
func (e *Env) pull() *cli.Command {
	return &cli.Command{
		Name:      "pull",
		Usage:     "fetch from a remote and list what arrived",
		ArgsUsage: "[<remote>]",
		Description: "A project is what all its devices remember; a pull adds to it and changes nothing that is here. What a device wrote that\n" +
			"you do not trust yet is shown, and never put into a session: \"mem device trust\".",
		Action: e.fetching("pull"),
	}
}

// fetching is what fetch and pull do; they tell of it in other words.
func (e *Env) fetching(what string) func(context.Context, *cli.Command) error {
	return func(ctx context.Context, c *cli.Command) error {
		if err := e.wantOperands(c, 0, 1); err != nil {
			return err
		}
		return e.withRemote(func(m *layers.Memory, r refs.Remote) error {
			out, err := e.runFetch(ctx, m, r)
			if err != nil {
				return travelError(err)
			}
			return e.printFetch(what, r, out)
		})
	}
}

// sync is the command that pulls and pushes.
func (e *Env) sync() *cli.Command {
	return &cli.Command{
		Name:      "sync",
		Usage:     "pull, then push",
		ArgsUsage: "[<remote>]",
		Description: "It pushes every project that was pushed to the remote before, and the one of this directory. There is nothing to resolve: it\n" +
			"can run whenever you like.",
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 1); err != nil {
				return err
			}
			return e.withRemote(func(m *layers.Memory, r refs.Remote) error { return e.runSync(ctx, m, r) })
		},
	}
}

// withRemote opens the memory and finds the remote that the command names.
func (e *Env) withRemote(f func(*layers.Memory, refs.Remote) error) error {
	m, err := e.memory()
	if err != nil {
		return err
	}
	defer m.Close()
	r, err := m.Sync().Remote(e.operand(0))
	if err != nil {
		return travelError(err)
	}
	return f(m, r)
}

// runFetch fetches the project of -p, or all.
func (e *Env) runFetch(ctx context.Context, m *layers.Memory, r refs.Remote) (sync.Fetched, error) {
	out, err := e.runFetchOn(ctx, m, r, nil)
	if err == nil && !e.opt.dryRun && e.opt.project == "" {
		err = m.Repo().EndClone(r.URL) // an interrupted clone has all that it was to bring
	}
	return out, err
}

// runFetchOn is runFetch in a conversation that was begun already, if s is one. It ends it.
func (e *Env) runFetchOn(ctx context.Context, m *layers.Memory, r refs.Remote, s remote.Session) (sync.Fetched, error) {
	o := sync.FetchOptions{Remote: r, Session: s, DryRun: e.opt.dryRun}
	if e.opt.project != "" && !e.opt.allProjects {
		p, err := e.projectNamed(ctx, m, e.opt.project)
		if err != nil {
			return sync.Fetched{}, endSession(s, err)
		}
		o.Projects = []refs.Project{p.ID}
	}
	bar := e.progressBytes("fetching", 0)
	if o.Progress = bar.add; bar != nil {
		bar.idle = "waiting for the remote"
	}
	out, err := m.Sync().Fetch(ctx, o)
	bar.end()
	if err != nil || !out.Twin {
		return out, err
	}
	if err := e.split(ctx, m, r, true); err != nil {
		return out, err
	}
	out.Lanes = append(out.Lanes[:0:0], withoutTwins(out.Lanes)...)
	return out, nil
}

// endSession ends a conversation, if s is one, because of an error.
func endSession(s remote.Session, err error) error {
	if s == nil {
		return err
	}
	return errors.Join(err, s.Close())
}

// withoutTwins leaves out what becoming a new device has settled.
func withoutTwins(lanes []sync.FetchedLane) []sync.FetchedLane {
	var out []sync.FetchedLane
	for _, l := range lanes {
		if !l.Own || l.Status != "rewritten" {
			out = append(out, l)
		}
	}
	return out
}

// A fetchAnswer is what a fetch did, as --json prints it.
type fetchAnswer struct {
	Remote  string         `json:"remote"`
	URL     string         `json:"url"`
	Lanes   []fetchedLane  `json:"lanes"`
	Devices []state.Device `json:"new_devices"`
	Objects int            `json:"objects"`
	Bytes   int64          `json:"bytes"`
	DryRun  bool           `json:"dry_run"`

	Forgotten []forgottenAnswer `json:"forgotten,omitempty"` // here, because another device forgot it
	Unheeded  []string          `json:"unheeded,omitempty"`  // devices that forgot something and are not trusted
}

type fetchedLane struct {
	Project   string         `json:"project"`
	ProjectID string         `json:"project_id"`
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
	a := fetchAnswer{r.Name, r.URL, []fetchedLane{}, append([]state.Device{}, out.Devices...), out.Objects, out.Bytes, dryRun, forgottenAnswers(out.Forgotten, nil), out.Unheeded}
	for _, l := range out.Lanes {
		kinds := l.Arrival.Kinds
		if kinds == nil {
			kinds = map[string]int{}
		}
		a.Lanes = append(a.Lanes, fetchedLane{l.Name, string(l.Project), l.By, l.Old, l.New, l.Status, l.Why, l.Arrival.Commits, l.Arrival.Records, kinds})
	}
	return a
}

// printFetch prints what a fetch did: a fetch as git does, a pull in the words of memory. Its status is 1 if the remote shows
// something that is not to be believed.
func (e *Env) printFetch(what string, r refs.Remote, out sync.Fetched) error {
	if e.opt.json {
		if err := e.printJSON(what, fetchAnswerOf(r, out, e.opt.dryRun)); err != nil {
			return err
		}
	} else {
		e.printFetched(what, r, out)
	}
	return fetchStatus(out)
}

// fetchStatus is 1 if the remote shows something that is not to be believed, 3 if other lanes were taken.
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
		return exit(exitPartial)
	}
	return exit(exitNo)
}

// unsound reports whether a lane is not as it should be on the remote.
func unsound(l sync.FetchedLane) bool {
	return slices.Contains([]string{"refused", "rewritten", "missing", "behind"}, l.Status)
}

func troubled(out sync.Fetched) bool { return slices.ContainsFunc(out.Lanes, unsound) }

func (e *Env) printFetched(what string, r refs.Remote, out sync.Fetched) {
	if what == "fetch" {
		e.printFetchLines(r, out)
	} else {
		e.printPulled(r, out)
	}
	for _, l := range out.Lanes {
		e.warnLane(r, l)
	}
	e.printHeeded(out)
	for _, d := range out.Devices {
		if !d.Trusted {
			e.note("new device %s (%s): its data is listed but unused until you trust it", d.Name, d.Fingerprint)
			e.hint("%s", shell("mem", "device", "trust", d.Name))
		}
	}
}

// printFetchLines prints a line for each lane that moved.
func (e *Env) printFetchLines(r refs.Remote, out sync.Fetched) {
	said := false
	for _, l := range out.Lanes {
		line := ""
		switch l.Status {
		case "new":
			line = fmt.Sprintf(" * %-22s", "[new lane]")
		case "updated":
			line = fmt.Sprintf("   %-22s", moved(l.Old, l.New))
		default:
			continue
		}
		if !said {
			e.did("From %s\n", e.safe(r.URL))
			said = true
		}
		e.did("%s  %s (%s)\n", line, e.safe(exactly(l.Name, l.Exact)), e.safe(l.By))
	}
	if !said && !troubled(out) {
		e.note("already up to date")
	}
}

// printPulled says what came from which device.
func (e *Env) printPulled(r refs.Remote, out sync.Fetched) {
	verb, said := "pulled", false
	if e.opt.dryRun {
		verb = "would pull"
	}
	for _, l := range out.Lanes {
		if l.Status != "new" && l.Status != "updated" {
			continue
		}
		said = true
		if l.Arrival.Gone > 0 {
			e.did("[%s] %s has forgotten %s\n", e.safe(l.Name), e.safe(l.By), count(l.Arrival.Gone, "record"))
			if l.Arrival.Records == 0 {
				continue
			}
		}
		e.did("[%s] %s %s from %s%s\n", e.safe(l.Name), verb, records(l), e.safe(l.By), e.safe(kindsText(l.Arrival.Kinds)))
	}
	if !said && !troubled(out) {
		e.note("already up to date with %s", r.Name)
	}
}

func records(l sync.FetchedLane) string {
	if l.Exact {
		return "exact bytes"
	}
	if l.Arrival.Commits == 0 {
		return "a lane"
	}
	return fmt.Sprintf("%d record%s", l.Arrival.Records, plural(l.Arrival.Records))
}

// kindsText says how many of what people know by name there are.
func kindsText(kinds map[string]int) string {
	var parts []string
	for _, k := range []string{"session", "version", "composition"} {
		if n := kinds[k]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s%s", n, cmp.Or(map[string]string{"session": "snapshot"}[k], k), plural(n)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// warnLane names what is wrong with a lane on a remote.
func (e *Env) warnLane(r refs.Remote, l sync.FetchedLane) {
	whose := "of device " + l.By
	if l.Own {
		whose = "of this device"
	}
	switch l.Status {
	case "refused":
		e.warn("%s, project %s: the lane %s was not taken: %s", r.Name, l.Name, whose, l.Why)
	case "rewritten":
		e.warn("%s, project %s: the lane %s was rewritten; what is here stays", r.Name, l.Name, whose)
	case "missing":
		e.warn("%s, project %s: the lane %s is gone; the remote was made anew, or somebody removed it", r.Name, l.Name, whose)
	case "behind":
		e.warn("%s, project %s: the lane %s was rolled back; what is here stays", r.Name, l.Name, whose)
	default:
		return
	}
	if l.Own {
		e.hint("%s", shell("mem", "push", r.Name))
	}
}

// runSync pulls, then pushes what was pushed before and the project of the directory.
func (e *Env) runSync(ctx context.Context, m *layers.Memory, r refs.Remote) error {
	if e.opt.json {
		return e.syncJSON(ctx, m, r)
	}
	out, err := e.runFetch(ctx, m, r)
	if err != nil {
		return travelError(err)
	}
	pulled := e.printFetch("pull", r, out)
	if r, err = m.Sync().Remote(r.Name); err != nil {
		return err
	}
	projects, err := e.projectsToSync(ctx, m, r)
	if err != nil {
		return err
	}
	if err := e.runPush(ctx, m, r, projects); err != nil {
		return err
	}
	return pulled
}

// syncJSON is runSync with one answer.
func (e *Env) syncJSON(ctx context.Context, m *layers.Memory, r refs.Remote) error {
	in, err := e.runFetch(ctx, m, r)
	if err != nil {
		return travelError(err)
	}
	if r, err = m.Sync().Remote(r.Name); err != nil {
		return err
	}
	projects, err := e.projectsToSync(ctx, m, r)
	if err != nil {
		return err
	}
	out, err := m.Sync().Push(ctx, sync.PushOptions{Remote: r, Projects: projects, DryRun: e.opt.dryRun, Consent: e.consentTo(projects)})
	if err != nil {
		return travelError(err)
	}
	a, refused, done := pushAnswerOf(r, out, e.opt.dryRun)
	if err := e.printJSON("sync", struct {
		Pull fetchAnswer `json:"pull"`
		Push pushAnswer  `json:"push"`
	}{fetchAnswerOf(r, in, e.opt.dryRun), a}); err != nil {
		return err
	}
	if err := pushStatus(refused, done); err != nil {
		return err
	}
	return fetchStatus(in)
}

// projectsToSync returns the projects that were pushed to the remote before, and that of the directory.
func (e *Env) projectsToSync(ctx context.Context, m *layers.Memory, r refs.Remote) ([]state.Project, error) {
	here, err := e.theProject(ctx, m)
	if err != nil {
		return nil, err
	}
	known, err := m.Trusted().Projects(ctx)
	if err != nil {
		return nil, err
	}
	var out []state.Project
	for _, p := range known {
		_, before := r.Projects[p.ID]
		if e.opt.project != "" {
			before = false
		}
		if before || p.ID == here.ID || e.opt.allProjects {
			out = append(out, p)
		}
	}
	return out, nil
}
