package sessioncmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/hookcmd"
	"github.com/memvcs/mem/cmd/mem/internal/knowledgecmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/notes"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
)

type statusOptions struct {
	short     bool
	porcelain string
	zero      bool
	exitCode  bool
	layers    bool
}

// Status returns mem status.
func Status(e *app.Env) *cli.Command {
	var o statusOptions
	return &cli.Command{
		Name:  "status",
		Usage: "show new and changed sessions",
		Flags: []cli.Flag{
			app.BoolFlag(&o.short, "short,s", "print one line per session"),
			app.ChoiceFlag(&o.porcelain, "porcelain", "print lines for scripts, in a `FORM` that will not change: v1",
				"v1").Optional("v1"),
			app.BoolFlag(&o.zero, "z", "end the lines of --porcelain with a NUL byte"),
			app.BoolFlag(&o.exitCode, "exit-code", "exit with 1 if there is something to add"),
			app.BoolFlag(&o.layers, "layers", "show the progress of facts, concepts and rules instead"),
		},
		Action: e.Action(0, 0, func(c *cli.Context) error {
			if o.zero && o.porcelain == "" {
				return app.WithHint(app.Usagef("option -z goes with --porcelain"), "mem status --porcelain -z")
			}
			if o.layers {
				if o != (statusOptions{layers: true}) {
					return app.WithHint(app.Usagef("option --layers goes with no other option of mem status"), "mem status --layers")
				}
				return app.WithMemory(c.Context, e, func(run app.Run) error { return knowledgecmd.RunLayersStatus(c.Context, run) })
			}
			return runStatus(c.Context, e, o)
		}),
	}
}

// A StatusReport is the result of mem status.
type StatusReport struct {
	project            state.Project
	Stored             int
	Subagents          int // sessions of subagents in memory, which Stored does not count
	Newest             *Listed
	Changed, Untracked []Listed
	Link               *app.LinkHint       // if nothing is known of this directory; or nil
	Elsewhere          []Listed            // untracked sessions of other projects
	Ignored            []string            // files with the name of a session file that are none
	progress           *knowledge.Progress // nil for several projects, or if nothing is in memory
	revoked            int                 // sources, of this project
	Parted             []app.Parted        // sessions that went on differently on several devices
	Waiting            []app.Branch        // sessions that wait for another device
	Notes              []notes.Change      // of Claude, on disk and not in memory
}

func (r StatusReport) clean() bool { return len(r.Changed)+len(r.Untracked)+len(r.Notes) == 0 }

func runStatus(ctx context.Context, e *app.Env, o statusOptions) error {
	return app.WithMemory(ctx, e, func(run app.Run) error {
		r, err := SessionsReport(ctx, run)
		if err != nil {
			return err
		}
		if !e.Opt.AllProjects && r.Stored > 0 && o.porcelain == "" {
			d, err := knowledge.ReadProgress(ctx, run.DB, run.Project.ID)
			if err != nil {
				return err
			}
			r.progress = &d
		}
		if list, err := trust.RevocationsOf(ctx, run.DB, run.Project.ID); err != nil {
			return err
		} else if !e.Opt.AllProjects {
			r.revoked = len(list)
			if r.Parted, err = app.PartedSessions(ctx, run.DB, run.Project.ID, ""); err != nil {
				return err
			}
			if r.Waiting, err = app.WaitingSessions(ctx, run.DB, run.Project.ID); err != nil {
				return err
			}
		}
		if err := printStatus(e, o, r); err != nil {
			return err
		}
		if o.exitCode && !r.clean() {
			err = app.Exit(app.ExitNo)
		}
		if o.porcelain != "" {
			return err
		}
		return run.Listed(ctx, r.Stored, err)
	})
}

// SessionsReport returns the part of mem status about sessions.
func SessionsReport(ctx context.Context, run app.Run) (StatusReport, error) {
	r := StatusReport{project: run.Project}
	items, elsewhere, err := list(ctx, run, capture.ListOptions{Ignored: func(p state.Project, path string) {
		if run.Opt.AllProjects || p.ID == run.Project.ID {
			r.Ignored = append(r.Ignored, path)
		}
	}})
	if err != nil {
		return r, err
	}
	r.Elsewhere = elsewhere
	for i, it := range items {
		switch it.Status {
		case sessions.Untracked:
			r.Untracked = append(r.Untracked, it)
			continue
		case sessions.Changed:
			r.Changed = append(r.Changed, it)
		}
		r.Stored++
		if it.newest && r.Newest == nil {
			r.Newest = &items[i]
		}
	}
	if r.Subagents, _, err = unlisted(ctx, run); err != nil {
		return r, err
	}
	if r.Stored > 0 && !run.Opt.AllProjects {
		if r.Notes, err = changedNotes(ctx, run); err != nil {
			return r, err
		}
	}
	if r.Stored == 0 && len(r.Untracked) == 0 {
		if h, ok, err := app.Unlinked(ctx, run); err != nil {
			return r, err
		} else if ok {
			r.Link = &h
		}
	}
	return r, nil
}

// changedNotes returns the notes of Claude on disk that are not in memory.
func changedNotes(ctx context.Context, run app.Run) ([]notes.Change, error) {
	client, err := knowledgecmd.NotesClient(run.Env)
	if err != nil || !client.Changed(run.Refs.Dir(), run.Dir) {
		return nil, err
	}
	if here, _, err := projects.Locate(ctx, run.DB, run.Dir); err != nil || here.ID != run.Project.ID {
		return nil, err
	}
	c, err := notes.CaptureAll(ctx, run.DB, run.Project, client, run.Dir, notes.Options{DryRun: true})
	return c.Changes, err
}

// unlisted counts the sessions of the listed projects that lists omit: those of subagents, and those that the user hid.
func unlisted(ctx context.Context, run app.Run) (subagents, hidden int, err error) {
	projects, err := run.ListedProjects(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, p := range projects {
		st, err := trust.Outline(ctx, run.DB, p.ID)
		if err != nil {
			return 0, 0, err
		}
		for _, s := range st.Sessions {
			switch {
			case s.Parent() != "" && s.Shown():
				subagents++
			case s.Parent() == "" && s.Deleted:
				hidden++
			}
		}
	}
	return subagents, hidden, nil
}

func printStatus(e *app.Env, o statusOptions, r StatusReport) error {
	switch {
	case e.Opt.JSON:
		return statusJSON(e, r)
	case o.porcelain != "":
		end := cmp.Or(app.If(o.zero, "\x00"), "\n")
		for _, it := range r.lines() {
			e.Printf("%s %s%s", code(it.Status), it.ID, end)
		}
	case o.short:
		for _, it := range r.lines() {
			e.Printf("%s %s\n", e.Style().Red(code(it.Status)), e.Safe(app.SessionID(e, it.ID)))
		}
		if r.progress != nil && r.progress.Distilled > 0 { // only for users who distil
			for _, id := range r.progress.L2 {
				e.Printf("%s %s\n", e.Style().Yellow("L2"), e.Safe(app.SessionID(e, id)))
			}
		}
	default:
		longStatus(e, r)
	}
	return nil
}

func (r StatusReport) lines() []Listed {
	return append(append([]Listed{}, r.Changed...), r.Untracked...)
}

// code returns the status code of a session, as in git status --short.
func code(s sessions.Status) string { return cmp.Or(app.If(s == sessions.Untracked, "??"), " M") }

func longStatus(e *app.Env, r StatusReport) {
	name := "project " + r.project.Name
	if e.Opt.AllProjects {
		name = "all projects"
	}
	head := fmt.Sprintf("On %s, %s in memory", e.Safe(name), term.Sessions(r.Stored, r.Subagents))
	if n := r.Newest; n != nil {
		newest := fmt.Sprintf("newest %s (%s, %s tokens)", e.Safe(term.ShortID(n.ID)),
			term.Count(n.Messages, "message"), tokensText(n.Tokens, n.Counted))
		between := ", "
		if w := e.Width(); w > 0 && app.Columns(head+between+newest) > w {
			between = ",\n"
		}
		head += between + newest
	}
	e.Printf("%s\n", head)
	switch {
	case r.clean() && len(r.Elsewhere) > 0:
		e.Printf("no new sessions in this project\n")
	case r.clean():
		e.Printf("nothing to add, memory is up to date\n")
	}
	statusPart(e, "Sessions changed since they were added:", `use "mem import"`, "mem status --short", r.Changed, changeText)
	statusPart(e, "Untracked sessions:", `use "mem import"; "mem add <session>" for one`, "mem ls -u", r.Untracked, func(it Listed) string {
		about := fmt.Sprintf("%s, %s", app.BytesText(it.Bytes), app.Ago(e.Now(), it.Last))
		if it.OtherOf != "" {
			about += fmt.Sprintf(", not %s: its file has other turns", term.ShortID(it.OtherOf))
		}
		return about
	})
	if len(r.Notes) > 0 {
		e.Printf("\nNotes of Claude changed since they were captured:  (use \"mem import\")\n")
		for _, c := range r.Notes {
			e.Printf("  %s\n", e.Safe(knowledgecmd.PendingText(c)))
		}
	}
	if h := r.Link; h != nil {
		e.Printf("\nI%s  (use \"%s\")\n", e.Safe(h.Why[1:]), e.Safe(h.Command))
	}
	if len(r.Elsewhere) > 0 {
		e.Printf("\n%s  (use \"mem import\"; \"mem status --all-projects\" lists them)\n", elsewhereText(r.Elsewhere))
	}
	if len(r.Ignored) > 0 && e.Opt.Verbose {
		e.Printf("\nIgnored, no session files:\n")
		slices.Sort(r.Ignored)
		for _, path := range r.Ignored {
			e.Printf("    %s\n", e.Safe(path))
		}
	}
	for i, line := range append(app.PartedLines(r.Parted), app.WaitingLines(r.Waiting)...) {
		if i == 0 {
			e.Printf("\n")
		}
		e.Printf("%s\n", e.Safe(line))
	}
	if r.revoked > 0 {
		e.Printf("\n%s revoked: its data is hidden  (use \"mem revoke\")\n", term.Count(r.revoked, "source"))
	}
	e.Printf("\nHooks    %s\n", hooksLine(e))
	if r.progress == nil {
		return
	}
	if d := r.progress; d.Distilled > 0 { // only for users who distil
		e.Printf("Facts    %s, %s without  (use \"mem status --layers\")\n", term.Count(d.Facts, "fact"),
			term.Count(len(d.L2), "session"))
	}
}

// changeText returns the growth of a session file since it was added, or since its newest version.
func changeText(it Listed) string {
	s := "+" + app.BytesText(it.Extra)
	if it.Extra < 0 {
		s = "-" + app.BytesText(-it.Extra) + ", rewritten"
	}
	if n := len(it.Versions); n > 0 {
		return s + " since " + it.Versions[n-1].Label
	}
	return s
}

// statusPart prints a heading and the newest ten of the sessions under it, in columns. The command all lists them.
func statusPart(e *app.Env, heading, use, all string, items []Listed, about func(Listed) string) {
	if len(items) == 0 {
		return
	}
	e.Printf("\n%s  (%s)\n", heading, use)
	const most = 10
	more := len(items) - most
	items = items[:min(most, len(items))]
	idWidth, aboutWidth := 0, 0
	for _, it := range items {
		idWidth, aboutWidth = max(idWidth, len(term.ShortID(it.ID))), max(aboutWidth, len(about(it)))
	}
	for _, it := range items {
		id := fmt.Sprintf("%-*s", idWidth, term.ShortID(it.ID))
		e.Printf("    %s  %-*s", e.Style().Red(term.SanitizeLine(id)), aboutWidth, about(it))
		title := "(no request)"
		if it.Title != "" {
			title = term.Quoted(it.Title)
		}
		if width := e.Width() - idWidth - aboutWidth - len("      ") - len("  "); width > 0 {
			title = app.Cut(title, width)
		}
		e.Printf("  %s\n", title)
	}
	if more > 0 {
		e.Printf("    and %d more  (use \"%s\")\n", more, all)
	}
}

func statusJSON(e *app.Env, r StatusReport) error {
	var newest string
	var messages *int
	var progress *view.Progress
	if r.Newest != nil {
		newest, messages = r.Newest.ID, &r.Newest.Messages
	}
	if d := r.progress; d != nil {
		layers := view.ProgressOf(*d)
		progress = &layers
	}
	return e.PrintJSON("status", nil, "project", r.project.Name, "stored", r.Stored, "subagents", r.Subagents,
		"clean", r.clean(), "newest,omitempty", newest, "newestMessages,omitempty", messages, "changed", app.Each(r.Changed, Listed.view),
		"untracked", app.Each(r.Untracked, Listed.view), "untrackedElsewhere,omitempty", len(r.Elsewhere),
		"parted,omitempty", r.Parted, "waiting,omitempty", r.Waiting, "revokedSources,omitempty", r.revoked, "layers,omitempty", progress,
		"changedNotes,omitempty", app.Each(r.Notes, func(c notes.Change) string { return c.File }))
}

// hooksLine returns the state of the hooks in one line.
func hooksLine(e *app.Env) string {
	r, _ := hookcmd.Judge(e, "") // without a home there are no settings
	p, scopes := r.Plugin, strings.Join(r.Scopes(), ", ")
	var wrong []string
	for _, f := range r.Files {
		if f.Problem != "" {
			wrong = append(wrong, f.Scope+": "+f.State)
		}
	}
	switch {
	case p.Twice(r.Scopes()):
		return fmt.Sprintf("installed (%s), and by the plugin %s: each runs twice  (use \"mem doctor\")", scopes, e.Safe(p.ID))
	case p != nil && p.Off != "":
		return fmt.Sprintf("by the plugin %s: disabled  (use \"mem doctor\")", e.Safe(p.ID))
	case p != nil:
		return fmt.Sprintf("by the plugin %s (%s)", e.Safe(p.ID), p.Scope)
	case len(wrong) > 0:
		return strings.Join(wrong, ", ") + "  (use \"mem doctor\")"
	case scopes != "":
		return "installed (" + scopes + ")"
	}
	return "none  (use \"mem hooks install\")"
}
