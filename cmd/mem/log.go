package main

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

type logOptions struct {
	oneline bool
	number  int
	since   string
	graph   bool
	stat    bool
	patch   bool
	search  string
	handed  bool
	undo    bool
	all     bool
}

// log is the command that lists what was done.
func (e *Env) log() *cli.Command {
	var o logOptions
	return &cli.Command{
		Name:      "log",
		Usage:     "list operations, newest first",
		ArgsUsage: "[<rev>]",
		Description: "Every change of the memory is one operation, a commit in its git repository. The captures of a session on one day are\n" +
			"one line; --all, --graph, --stat, --patch, -S and --json list each of them. With a session, version or composition it\n" +
			"lists the operations that created, changed or used it; with HEAD~3, those up to that one. -S finds when memory forgot\n" +
			"a text: the operations that added it to a session, version or composition, or removed it.",
		Flags: []*cli.Flag{
			cli.Bool(&o.oneline, "oneline", "print the start of the commit and what was done"),
			cli.Int(&o.number, "number,n", "print the newest `N` only"),
			cli.String(&o.since, "since", "print what was done after `TIME`, such as 2026-01-15, 3d or \"2 weeks ago\""),
			cli.Bool(&o.graph, "graph", "draw which operations used the results of which"),
			cli.Bool(&o.stat, "stat", "say in numbers what each operation brought"),
			cli.Bool(&o.patch, "patch,p", "print how versions and compositions differ from those before"),
			cli.Bool(&o.handed, "handed", "list what hooks handed over, to which session and when"),
			cli.Bool(&o.all, "all,a", "print each capture, not one line for a session and day"),
			cli.Bool(&o.undo, "undo", "list this device's operations and what undo and redo would do"),
			cli.String(&o.search, "S", "print the operations by which `TEXT` appeared or vanished"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 1); err != nil {
				return err
			}
			if o.number < 0 {
				return usagef("option --number cannot be %d: want a whole number from 0", o.number)
			}
			if c.IsSet("S") && strings.TrimSpace(o.search) == "" {
				return usagef("option -S wants a text to look for")
			}
			if o.undo {
				if e.operand(0) != "" {
					return withHint(usagef("mem log --undo takes no revision"), "mem log --undo")
				}
				return e.runOpLog(ctx, o.number)
			}
			if o.handed {
				return e.runHanded(ctx, o, e.operand(0))
			}
			return e.runLog(ctx, o, e.operand(0), c.IsSet("number"))
		},
	}
}

func (e *Env) runLog(ctx context.Context, o logOptions, rev string, limited bool) error {
	spendMemory()
	var since time.Time
	if o.since != "" {
		var err error
		if since, err = parseTime(o.since, e.Now()); err != nil {
			return usagef("option --since cannot be %q: %v", o.since, err)
		}
	}
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		fold := !o.all && !o.asks() && !e.opt.json
		n := 0
		if limited && since.IsZero() && o.search == "" && !fold {
			n = max(o.number, 1)
		}
		found, in, err := e.logEntries(ctx, m, sc, rev, n)
		if err != nil {
			return e.notTheProject(ctx, m, o, rev, err)
		}
		if !since.IsZero() {
			found = keep(found, func(en *refs.Entry) bool { return !en.Time.Before(since) })
		}
		if o.asks() {
			return e.logDetails(ctx, m, sc, o, rev, limited, slices.Collect(cloned(found)), in)
		}
		if fold {
			found = folded(found)
		}
		if limited {
			found = first(found, o.number)
		}
		strangers, err := e.strangers(ctx, m)
		if err != nil {
			return err
		}
		if e.opt.json {
			return e.logJSON(o, found, in, &details{}, strangers)
		}
		printed, err := e.printLog(o, found, in, strangers)
		if err == nil && !printed && (!limited || o.number > 0) {
			e.sayNothingLogged(sc, o, rev)
		}
		return err
	})
}

// logDetails prints entries with what the options ask for besides.
func (e *Env) logDetails(ctx context.Context, m *layers.Memory, sc state.Scope, o logOptions, rev string, limited bool, entries []refs.Entry, in logScope) error {
	d, err := e.look(ctx, m, o, entries, in)
	if err != nil {
		return err
	}
	if o.search != "" {
		entries = d.mentioned(entries)
	}
	if limited {
		entries = entries[:min(o.number, len(entries))]
	}
	if e.opt.json {
		strangers, err := e.strangers(ctx, m)
		if err != nil {
			return err
		}
		return e.logJSON(o, each(entries), in, d, strangers)
	}
	if len(entries) == 0 && (!limited || o.number > 0) {
		e.sayNothingLogged(sc, o, rev)
		return nil
	}
	if err := e.page("log"); err != nil {
		return err
	}
	return d.print(o, entries)
}

func (e *Env) sayNothingLogged(sc state.Scope, o logOptions, rev string) {
	if o.since != "" || o.search != "" || rev != "" || e.opt.allProjects {
		e.note("no operation is like that")
		return
	}
	e.note("nothing was done in project %s", sc.Project.Name)
	e.hint("see other projects with --all-projects")
}

// notTheProject adds to the error of mem log -p NAME that -p means --patch here, if NAME is a project.
func (e *Env) notTheProject(ctx context.Context, m *layers.Memory, o logOptions, rev string, err error) error {
	var missing *state.NotFoundError
	if !o.patch || !errors.As(err, &missing) {
		return err
	}
	var several *state.AmbiguousError
	if _, nope := e.projectNamed(ctx, m, rev); nope != nil && !errors.As(nope, &several) {
		return err
	}
	return withHint(&state.NotFoundError{What: missing.What, Name: missing.Name}, "-p of mem log is --patch, as in git; for the project: mem log --project "+rev)
}

// A logScope is what operations were asked for.
type logScope struct {
	names   map[refs.Project]string // of the projects
	session string                  // id, if only those about one session are
}

// logEntries returns the newest operations, n of them or all if that is 0.
func (e *Env) logEntries(ctx context.Context, m *layers.Memory, sc state.Scope, rev string, n int) (iter.Seq[*refs.Entry], logScope, error) {
	in := logScope{names: map[refs.Project]string{sc.Project.ID: sc.Project.Name}}
	if rev != "" {
		r, err := e.resolve(ctx, m, sc, rev)
		if err != nil {
			return nil, in, err
		}
		in.names[r.Project.ID] = r.Project.Name
		if r.Session != nil {
			in.session = r.Session.ID
		}
		entries, err := m.Trusted().LogOf(ctx, r)
		return each(entries), in, err
	}
	if !e.opt.allProjects {
		found, err := m.Ledger().Entries(ctx, sc.Project.ID, n)
		return found, in, err
	}
	projects, err := m.Trusted().Projects(ctx)
	if err != nil {
		return nil, in, err
	}
	for _, p := range projects {
		in.names[p.ID] = p.Name
	}
	found, err := m.Ledger().EntriesByTime(ctx, projects, n)
	return found, in, err
}

// printLog prints entries, a line each, and reports whether there were any.
func (e *Env) printLog(o logOptions, found iter.Seq[*refs.Entry], in logScope, strangers strangers) (printed bool, err error) {
	if e.Term.Stdout && !o.oneline {
		return e.logTable(slices.Collect(cloned(found)), in, strangers)
	}
	var b []byte
	for en := range found {
		if !printed {
			if err := e.page("log"); err != nil {
				return false, err
			}
			printed = true
		}
		if o.oneline {
			b = e.appendShort(b, en, strangers)
		} else {
			b = e.appendEntry(b, en, in, strangers)
		}
		if len(b) < logPiece {
			continue
		}
		if _, err := e.out.Write(b); err != nil {
			return true, err
		}
		b = b[:0]
	}
	_, err = e.out.Write(b)
	return printed, err
}

// logPiece is how many bytes of lines are printed at a time.
const logPiece = 16 << 10

func (e *Env) appendShort(b []byte, en *refs.Entry, strangers strangers) []byte {
	b = append(append(b, e.style().yellow(en.Commit[:7])...), ' ')
	return append(append(b, e.safe(en.Subject+strangers.note(en.Device))...), '\n')
}

// appendEntry appends the line of an entry as a table prints it for scripts.
func (e *Env) appendEntry(b []byte, en *refs.Entry, in logScope, strangers strangers) []byte {
	b = append(append(b, en.Commit...), '\t')
	b = append(appendTime(b, en.Time), '\t')
	b = append(append(b, sanitizeLine(trustCell(en.Name, strangers.of(en.Device)).full)...), '\t')
	if e.opt.allProjects {
		b = append(append(b, sanitizeLine(in.names[en.Project])...), '\t')
	}
	return append(append(b, sanitizeLine(en.Subject)...), '\n')
}

// logTable prints entries for people, and reports whether there are any.
func (e *Env) logTable(entries []refs.Entry, in logScope, strangers strangers) (printed bool, err error) {
	if len(entries) == 0 {
		return false, nil
	}
	if err := e.page("log"); err != nil {
		return false, err
	}
	columns := []column{{name: "commit"}, {name: "when"}, {name: "device"}}
	if e.opt.allProjects {
		columns = append(columns, column{name: "project", most: 16})
	}
	t := e.table(append(columns, column{name: "operation", shrinks: true})...)
	for _, en := range entries {
		row := []cell{{full: en.Commit, short: en.Commit[:7], paint: e.style().yellow}, e.timeCell(en.Time), trustCell(en.Name, strangers.of(en.Device))}
		if e.opt.allProjects {
			row = append(row, cell{full: in.names[en.Project]})
		}
		t.row(append(row, cell{full: en.Subject})...)
	}
	return true, t.flush()
}

// each yields the entries of a list.
func each(entries []refs.Entry) iter.Seq[*refs.Entry] {
	return func(yield func(*refs.Entry) bool) {
		for i := range entries {
			if !yield(&entries[i]) {
				return
			}
		}
	}
}

// cloned yields entries that stay valid.
func cloned(found iter.Seq[*refs.Entry]) iter.Seq[refs.Entry] {
	return func(yield func(refs.Entry) bool) {
		for en := range found {
			if !yield(copied(en)) {
				return
			}
		}
	}
}

func keep(found iter.Seq[*refs.Entry], want func(*refs.Entry) bool) iter.Seq[*refs.Entry] {
	return func(yield func(*refs.Entry) bool) {
		for en := range found {
			if want(en) && !yield(en) {
				return
			}
		}
	}
}

// first yields the first n entries.
func first(found iter.Seq[*refs.Entry], n int) iter.Seq[*refs.Entry] {
	return func(yield func(*refs.Entry) bool) {
		if n == 0 {
			return
		}
		i := 0
		for en := range found {
			if i++; !yield(en) || i == n {
				return
			}
		}
	}
}

// An operationAnswer is an operation as log prints it with --json.
type operationAnswer struct {
	Commit   string            `json:"commit"`
	Parent   string            `json:"parent,omitempty"`
	Project  string            `json:"project"`
	Device   string            `json:"device"`
	Name     string            `json:"device_name"`
	Trusted  bool              `json:"trusted"`
	Time     string            `json:"time"`
	Lamport  uint64            `json:"lamport"`
	Subject  string            `json:"subject"`
	Trailers map[string]string `json:"trailers"`
	Uses     []string          `json:"uses,omitempty"`    // commits, with --graph
	Changes  []logChange       `json:"changes,omitempty"` // with -S
	Stat     []string          `json:"stat,omitempty"`    // with --stat
}

// A logChange says that the text that was looked for came into something, or was gone from it.
type logChange struct {
	Name     string `json:"name"`
	Appeared bool   `json:"appeared"`
}

func (e *Env) logJSON(o logOptions, found iter.Seq[*refs.Entry], in logScope, d *details, strangers strangers) error {
	return printJSONList(e, "log", "operations", func(yield func(operationAnswer) bool) {
		for en := range found {
			if !yield(d.answer(o, en, in, strangers)) {
				return
			}
		}
	})
}

func (d *details) answer(o logOptions, en *refs.Entry, in logScope, strangers strangers) operationAnswer {
	a := operationAnswer{
		Commit: en.Commit, Parent: en.Parent, Project: in.names[en.Project], Device: en.Device, Name: en.Name, Trusted: strangers.of(en.Device) == "", Time: timeText(en.Time),
		Lamport: en.Lamport, Subject: en.Subject, Trailers: map[string]string{},
	}
	for _, t := range en.Trailers {
		if key, value, ok := strings.Cut(strings.TrimPrefix(t, "Mem-"), ": "); ok && key != "Lamport" {
			a.Trailers[key] = value
		}
	}
	for _, f := range d.mentions[en.Commit] {
		a.Changes = append(a.Changes, logChange{f.Name, f.Appeared})
	}
	if w := d.works[en.Commit]; w != nil && o.graph {
		a.Uses = w.Parents
	}
	if w := d.works[en.Commit]; w != nil && o.stat {
		a.Stat = statLines(w)
	}
	return a
}
