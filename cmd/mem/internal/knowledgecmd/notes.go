package knowledgecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/forgetcmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/notes"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
)

// Notes returns mem notes.
func Notes(e *app.Env) *cli.Command {
	var all bool
	action := func(least, most int, f func(context.Context, *list) error) cli.ActionFunc {
		return app.Action(e, least, most, func(ctx context.Context, run app.Run) error {
			l, err := newList(ctx, run)
			if err != nil {
				return err
			}
			return f(ctx, l)
		})
	}
	return &cli.Command{
		Name:  "notes",
		Usage: "list, compare and restore Claude's own notes",
		Description: "Notes are what Claude Code writes for itself: its auto memory of the project, the plans\n" +
			"of its sessions and the memory of its subagents. It rewrites these files without asking.\n" +
			"Hooks, \"mem add\" and \"mem import\" capture each changed file. A file is named by the end\n" +
			"of its name, and FILE@{n} is its n-th last state. Notes are Claude's words, never yours.",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the notes with their last change", Action: action(0, 0, runList)},
			{Name: "log", Usage: "list the states of notes", ArgsUsage: "[<file>]", Action: action(0, 1, runLog)},
			{Name: "show", Usage: "print a state of a note", ArgsUsage: "<file>[@{<n>}]",
				Action: action(1, 1, func(_ context.Context, l *list) error { return runShow(l, e.Operand(0)) })},
			{Name: "diff", Usage: "show what changed in notes", ArgsUsage: "[<file>[@{<n>}] [@{<n>}]]",
				Description: "Of a file, shows what the file on disk has and memory has not, or else its last change,\n" +
					"or the difference between the states of two machines that both changed it. With one state\n" +
					"it is compared with the newest one, with two states the first with the second. Without a\n" +
					"file, shows what is on disk and not in memory.",
				Action: action(0, 2, runDiff)},
			{Name: "restore", Usage: "write a state of a note to Claude's directory", ArgsUsage: "<file>[@{<n>}]",
				Description: "The file on disk is captured before it is replaced, and \"mem undo\" brings it back.\n" +
					"@{n} is the state that \"mem notes log\" lists before that; without it, the newest. With --all every note that is missing or older here is written, for example after \"mem pull\"\n" +
					"on another machine. A note that two machines changed is left alone: name its state.",
				Flags: []cli.Flag{app.BoolFlag(&all, "all", "restore the newest state of every note")},
				Action: action(0, 1, func(ctx context.Context, l *list) error {
					if all == (e.Operand(0) != "") {
						return app.WithHint(app.Usagef("mem notes restore requires a file or --all"), "mem notes")
					}
					return runRestore(ctx, l, e.Operand(0))
				})},
			{Name: "forget", Usage: "delete states of a note permanently", ArgsUsage: "<file>[@{<n>}]",
				Description: "Without @{n}, all states of the file. The file on disk stays; its present text is not\n" +
					"captured again.",
				Action: action(1, 1, runForget)},
		},
	}
}

// A list is the notes of a project.
type list struct {
	app.Run
	client  notes.Client
	here    bool // the working directory is of the project
	files   []*notes.File
	devices map[string]string // names of other devices
	titles  map[string]string // of sessions
}

// NotesClient returns where Claude Code keeps its files.
func NotesClient(e *app.Env) (notes.Client, error) {
	dir, err := e.ClaudeDir()
	return notes.Client{Dir: dir, Getenv: e.Getenv}, err
}

func newList(ctx context.Context, run app.Run) (*list, error) {
	l := &list{Run: run, devices: map[string]string{}, titles: map[string]string{}}
	var err error
	if l.client, err = NotesClient(run.Env); err != nil {
		return nil, err
	}
	here, _, err := projects.Locate(ctx, run.DB, run.Dir)
	if err != nil {
		return nil, err
	}
	l.here = here.ID == run.Project.ID
	return l, l.load(ctx)
}

// IsNote reports whether a name begins as the whole name of a note does.
func IsNote(name string) bool {
	name, _, _ = strings.Cut(name, "@{")
	_, _, err := records.ParseNoteFile(name)
	return err == nil
}

// ShowNote prints a note.
func ShowNote(ctx context.Context, run app.Run, name string) error {
	l, err := newList(ctx, run)
	if err != nil {
		return err
	}
	return runShow(l, name)
}

func (l *list) load(ctx context.Context) (err error) {
	if l.files, err = notes.Files(ctx, l.DB, l.Project.ID); err != nil {
		return err
	}
	st, err := trust.Outline(ctx, l.DB, l.Project.ID)
	if err != nil {
		return err
	}
	for _, f := range l.files {
		for _, s := range f.States {
			if d := s.Stamp.Device; d != l.Refs.Device().ID && l.devices[d] == "" {
				if l.devices[d], err = trust.DeviceName(ctx, l.DB, d); err != nil {
					return err
				}
			}
			if x := st.Session(s.Session); x != nil {
				l.titles[s.Session] = x.Title()
			}
		}
	}
	return nil
}

// find returns the note and the number of the state that a user names; n is -1 if the name has none.
func (l *list) find(name string) (f *notes.File, n int, err error) {
	file, at, has := strings.Cut(name, "@{")
	n = -1
	if has {
		if n, err = strconv.Atoi(strings.TrimSuffix(at, "}")); err != nil || n < 0 || !strings.HasSuffix(at, "}") {
			return nil, 0, app.Usagef("%s is not FILE@{n}", name)
		}
	}
	if f, err = notes.Find(l.files, file); err != nil {
		return nil, 0, app.WithCode(app.ExitNo, app.WithHint(err, "mem notes"))
	}
	if n >= len(f.States) {
		return nil, 0, app.WithCode(app.ExitNo, app.WithHint(fmt.Errorf("%s has only %s", f.Name, term.Count(len(f.States), "state")),
			term.Shell("mem", "notes", "log", f.Name), "what is on disk and in no state yet is replaced by the newest state: "+
				term.Shell("mem", "notes", "restore", f.Name)))
	}
	return f, n, nil
}

// author says who made a state.
func (l *list) author(s *notes.State) string {
	who := "by hand"
	switch {
	case s.Deleted && len(s.Undoes) > 0:
		who = "deleted by mem undo"
	case s.Deleted:
		who = "deleted"
	case len(s.Undoes) > 0:
		who = "by mem undo"
	case s.Restored:
		who = "restored"
	case s.Session != "":
		who = strings.TrimSpace(term.ShortID(s.Session) + " " + l.titles[s.Session])
	}
	if d := l.devices[s.Stamp.Device]; d != "" {
		who += " (" + d + ")"
	}
	return who
}

// object returns the JSON form of a state; 0 is the newest, and no other state replaced the newest ones.
func (l *list) object(f *notes.File, n int) app.Object {
	s, by := f.States[n], "hand"
	switch {
	case s.Restored:
		by = "restore"
	case s.Session != "":
		by = "session"
	}
	added, removed := notes.Stat(f.Before(s), s.Text)
	return app.Object{"file", f.Name, "n", n, "time", when(s), "sessionId,omitempty", s.Session, "by", by,
		"device", s.Stamp.Device, "deleted", s.Deleted, "newest", slices.Contains(f.Heads(), s), "bytes", len(s.Text),
		"addedLines", added, "removedLines", removed, "redacted", s.Cut}
}

// when returns the time of the change.
func when(s *notes.State) time.Time {
	if s.Modified.IsZero() {
		return s.Time
	}
	return s.Modified
}

func runList(ctx context.Context, l *list) error {
	pending, err := l.pending(ctx)
	if err != nil {
		return err
	}
	if l.Opt.JSON {
		out := app.Each(l.files, func(f *notes.File) app.Object { return l.object(f, 0) })
		changed := app.Each(pending.Changes, func(c notes.Change) string { return c.File })
		return l.PrintJSON("notes.list", nil, "notes", out, "changed", changed)
	}
	if len(l.files) == 0 {
		l.Note("no notes in memory")
	} else if err := l.table(l.files); err != nil {
		return err
	}
	for _, f := range l.files {
		if heads := f.Heads(); len(heads) > 1 {
			l.Note("%s was changed on %d machines, and nothing was merged: mem notes diff %s", l.Safe(f.Name), len(heads), l.Safe(f.Name))
		}
	}
	l.notePending(pending)
	return nil
}

// pending returns the notes on disk that are not in memory.
func (l *list) pending(ctx context.Context) (notes.Capture, error) {
	if !l.here {
		return notes.Capture{}, nil
	}
	return notes.CaptureAll(ctx, l.DB, l.Project, l.client, l.Dir, notes.Options{DryRun: true})
}

func (l *list) table(files []*notes.File) error {
	t := l.Table(app.Column{Name: "file", Shrinks: true}, "changed", app.Column{Name: "lines", Right: true},
		app.Column{Name: "states", Right: true}, app.Column{Name: "by", Shrinks: true})
	for _, f := range files {
		for _, s := range f.Heads() {
			t.Row(f.Name, when(s), lines(s.Text), len(f.States), l.author(s))
		}
	}
	return t.Flush()
}

func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// notePending says which notes on disk are not in memory.
func (l *list) notePending(c notes.Capture) {
	for _, x := range c.Changes {
		l.Note("%s is not captured yet: mem import", l.Safe(PendingText(x)))
	}
	for _, path := range c.Skipped {
		l.Note("%s is not text or is longer than %s: not captured", l.Safe(path), app.BytesText(records.MaxNote))
	}
}

// PendingText describes a change on disk.
func PendingText(c notes.Change) string {
	switch {
	case c.Deleted:
		return c.File + " (deleted)"
	case c.New:
		return c.File + " (new)"
	}
	return fmt.Sprintf("%s (+%d -%d lines)", c.File, c.Added, c.Removed)
}

func runLog(_ context.Context, l *list) error {
	name, files := l.Operand(0), l.files
	if name != "" {
		f, n, err := l.find(name)
		if err != nil {
			return err
		}
		f = &notes.File{Name: f.Name, States: f.States}
		if files = []*notes.File{f}; n > 0 {
			return app.Usagef("mem notes log takes a file")
		}
	}
	out := l.List("notes.log", "states", app.Column{Name: "state", Shrinks: true}, "changed",
		app.Column{Name: "lines", Right: true}, app.Column{Name: "by", Shrinks: true})
	out.None = "no notes in memory"
	for _, f := range files {
		for n, s := range f.States {
			added, removed := notes.Stat(f.Before(s), s.Text)
			out.Add(l.object(f, n), stateName(f, n), when(s), fmt.Sprintf("+%d -%d", added, removed), l.author(s))
		}
	}
	return out.Print()
}

func stateName(f *notes.File, n int) string { return fmt.Sprintf("%s@{%d}", f.Name, n) }

func runShow(l *list, name string) error {
	f, n, err := l.find(name)
	if err != nil {
		return err
	}
	n = max(n, 0)
	s := f.States[n]
	if l.Opt.JSON {
		return l.PrintJSON("notes.show", nil, append(l.object(f, n), "text", s.Text)...)
	}
	if s.Deleted {
		return app.WithCode(app.ExitNo, app.WithHint(fmt.Errorf("%s is deleted", stateName(f, n)),
			term.Shell("mem", "notes", "log", f.Name)))
	}
	_, err = io.WriteString(app.Stdout(l.Env), s.Text)
	return err
}

func (l *list) printDiff(lines []string) {
	for _, line := range lines {
		l.Diff(line)
	}
}

// label names a state in a diff.
func (l *list) label(f *notes.File, s *notes.State) string {
	return fmt.Sprintf("%s  %s, %s", stateName(f, slices.Index(f.States, s)), app.Ago(l.Now(), when(s)), l.author(s))
}

func runDiff(ctx context.Context, l *list) error {
	name, other := l.Operand(0), l.Operand(1)
	pending, err := l.pending(ctx)
	if err != nil {
		return err
	}
	if name == "" {
		for _, c := range pending.Changes {
			l.printDiff(notes.Diff(c.File, c.Path, c.Before, c.Text()))
		}
		return nil
	}
	f, n, err := l.find(name)
	if err != nil {
		return err
	}
	switch heads := f.Heads(); {
	case other != "":
		_, to, err := l.find(f.Name + strings.TrimPrefix(other, f.Name))
		if err != nil {
			return err
		}
		if n < 0 { // FILE @{n}: that state and the newest
			n, to = to, 0
		}
		return l.compare(f, f.States[n], f.States[to])
	case n >= 0:
		return l.compare(f, f.States[n], f.States[0])
	case len(heads) > 1:
		return l.compare(f, heads[1], heads[0])
	default:
		for _, c := range pending.Changes {
			if c.File == f.Name {
				l.printDiff(notes.Diff(stateName(f, 0), c.Path, c.Before, c.Text()))
				return nil
			}
		}
		s := f.States[0]
		from := "/dev/null"
		if len(f.States) > 1 {
			from = stateName(f, 1)
		}
		l.printDiff(notes.Diff(from, l.label(f, s), f.Before(s), s.Text))
		return nil
	}
}

func (l *list) compare(f *notes.File, a, b *notes.State) error {
	l.printDiff(notes.Diff(l.label(f, a), l.label(f, b), a.Text, b.Text))
	return nil
}

func runRestore(ctx context.Context, l *list, name string) error {
	var conflicts []string
	if err := l.wantHere(); err != nil {
		return err
	}
	var states []*notes.State // by the numbers that the user has seen, before what is on disk becomes the newest state
	if name != "" {
		to, err := l.wanted(name)
		if err != nil {
			return err
		}
		states = append(states, to)
	} else {
		for _, f := range l.files {
			switch heads := f.Heads(); {
			case len(heads) > 1:
				conflicts = append(conflicts, f.Name)
			case !heads[0].Deleted:
				states = append(states, heads[0])
			}
		}
	}
	plan, err := l.plan(states, name == "")
	if err != nil {
		return err
	}
	if len(plan) == 0 && len(conflicts) == 0 {
		l.Note("Claude's notes here are as in memory")
		return nil
	}
	if ok, err := l.agreed(plan); err != nil || !ok {
		return err
	}
	if !l.Opt.DryRun && len(plan) > 0 {
		// What is on disk is not lost. It is read again, as it may have changed since the question.
		if _, err := notes.CaptureAll(ctx, l.DB, l.Project, l.client, l.Dir, notes.Options{}); err != nil {
			return err
		}
		if err := l.load(ctx); err != nil {
			return err
		}
		if plan, err = l.plan(states, name == ""); err != nil {
			return err
		}
		if err := l.write(ctx, plan); err != nil {
			return err
		}
	}
	for _, file := range conflicts {
		l.Warn("%s was changed on several machines: not restored", l.Safe(file))
		l.Hint("%s", term.Shell("mem", "notes", "diff", file)+"; "+term.Shell("mem", "notes", "restore", file+"@{0}"))
	}
	if len(conflicts) > 0 {
		return app.Exit(app.ExitPartial)
	}
	return nil
}

// wanted returns the state to restore that a user names: the newest one if the name has no number.
func (l *list) wanted(name string) (*notes.State, error) {
	f, n, err := l.find(name)
	if err != nil {
		return nil, err
	}
	if n < 0 && len(f.Heads()) > 1 {
		return nil, l.conflict(f)
	}
	n = max(n, 0)
	if to := f.States[n]; !to.Deleted {
		return to, nil
	}
	return nil, app.WithCode(app.ExitNo, app.WithHint(fmt.Errorf("%s is deleted", stateName(f, n)),
		"name an earlier state: "+term.Shell("mem", "notes", "log", f.Name)))
}

func (l *list) conflict(f *notes.File) error {
	var hints []string
	for _, h := range f.Heads() {
		n := slices.Index(f.States, h)
		hints = append(hints, term.Shell("mem", "notes", "restore", stateName(f, n))+" restores "+l.author(h))
	}
	return app.WithCode(app.ExitNo, app.WithHint(fmt.Errorf("%s was changed on several machines", f.Name), hints...))
}

func restoreError(err error) error {
	if errors.Is(err, notes.ErrOff) {
		return app.WithCode(app.ExitNo, app.WithHint(err, "set autoMemoryEnabled in Claude Code's settings"))
	}
	return err
}

// plan returns what restoring states would change. With all, the notes of a place that is turned off are left out.
func (l *list) plan(states []*notes.State, all bool) (plan []notes.Restore, err error) {
	for _, to := range states {
		f, err := notes.Find(l.files, to.File)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(f.States, func(s *notes.State) bool { return s.Name() == to.Name() })
		if i < 0 {
			return nil, app.WithCode(app.ExitNo, fmt.Errorf("%s: the state was deleted meanwhile", to.File))
		}
		switch r, err := l.client.PlanRestore(l.Dir, f, f.States[i]); {
		case all && errors.Is(err, notes.ErrOff):
		case err != nil:
			return nil, restoreError(err)
		case !r.Same():
			plan = append(plan, r)
		}
	}
	return plan, nil
}

// agreed shows what would change and asks, if somebody is there to answer.
func (l *list) agreed(plan []notes.Restore) (bool, error) {
	for _, r := range plan {
		from := r.Path
		if !r.Here {
			from = "/dev/null"
		}
		if l.Opt.DryRun || !l.Opt.Yes && l.Term.Stdin {
			l.printDiff(notes.Diff(from, l.label(r.File, r.To), r.Now, r.To.Text))
		}
	}
	if l.Opt.DryRun || len(plan) == 0 || !l.Term.Stdin {
		return true, nil
	}
	return l.Confirm("write %s?", term.Count(len(plan), "note"))
}

// write writes what was planned, and says how to undo it.
func (l *list) write(ctx context.Context, plan []notes.Restore) error {
	if err := notes.RestoreAll(ctx, l.DB, l.Project, plan); err != nil {
		return err
	}
	if err := l.load(ctx); err != nil { // with the numbers of the states as they are now
		return err
	}
	for _, r := range plan {
		l.Note("wrote %s", l.Safe(r.Path))
		if r.To.Cut > 0 {
			l.Note("%s has placeholders for %s that redaction removed", l.Safe(r.File.Name), term.Count(r.To.Cut, "secret"))
		}
		f, err := notes.Find(l.files, r.File.Name)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(f.States, func(s *notes.State) bool { return s.Restored && s.Path() == r.Path })
		if i < 0 || !r.Here {
			continue
		}
		if old := f.Undone(f.States[i]); old == nil || old.Text != r.Now {
			l.Note("%s had text that memory has not, because redaction or a forget removed it", l.Safe(r.Path))
		}
	}
	l.Note("to undo: %s", l.Typed("mem", "undo"))
	return nil
}

// CaptureNotes captures the notes on disk of the run's project, so that what undo or redo replaces is not lost. The error
// says so if the working directory is not of the project, or auto memory is off.
func CaptureNotes(ctx context.Context, run app.Run) error {
	l, err := newList(ctx, run)
	if err == nil {
		err = l.wantHere()
	}
	if err == nil {
		_, err = notes.CaptureAll(ctx, l.DB, l.Project, l.client, l.Dir, notes.Options{})
	}
	return err
}

// wantHere returns an error if the working directory is not of the project.
func (l *list) wantHere() error {
	if l.here {
		return nil
	}
	return app.WithCode(app.ExitNo, app.WithHint(fmt.Errorf("project %s is not that of this directory", l.Project.Name),
		"change to a directory of the project, or: "+app.LinkCommand(l.Dir, l.Dir, l.Project)))
}

// RestoreNotes writes the files of states that undo or redo a restore, and says so.
func RestoreNotes(run app.Run, files []records.Note) error {
	client, err := NotesClient(run.Env)
	if err != nil {
		return err
	}
	if err := client.TakeBack(run.Dir, files); err != nil {
		return err
	}
	for _, n := range files {
		s := notes.State{Note: n}
		verb := cmp.Or(app.If(n.Deleted, "removed"), "wrote")
		run.Note("%s %s", verb, run.Safe(s.Path()))
		if n.Cut > 0 {
			run.Note("%s has placeholders for %s that redaction removed", run.Safe(n.File), term.Count(n.Cut, "secret"))
		}
	}
	return nil
}

func runForget(ctx context.Context, l *list) error {
	f, n, err := l.find(l.Operand(0))
	if err != nil {
		return err
	}
	states := f.States
	if n >= 0 {
		states = states[n : n+1]
	}
	all := app.Each(states, func(s *notes.State) objects.Hash { return s.Stamp.Record })
	return forgetcmd.States(ctx, l.Run, all)
}
