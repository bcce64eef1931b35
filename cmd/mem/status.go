package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	capturing "github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/state"
)

type statusOptions struct {
	short     bool
	porcelain string
	zero      bool
	exitCode  bool
	layers    bool
}

// status is the command that says what could be added.
func (e *Env) status() *cli.Command {
	var o statusOptions
	return &cli.Command{
		Name:  "status",
		Usage: "show new and changed sessions",
		Flags: []*cli.Flag{
			cli.Bool(&o.short, "short,s", "print a line a session"),
			cli.Choice(&o.porcelain, "porcelain", "print lines for scripts, in a `FORM` that will not change: v1", "v1").Optional("v1"),
			cli.Bool(&o.zero, "z", "end the lines of --porcelain with a NUL byte"),
			cli.Bool(&o.exitCode, "exit-code", "exit with 1 if there is something to add"),
			cli.Bool(&o.layers, "layers", "show the progress of facts, concepts and rules instead"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 0); err != nil {
				return err
			}
			if o.zero && o.porcelain == "" {
				return withHint(usagef("option -z goes with --porcelain"), "mem status --porcelain -z")
			}
			if o.layers {
				if o != (statusOptions{layers: true}) {
					return withHint(usagef("option --layers goes with no other option of mem status"), "mem status --layers")
				}
				return e.runLayersStatus(ctx)
			}
			return e.runStatus(ctx, o)
		},
	}
}

// A statusReport is what status found.
type statusReport struct {
	project            state.Project
	stored             int
	newest             *listed
	changed, untracked []listed
	elsewhere          []listed        // untracked sessions of other projects
	debt               *knowledge.Debt // nil if it is about several projects, or nothing is in memory
	untrusted          map[string]int  // sessions of devices that are not trusted, by name
	revoked            int             // sources, of this project
}

func (r statusReport) clean() bool { return len(r.changed)+len(r.untracked) == 0 }

func (e *Env) runStatus(ctx context.Context, o statusOptions) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		r, err := e.sessionsReport(ctx, m, sc)
		if err != nil {
			return err
		}
		if !e.opt.allProjects && r.stored > 0 && o.porcelain == "" {
			d, err := m.Knowledge().Debt(ctx, sc.Project.ID)
			if err != nil {
				return err
			}
			r.debt = &d
		}
		if list, err := m.Revocation().Revocations(ctx, sc.Project.ID); err != nil {
			return err
		} else if !e.opt.allProjects {
			for _, l := range list {
				if l.InForce {
					r.revoked++
				}
			}
		}
		if err := e.printStatus(o, r); err != nil {
			return err
		}
		if o.exitCode && !r.clean() {
			return exit(exitNo)
		}
		return nil
	})
}

// sessionsReport is what status says of the sessions.
func (e *Env) sessionsReport(ctx context.Context, m *layers.Memory, sc state.Scope) (statusReport, error) {
	r := statusReport{project: sc.Project, untrusted: map[string]int{}}
	items, elsewhere, err := e.list(ctx, m, sc, capturing.ListOptions{})
	if err != nil {
		return r, err
	}
	r.elsewhere = elsewhere
	for i, it := range items {
		switch it.Status {
		case history.Untracked:
			r.untracked = append(r.untracked, it)
			continue
		case history.Changed:
			r.changed = append(r.changed, it)
		}
		r.stored++
		if it.untrusted != "" {
			r.untrusted[it.untrusted]++
		}
		if it.newest && r.newest == nil {
			r.newest = &items[i]
		}
	}
	return r, nil
}

func (e *Env) printStatus(o statusOptions, r statusReport) error {
	switch {
	case e.opt.json:
		return e.statusJSON(r)
	case o.porcelain != "":
		end := "\n"
		if o.zero {
			end = "\x00"
		}
		for _, it := range r.lines() {
			e.printf("%s %s%s", code(it.Status), it.ID, end)
		}
	case o.short:
		for _, it := range r.lines() {
			e.printf("%s %s\n", e.style().red(code(it.Status)), e.safe(shortID(it.ID)))
		}
		if r.debt != nil && r.debt.Distilled > 0 { // who never distils need not be told
			for _, id := range r.debt.L2 {
				e.printf("%s %s\n", e.style().yellow("L2"), e.safe(shortID(id)))
			}
		}
	default:
		e.longStatus(r)
	}
	return nil
}

func (r statusReport) lines() []listed {
	return append(append([]listed{}, r.changed...), r.untracked...)
}

// code is the mark of a session in the short forms, as git's.
func code(s history.Status) string {
	if s == history.Untracked {
		return "??"
	}
	return " M"
}

func (e *Env) longStatus(r statusReport) {
	name := "project " + r.project.Name
	if e.opt.allProjects {
		name = "all projects"
	}
	e.printf("On %s, %d session%s in memory", e.safe(name), r.stored, plural(r.stored))
	if n := r.newest; n != nil {
		e.printf(", newest %s (%s, %s tokens)", e.safe(shortID(n.ID)), count(n.Messages, "message"), tokensText(n.Tokens, n.Counted))
	}
	e.printf("\n")
	switch {
	case r.clean() && len(r.elsewhere) > 0:
		e.printf("no new sessions in this project\n")
	case r.clean():
		e.printf("nothing to remember, memory is up to date\n")
	}
	e.statusPart("Sessions changed since they were added:", `use "mem add -u"`, r.changed, func(it listed) string { return changeText(it) })
	e.statusPart("Untracked sessions:", `use "mem add <session>" or "mem add -A"`, r.untracked, func(it listed) string {
		return fmt.Sprintf("%s, %s", bytesText(it.Bytes), ago(e.Now(), it.Last))
	})
	if len(r.elsewhere) > 0 {
		e.printf("\n%s  (use \"mem import\" or \"mem status --all-projects\")\n", elsewhereText(r.elsewhere))
	}
	for _, name := range slices.Sorted(maps.Keys(r.untrusted)) {
		e.printf("\n%s of device %s, which is not trusted: not used  (use \"%s\")\n", count(r.untrusted[name], "session"), e.safe(name), e.safe(shell("mem", "device", "trust", name)))
	}
	if r.revoked > 0 {
		e.printf("\n%s revoked: what came from there is hidden  (use \"mem revoke\")\n", count(r.revoked, "source"))
	}
	if r.debt != nil {
		e.printf("\nLayers   %s\n", layersLine(*r.debt, e.Now()))
		e.printf("Hooks    %s\n", e.hooksLine())
	}
}

// layersLine says what each layer lacks: "L1 done   L2 2 sessions pending   L3 done   L4 reflected 3 days ago".
func layersLine(d knowledge.Debt, now time.Time) string {
	pending := func(n int, what string) string {
		if n == 0 {
			return "done"
		}
		return count(n, what) + " pending"
	}
	l4 := "never reflected"
	if !d.Reflected.IsZero() {
		l4 = "reflected " + ago(now, d.Reflected)
	}
	if d.L4 {
		l4 += ", facts are newer"
	}
	l3 := pending(d.L3, "exchange")
	if d.Exchanges == 0 {
		l3, l4 = "no exchanges yet", "no facts yet"
	}
	l2 := pending(len(d.L2), "session")
	if len(d.L2) == 0 && d.Distilled == 0 {
		l2 = "too little said yet"
	}
	return fmt.Sprintf("L1 %s   L2 %s   L3 %s   L4 %s", pending(d.L1, "session"), l2, l3, l4)
}

// changeText says how the file of a session changed since what was made of it last.
func changeText(it listed) string {
	s := "+" + bytesText(it.Extra)
	if it.Extra < 0 {
		s = "-" + bytesText(-it.Extra) + ", rewritten"
	}
	if n := len(it.Versions); n > 0 {
		return s + " since " + it.Versions[n-1].Label
	}
	return s
}

// statusPart prints a heading and the sessions under it, in columns.
func (e *Env) statusPart(heading, use string, items []listed, about func(listed) string) {
	if len(items) == 0 {
		return
	}
	e.printf("\n%s  (%s)\n", heading, use)
	idWidth, aboutWidth := 0, 0
	for _, it := range items {
		idWidth, aboutWidth = max(idWidth, len(shortID(it.ID))), max(aboutWidth, len(about(it)))
	}
	for _, it := range items {
		id := fmt.Sprintf("%-*s", idWidth, shortID(it.ID))
		e.printf("    %s  %-*s", e.style().red(sanitizeLine(id)), aboutWidth, about(it))
		if it.Title != "" {
			e.printf("  %s", quoted(it.Title))
		}
		e.printf("\n")
	}
}

func (e *Env) statusJSON(r statusReport) error {
	answer := struct {
		Project   string          `json:"project"`
		Stored    int             `json:"stored"`
		Clean     bool            `json:"clean"`
		Newest    string          `json:"newest,omitempty"`
		Changed   []sessionAnswer `json:"changed"`
		Untracked []sessionAnswer `json:"untracked"`
		Elsewhere int             `json:"untracked_elsewhere,omitempty"` // untracked sessions of other projects
		Strangers map[string]int  `json:"untrusted_sessions,omitempty"`  // by device
		Revoked   int             `json:"revoked_sources,omitempty"`
		Layers    *layersAnswer   `json:"layers,omitempty"`
	}{Elsewhere: len(r.elsewhere), Strangers: r.untrusted, Revoked: r.revoked, Project: r.project.Name, Stored: r.stored, Clean: r.clean(), Changed: []sessionAnswer{}, Untracked: []sessionAnswer{}}
	if r.newest != nil {
		answer.Newest = r.newest.ID
	}
	for _, it := range r.changed {
		answer.Changed = append(answer.Changed, sessionAnswerOf(it))
	}
	for _, it := range r.untracked {
		answer.Untracked = append(answer.Untracked, sessionAnswerOf(it))
	}
	if d := r.debt; d != nil {
		answer.Layers = &layersAnswer{d.L1, append([]string{}, d.L2...), d.Facts, d.Exchanges, d.L3, d.L4, timeText(d.Reflected)}
	}
	return e.printJSON("status", answer)
}

// A layersAnswer is what the layers lack as status --json prints it.
type layersAnswer struct {
	L1        int      `json:"l1_pending"` // sessions
	L2        []string `json:"l2_pending"` // sessions
	Facts     int      `json:"facts"`
	Exchanges int      `json:"exchanges"`
	L3        int      `json:"l3_pending"` // exchanges
	L4        bool     `json:"l4_pending"` // facts are newer than the last reflection
	Reflected string   `json:"reflected,omitempty"`
}

// hooksSeen is where hooks were found.
type hooksSeen struct {
	where, wrong []string // scopes
	plugin       *hooksPlugin
}

// any reports whether sessions are captured automatically, or should be: "mem doctor" says what is wrong then.
func (r hooksSeen) any() bool { return len(r.where)+len(r.wrong) > 0 || r.plugin != nil }

func (e *Env) hooksFound() hooksSeen {
	self, err := e.Executable()
	if err != nil {
		self = "" // gone while it runs: then the hooks run another program
	}
	r := hooksSeen{plugin: e.plugin()}
	for _, scope := range hookScopes() {
		f, err := e.settingsOf(scope)
		if err != nil {
			continue // without a home there are no settings
		}
		switch in := hooksIn(scope, f, self); in.State {
		case "none":
		case "installed":
			r.where = append(r.where, scope)
		default:
			r.wrong = append(r.wrong, scope+": "+in.State)
		}
	}
	return r
}

// hooksLine says whether sessions are captured automatically.
func (e *Env) hooksLine() string {
	r := e.hooksFound()
	p := r.plugin
	switch {
	case p.twice(r.where):
		return fmt.Sprintf("installed (%s), and by the plugin %s: each runs twice  (use \"mem doctor\")", strings.Join(r.where, ", "), e.safe(p.ID))
	case p != nil && p.off != "":
		return fmt.Sprintf("by the plugin %s: disabled  (use \"mem doctor\")", e.safe(p.ID))
	case p != nil:
		return fmt.Sprintf("by the plugin %s (%s)", e.safe(p.ID), p.Scope)
	case len(r.wrong) > 0:
		return strings.Join(r.wrong, ", ") + "  (use \"mem doctor\")"
	case len(r.where) > 0:
		return "installed (" + strings.Join(r.where, ", ") + ")"
	}
	return "none  (use \"mem hooks install\")"
}
