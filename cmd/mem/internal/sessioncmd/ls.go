package sessioncmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/flags"
	"github.com/memvcs/mem/cmd/mem/internal/memory"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/refs"
)

type lsOptions struct {
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

// Ls is the command that lists sessions.
func Ls(e *app.Env) *cli.Command {
	var o lsOptions
	return &cli.Command{
		Name:      "ls",
		Usage:     "list the sessions of the project, or the versions of a session",
		ArgsUsage: "[<session>]",
		Description: "The mark before a session is * for the newest session in memory (@), M for a file that\n" +
			"changed since it was added, ? for a file that is not in memory, D for a hidden session,\n" +
			"R for a session hidden by \"mem revoke\", ! for a session of an untrusted device. Token\n" +
			"counts are estimates.",
		Flags: []cli.Flag{
			flags.Parsed(&o.month, "month", "list the sessions of `MONTH` only, such as 2026-01", term.ParseMonth),
			flags.Bool(&o.untracked, "untracked,u", "list only sessions that are not in memory"),
			flags.Bool(&o.subagents, "subagents", "list the sessions of subagents too"),
			flags.Bool(&o.removed, "removed", "list removed sessions too"),
			flags.Bool(&o.all, "all,a", "list removed and hidden sessions and versions too"),
			flags.Choice(&o.sort, "sort", "sort by `WHAT`: when or tokens", "when", "tokens"),
			flags.Bool(&o.composed, "compositions", "list the compositions of the project instead"),
			flags.Bool(&o.one, "1", "print the ids alone"),
			flags.String(&o.format, "format", "print each session by a Go `TEMPLATE`, such as '{{.id}} {{.title}}'"),
		},
		Action: e.Action(0, 1, func(c *cli.Context) error {
			if session := e.Operand(0); session != "" {
				if o != (lsOptions{all: o.all}) {
					return app.WithHint(app.Usagef("mem ls %s lists versions: of the options, only --all applies", session),
						"mem ls -h")
				}
				return versioncmd.RunVersions(c.Context, e, session, versioncmd.VersionsOptions{All: o.all})
			}
			if o.composed {
				return runLsCompositions(c.Context, e, o)
			}
			return runLs(c.Context, e, o)
		}),
	}
}

// A listed is a session in a list, with its project.
type Listed struct {
	history.Item
	project   state.Project
	newest    bool
	untrusted string // the device that captured it, if it is not trusted
}

func runLs(ctx context.Context, e *app.Env, o lsOptions) error {
	return names.WithMemory(ctx, e, func(run names.Run) error {
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
		switch {
		case e.Opt.JSON:
			return lsJSON(e, run.Scope, items)
		case o.format != "":
			f, err := e.ParseFormat(o.format)
			for i := 0; err == nil && i < len(items); i++ {
				err = f.Print(sessionAnswerOf(items[i]))
			}
			return err
		case o.one:
			for _, it := range items {
				e.Printf("%s\n", e.Safe(it.name()))
			}
			return nil
		case len(items) == 0:
			sayNothingListed(e, run.Scope, len(all) > 0)
			return nil
		}
		if err := e.Page("ls"); err != nil {
			return err
		}
		return lsTable(e, o, items)
	})
}

// shows reports whether the options let a session into the list.
func (o lsOptions) shows(it Listed) bool {
	if o.untracked && it.Status != history.Untracked {
		return false
	}
	return o.month.IsZero() || !it.Last.Before(o.month) && it.Last.Before(o.month.AddDate(0, 1, 0))
}

// clientOptions adds to o where Claude Code's files are, and warns of those that cannot be read.
func clientOptions(e *app.Env, o capture.ListOptions) capture.ListOptions {
	var err error
	if o.Claude, err = e.ClaudeDir(); err != nil {
		e.Warn("%v: Claude Code's own files are not looked at", err)
	}
	if o.Unreadable == nil {
		o.Unreadable = func(err error) error {
			e.Warn("%v: Claude Code's sessions there are not listed", err)
			return nil
		}
	}
	return o
}

// list returns the sessions of the project, or with --all-projects of all, the newest first. Elsewhere are the
// untracked sessions of other projects.
func list(ctx context.Context, run names.Run, o capture.ListOptions) (all, elsewhere []Listed, err error) {
	memory.SpendMemory()
	o = clientOptions(run.Env, o)
	if all, err = listKnown(ctx, run, o); err != nil {
		return nil, nil, err
	}
	if elsewhere, err = untrackedBeside(ctx, run, o, all); err != nil {
		return nil, nil, err
	}
	here, elsewhere := splitElsewhere(run.Env, run.Scope, elsewhere)
	if all = append(all, here...); len(here) > 0 || run.Opt.AllProjects {
		slices.SortStableFunc(all, func(a, b Listed) int { return b.Last.Compare(a.Last) })
	}
	return all, elsewhere, nil
}

// untrackedBeside returns the untracked sessions of every project that are not among all.
func untrackedBeside(ctx context.Context, run names.Run, o capture.ListOptions, all []Listed) ([]Listed, error) {
	o.Unreadable = func(error) error { return nil } // the list of the project warns of what matters to it
	items, of, err := run.History().Untracked(ctx, o)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, it := range all {
		known[it.ID] = true
	}
	var out []Listed
	for i, it := range items {
		if !known[it.ID] {
			out = append(out, Listed{Item: it, project: of[i]})
		}
	}
	return out, nil
}

// splitElsewhere divides untracked sessions into those that the list is about and those of other projects.
func splitElsewhere(e *app.Env, sc state.Scope, items []Listed) (here, elsewhere []Listed) {
	for _, it := range items {
		if e.Opt.AllProjects || it.project.ID == sc.Project.ID {
			here = append(here, it)
			continue
		}
		elsewhere = append(elsewhere, it)
	}
	return here, elsewhere
}

// elsewhereText is how many sessions of how many other projects are not in memory.
func elsewhereText(items []Listed) string {
	projects := map[refs.Project]bool{}
	for _, it := range items {
		projects[it.project.ID] = true
	}
	verb := "are"
	if len(items) == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%s of %s %s not in memory", term.Count(len(items), "session"),
		term.Count(len(projects), "other project"), verb)
}

// listKnown lists the sessions of the projects that memory has.
func listKnown(ctx context.Context, run names.Run, o capture.ListOptions) ([]Listed, error) {
	strangers, err := names.Strangers(ctx, run.Memory)
	if err != nil {
		return nil, err
	}
	projects, err := run.ListedProjects(ctx)
	if err != nil {
		return nil, err
	}
	var all []Listed
	files := map[string]bool{} // that are not in memory; several projects may share their directory
	for _, p := range projects {
		if o.Dir = ""; p.ID == run.Project.ID {
			o.Dir = run.Dir
		}
		items, st, err := run.History().List(ctx, p, o)
		if err != nil {
			return nil, err
		}
		newest := ""
		if recent := st.Recent(); len(recent) > 0 {
			newest = recent[0].ID
		}
		for _, it := range items {
			if it.Status == history.Untracked && files[it.Path] {
				continue
			}
			files[it.Path] = it.Status == history.Untracked
			all = append(all, Listed{it, p, it.ID == newest, strangers.Of(it.Device)})
		}
	}
	if len(projects) > 1 {
		slices.SortStableFunc(all, func(a, b Listed) int { return b.Last.Compare(a.Last) })
	}
	return all, nil
}

func sayNothingListed(e *app.Env, sc state.Scope, some bool) {
	if some {
		e.Note("no session is like that")
		return
	}
	e.Note("no sessions of project %s", sc.Project.Name)
	e.Hint("capture all of Claude Code's sessions with \"mem import\", or see other projects with --all-projects")
}

// lsTable prints the list; for people months have headings, unless it is sorted by something else or
// ui.defaultView is list.
func lsTable(e *app.Env, o lsOptions, items []Listed) error {
	conf, err := e.Settings()
	if err != nil {
		return err
	}
	view, err := conf.String("ui.defaultView")
	if err != nil {
		return err
	}
	columns := []app.Column{{Name: ""}, {Name: "id"}, {Name: "when"}, {Name: "msgs", Right: true},
		{Name: "tokens", Right: true, Estimate: true}, {Name: "versions"}, {Name: "keepit", Right: true}}
	if e.Opt.AllProjects {
		columns = append(columns, app.Column{Name: "project", Most: 16, Tail: true})
	}
	t := e.Table(append(columns, app.Column{Name: "title", Shrinks: true})...)
	unique := uniquePrefixes(items)
	month, months := "", view == "timeline" && o.sort != "tokens" &&
		items[0].Last.Format("2006-01") != items[len(items)-1].Last.Format("2006-01")
	for i, it := range items {
		if name := it.Last.Format("January 2006"); months && name != month {
			t.Heading(name)
			month = name
		}
		row := []app.Cell{
			{Full: it.mark(), Short: it.shortMark(), Paint: e.Style().Green},
			it.idCell(unique[i]), e.TimeCell(it.Last), {Full: messagesText(it)},
			tokensCell(it.Tokens, it.Counted), {Full: labelsOf(it)}, {Full: fmt.Sprint(it.Markers)},
		}
		if e.Opt.AllProjects {
			row = append(row, app.Cell{Full: it.project.Name})
		}
		title := app.Cell{Full: it.titleText()}
		if it.Title == "" && it.Parent != "" {
			title.Short = "(subagent of " + term.ShortID(it.Parent) + ")"
		}
		t.Row(append(row, title)...)
	}
	return t.Flush()
}

// name is what names a session: its id, with the device behind it if that is not trusted.
func (it Listed) name() string {
	if it.Session == nil || it.Session.Guest == "" {
		return it.ID
	}
	return it.ID + "~" + it.Session.Guest[:8]
}

func (it Listed) idCell(unique int) app.Cell {
	c := app.IdCell(it.ID, unique)
	behind := strings.TrimPrefix(it.name(), it.ID)
	c.Full += behind
	c.Short += behind
	return c
}

// mark is the mark of a session for scripts.
func (it Listed) mark() string {
	mark := string(it.Status)
	if it.newest {
		mark += ",newest"
	}
	if it.untrusted != "" {
		mark += ",untrusted"
	}
	return mark
}

// titleText is the title of a session, and why it is hidden or not used.
func (it Listed) titleText() string {
	switch {
	case it.Status == history.Revoked:
		return it.Title + " (hidden: " + it.Session.Revoked + ")"
	case it.untrusted != "":
		return it.Title + " (device " + it.untrusted + " is not trusted)"
	}
	return it.Title
}

// shortMark is the mark of a session for people.
func (it Listed) shortMark() string {
	mark := map[history.Status]string{history.Changed: "M", history.Untracked: "?", history.Removed: "D",
		history.Revoked: "R"}[it.Status]
	if it.untrusted != "" {
		mark += "!"
	}
	if it.newest {
		return "*" + mark
	}
	return " " + mark
}

// messagesText is how many messages there are; those of a file that is not in memory have not been counted.
func messagesText(it Listed) string {
	if it.Status == history.Untracked {
		return "-"
	}
	return fmt.Sprint(it.Messages)
}

func labelsOf(it Listed) string {
	const most = 4
	var labels []string
	for _, v := range it.Versions {
		labels = append(labels, v.Name())
	}
	switch n := len(labels); {
	case n == 0:
		return "-"
	case n > most:
		labels = append([]string{fmt.Sprintf("(%d)", n)}, labels[n-most:]...)
	}
	return strings.Join(labels, " ")
}

// uniquePrefixes returns for each item how many letters of its id tell it from all others, 4 at least.
func uniquePrefixes(items []Listed) []int {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(items[a].ID, items[b].ID) })
	out := make([]int, len(items))
	for k, i := range order {
		out[i] = max(out[i], 4)
		if k == 0 {
			continue
		}
		before := order[k-1]
		n := 1 + term.Common(items[before].ID, items[i].ID)
		out[i], out[before] = max(out[i], min(n, len(items[i].ID))), max(out[before], min(n, len(items[before].ID)))
	}
	return out
}

// tokensCell is a number of tokens in a table, "?" if they have not been counted.
func tokensCell(n int, counted bool) app.Cell {
	if !counted {
		return app.Cell{Full: "?"}
	}
	return app.Cell{Full: fmt.Sprint(n), Short: tokensText(n, counted)}
}

// tokensText is a number of tokens for people, "?" if they have not been counted.
func tokensText(n int, counted bool) string {
	if !counted {
		return "?"
	}
	return "~" + tokens.Format(n)
}

// counted is a number of tokens for programs, nil if they have not been counted.
func counted(n int, ok bool) *int {
	if !ok {
		return nil
	}
	return &n
}

// A sessionAnswer is a session as lists print it with --json.
type sessionAnswer struct {
	ID string `json:"id"`
	// what names it, if that is not its id: the id and a device that is not trusted
	Name     string   `json:"name,omitempty"`
	Project  string   `json:"project"`
	Status   string   `json:"status"`
	Newest   bool     `json:"newest"`
	Title    string   `json:"title"`
	Last     string   `json:"last"`
	Messages *int     `json:"messages"` // null for a file that is not in memory
	Tokens   *int     `json:"tokens"`   // null if they have not been counted
	Bytes    int64    `json:"bytes"`
	Extra    int64    `json:"extra_bytes"`
	Versions []string `json:"versions"`
	Markers  int      `json:"markers"`
	Parent   string   `json:"parent,omitempty"`
	Path     string   `json:"path,omitempty"`
	Revoked  string   `json:"revoked,omitempty"`   // why it is hidden
	Stranger string   `json:"untrusted,omitempty"` // the device that captured it, if it is not trusted
}

func sessionAnswerOf(it Listed) sessionAnswer {
	a := sessionAnswer{
		ID: it.ID, Project: it.project.Name, Status: string(it.Status), Newest: it.newest, Title: it.Title,
		Last:   term.TimeText(it.Last),
		Tokens: counted(it.Tokens, it.Counted), Bytes: it.Bytes, Extra: it.Extra, Versions: []string{}, Markers: it.Markers,
		Parent: it.Parent, Path: it.Path,
	}
	if a.Stranger = it.untrusted; it.name() != it.ID {
		a.Name = it.name()
	}
	if it.Session != nil {
		a.Revoked = it.Session.Revoked
	}
	if it.Status != history.Untracked {
		a.Messages = &it.Messages
	}
	for _, v := range it.Versions {
		a.Versions = append(a.Versions, v.Name())
	}
	return a
}

func lsJSON(e *app.Env, sc state.Scope, items []Listed) error {
	answer := struct {
		Project  string          `json:"project"`
		Sessions []sessionAnswer `json:"sessions"`
	}{sc.Project.Name, []sessionAnswer{}}
	for _, it := range items {
		answer.Sessions = append(answer.Sessions, sessionAnswerOf(it))
	}
	return e.PrintJSON("ls", answer)
}
