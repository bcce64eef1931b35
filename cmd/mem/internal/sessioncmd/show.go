package sessioncmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/knowledgecmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
)

type showOptions struct {
	format   string
	manifest bool
	raw      bool
}

// Show returns mem show.
func Show(e *app.Env) *cli.Command {
	var o showOptions
	return &cli.Command{
		Name:      "show",
		Usage:     "print a session, version, layer, message or composition",
		ArgsUsage: "[<rev>]",
		Description: "Without a revision, shows the newest session of the project. By default a header with\n" +
			"the metadata comes first; --format text, md and jsonl print only the content. See\n" +
			"\"mem help revisions\".",
		Flags: []cli.Flag{
			app.ChoiceFlag(&o.format, "format", "print only the content, as `FORM`: text, md, jsonl, or lean for a shorter L1",
				"text", "md", "jsonl", "lean"),
			app.BoolFlag(&o.manifest, "manifest", "print the project as manifest.json"),
			app.BoolFlag(&o.raw, "raw", "do not sanitise the text for a terminal"),
		},
		Action: func(c *cli.Context) error {
			most := 1
			if o.manifest {
				most = 0
			}
			if err := e.WantOperands(c, 0, most); err != nil {
				return err
			}
			return app.WithMemory(c.Context, e, func(run app.Run) error {
				return runShow(c.Context, run, o, app.OrNewest(e.Operand(0)))
			})
		},
	}
}

func runShow(ctx context.Context, run app.Run, o showOptions, name string) error {
	if o.manifest {
		return showManifest(ctx, run)
	}
	rev, err := run.Resolve(ctx, name)
	var missing *state.NotFoundError
	if errors.As(err, &missing) && o.format == "" && knowledgecmd.IsNote(name) { // as a search names it
		return knowledgecmd.ShowNote(ctx, run, name)
	}
	if err != nil {
		return err
	}
	run.Project = rev.Project
	if err := trust.MayUse(ctx, run.DB, rev); errors.Is(err, trust.ErrRevoked) {
		run.Warn("%v", err)
	} else if err != nil {
		return err
	}
	if rev.Session != nil && rev.Session.Deleted {
		run.Note("%s is hidden; to show it again: %s", rev.Session.Name(), term.Shell("mem", "rm", "--undo", rev.Session.Name()))
	}
	if rev.Kind == state.IsConcept && o.format == "" {
		return knowledgecmd.ShowConcept(ctx, run, rev.Concept)
	}
	if rev.Kind == state.IsRule && o.format == "" {
		return knowledgecmd.ShowRule(ctx, run, rev.Rule)
	}
	if run.Opt.JSON {
		return showJSON(ctx, run, rev)
	}
	run.Page("show")
	unformatted := o.format == ""
	if unformatted && rev.Kind == state.IsL2 {
		return knowledgecmd.ShowDistilled(ctx, run, rev)
	}
	if unformatted {
		if err := showHead(ctx, run, rev); err != nil {
			return err
		}
		o.format = "text"
		if rev.Kind == state.IsVersion || rev.Kind == state.IsComposition {
			o.format = "md"
		}
		if rev.Kind == state.IsSession || rev.Kind == state.IsCommit || rev.Kind == state.IsFact {
			return nil
		}
	}
	w := app.Stdout(run.Env)
	if o.raw {
		w = run.Out
	}
	if rev.Kind == state.IsMessages && unformatted {
		return showTurns(ctx, run, rev, w)
	}
	err = checkout.Write(ctx, run.DB, rev, checkout.Format(o.format), w)
	if errors.Is(err, revision.ErrLayer) {
		return app.WithHint(err, term.Shell("mem", "show", name+":L1", "--format", "lean"))
	}
	return err
}

// showTurns prints messages of a session. Lines without text, such as a snapshot of files, print nothing: a note says
// so.
func showTurns(ctx context.Context, run app.Run, rev state.Rev, w io.Writer) error {
	empty, write := true, TurnWriter(w)
	err := checkout.Turns(ctx, run.DB, rev, rev.From, rev.To, func(t checkout.Turn) error {
		empty = false
		return write(t)
	})
	gone, ferr := 0, error(nil)
	if err == nil {
		gone, ferr = noteForgotten(ctx, run, rev)
	}
	if err == nil && empty && gone <= rev.To-rev.From {
		run.Note("no text in %s", rev.Name())
		run.Hint("the lines of the session file: %s", term.Shell("mem", "show", rev.Name(), "--format", "jsonl"))
	}
	return errors.Join(err, ferr)
}

// noteForgotten prints which of the messages were forgotten, and returns their number.
func noteForgotten(ctx context.Context, run app.Run, rev state.Rev) (int, error) {
	all, err := forget.ForgottenMessages(ctx, run.DB, rev.Project.ID, rev.Session, rev.From, rev.To)
	for i := 0; i < len(all); {
		first, k := all[i], i+1
		for same := first; k < len(all); k++ {
			if same.Message = first.Message + k - i; all[k] != same {
				break
			}
		}
		place, was := fmt.Sprintf("%s#%d", term.ShortID(rev.Session.ID), first.Message), "was forgotten"
		if last := all[k-1].Message; last > first.Message {
			place, was = place+fmt.Sprintf("..%d", last), "were forgotten"
		}
		if first.Part {
			was += " in part"
		}
		by := map[string]string{"match": " --match", "secret": " --secret", "tool": " --tool",
			"since": " --after"}[first.Cause]
		run.Note("%s %s at %s, by mem forget%s", place, was, term.TimeText(first.Time), by)
		i = k
	}
	return len(all), err
}

func showManifest(ctx context.Context, run app.Run) error {
	conf, err := run.Settings()
	if err != nil {
		return err
	}
	man, err := view.NewManifest(ctx, run.DB, run.Project, view.ManifestSettings{
		Preset: conf.String("defaults.compressionPreset"), AutoRegister: conf.Bool("defaults.autoRegisterSessions"),
		Decay: conf.Bool("defaults.keepitDecayEnabled")})
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(man, "", "  ")
	if err != nil {
		return err
	}
	return run.WriteJSON(append(term.EscapeJSON(b), '\n'))
}

// versionUse returns the compositions that use a version, and the messages that it covers if it is of a part.
func versionUse(ctx context.Context, run app.Run, rev state.Rev) (by []string, from, to int, err error) {
	st, err := trust.State(ctx, run.DB, rev.Project.ID)
	if err == nil && rev.Version.Since != "" {
		from, to, err = rev.Covers()
	}
	if err != nil {
		return nil, 0, 0, err
	}
	return st.UsedBy(rev.Version), from, to, nil
}

// showJSON prints a revision with what it is made of: the versions and markers of a session, the record of a version or
// composition, or the content of L1, L2 or messages.
func showJSON(ctx context.Context, run app.Run, rev state.Rev) error {
	o := app.Object{"kind", rev.Kind}
	add := func(name string, value any) { o = append(o, name+",omitempty", value) }
	if !rev.Hash.IsZero() {
		add("hash", rev.Hash.String())
	}
	add("project", rev.Project.Name)
	var used records.Rehearsal
	if s := rev.Session; s != nil {
		now := cmp.Or(rev.Point, s.Now())
		add("session", s.ID)
		add("title", s.Title())
		add("messages", now.Scan.Messages)
		add("bytes", now.Size)
		if n, ok := capture.TokensOf(run.DB, rev.Project.ID, s); ok && rev.Kind == state.IsSession {
			add("tokens", &n)
		}
		add("from", rev.From)
		add("to", rev.To)
		add("firstTimestamp", term.TimeText(now.Scan.First))
		add("lastTimestamp", term.TimeText(now.Scan.Last))
		used = s.Used
	}
	if c := rev.Composition; c != nil {
		add("createdAt", term.TimeText(c.Time))
		used = c.Used
	}
	if v := rev.Version; v != nil {
		by, from, to, err := versionUse(ctx, run, rev)
		if err != nil {
			return err
		}
		add("from", from)
		add("to", to)
		add("createdAt", term.TimeText(v.Time))
		add("versionId", v.Label)
		add("usedInCompositions", by)
		used = v.Used
	}
	add("usedInSessions", used.By)
	add("lastAccessed", term.TimeText(used.Last))
	content, err := contentOf(ctx, run, rev)
	if err != nil {
		return err
	}
	add("commit", rev.Commit)
	return run.PrintJSON("show", nil, append(o, content...)...)
}

// contentOf returns the members of [showJSON] about what a revision is made of.
func contentOf(ctx context.Context, run app.Run, rev state.Rev) (app.Object, error) {
	switch rev.Kind {
	case state.IsSession:
		st, err := trust.State(ctx, run.DB, rev.Project.ID)
		if err != nil {
			return nil, err
		}
		versions, err := view.VersionsOf(st, st.VersionsOf(rev.Session.ID))
		if err != nil {
			return nil, err
		}
		var marked []view.Marker
		if len(rev.Session.Markers()) > 0 {
			marks, err := markers.Keepits(ctx, run.DB, rev)
			if err != nil {
				return nil, err
			}
			for _, k := range marks {
				marked = append(marked, view.MarkerOf(rev.Session, k))
			}
		}
		return app.Object{"earlier,omitempty", view.EarlierOf(rev.Session), "branch,omitempty", rev.Session.Now().Scan.Branch,
			"forkOf,omitempty", rev.Session.ForkOf(), "versions,omitempty", versions, "markers,omitempty", marked}, nil
	case state.IsVersion:
		fates, err := markers.Fates(ctx, run.DB, rev)
		if err != nil {
			return nil, err
		}
		keepits := app.Each(fates, func(f markers.Judgement) view.Fate { return view.FateOf(f.Fate, f.Judged) })
		st, err := trust.State(ctx, run.DB, rev.Project.ID)
		if err != nil {
			return nil, err
		}
		v, err := view.VersionOf(rev.Version, st.UsedBy(rev.Version))
		return app.Object{"version", v, "keepits,omitempty", keepits}, err
	case state.IsComposition:
		all, err := view.CompositionsOf(ctx, run.DB, rev.Project, []*records.Composition{rev.Composition})
		if err != nil {
			return nil, err
		}
		return app.Object{"composition", all[0]}, nil
	case state.IsL1, state.IsL2, state.IsMessages:
		var b strings.Builder
		err := checkout.Write(ctx, run.DB, rev, checkout.JSONL, &b)
		return app.Object{"content,omitempty", b.String()}, err
	}
	return nil, nil
}

// showHead prints the header of a revision.
func showHead(ctx context.Context, run app.Run, rev state.Rev) error {
	switch rev.Kind {
	case state.IsVersion:
		return showVersion(ctx, run, rev)
	case state.IsComposition:
		c := rev.Composition
		app.HeadLine(run.Env, "composition "+c.Name, app.HashText(run.Env, rev.Hash))
		composed, err := checkout.Composed(ctx, run.DB, rev)
		if err != nil {
			return err
		}
		var parts [][]string
		for _, p := range composed.Parts {
			parts = append(parts, []string{app.SessionID(run.Env, p.Session) + ":" + p.Version,
				tokens.Commas(p.Tokens) + " tok", p.Period(), p.Title})
		}
		app.Fields(run.Env, "Part", parts)
		run.Describe("Headings", tokens.Commas(c.Frame())+" tok", "Result", fmt.Sprintf("%s tok of %s, %s, %s allocation",
			tokens.Commas(c.Tokens), tokens.Commas(c.Budget), term.Count(c.Messages, "message"), c.Strategy),
			"Date", run.DateText(c.Time))
		usedLine(run.Env, c.Used)
		run.Printf("\n")
	case state.IsSession:
		return showSession(ctx, run, rev)
	case state.IsFact:
		return knowledgecmd.ShowFact(ctx, run, *rev.Fact)
	case state.IsCommit:
		return showOperation(ctx, run, rev)
	}
	return nil
}

// showOperation prints an operation: its device and time, and what it captured and derived.
func showOperation(ctx context.Context, run app.Run, rev state.Rev) error {
	app.HeadLine(run.Env, "commit "+rev.Commit, rev.How)
	all, err := revision.Operations(ctx, run.DB, rev.Project)
	if err != nil {
		return err
	}
	o := all[rev.Commit]
	if o == nil {
		return nil
	}
	run.Describe("Project", rev.Project.Name, "Device", o.Entry.Name, "Date", run.DateText(o.Entry.Time))
	var sessions, versions [][]string
	for _, c := range o.Captured {
		sessions = append(sessions, []string{app.SessionID(run.Env, c.Session.ID),
			term.Count(c.Now.Scan.Messages, "message"), app.BytesText(c.Now.Size)})
	}
	for _, v := range o.Versions {
		versions = append(versions, []string{app.LabelFor(run.Env, v), app.ModeOf(v),
			tokens.Commas(v.TokensOut) + " tok"})
	}
	app.Fields(run.Env, "Session", sessions)
	app.Fields(run.Env, "Version", versions)
	for _, c := range o.Compositions {
		run.Describe("Made", c.Name+", "+tokens.Commas(c.Tokens)+" tok")
	}
	return nil
}

// usedLine prints the sessions that used a thing, if there are any.
func usedLine(e *app.Env, r records.Rehearsal) {
	if len(r.By) == 0 {
		return
	}
	by := app.Each(r.By, func(id string) string { return app.SessionID(e, id) })
	e.Describe("Used in", fmt.Sprintf("%s, last %s", strings.Join(by, ", "),
		e.Local(r.Last).Format("2 Jan 2006 15:04")))
}

// showSession prints a session: its metadata, versions, markers and exchanges.
func showSession(ctx context.Context, run app.Run, rev state.Rev) error {
	now := rev.Session.Now()
	app.HeadLine(run.Env, "session "+rev.Session.ID, app.HashText(run.Env, now.Original))
	size := "?"
	if n, ok := capture.TokensOf(run.DB, rev.Project.ID, rev.Session); ok {
		size = "~" + tokens.Commas(n)
	}
	run.Describe("Title", rev.Session.Title(), "Tags", strings.Join(rev.Session.Tags, ", "), "Project", rev.Project.Name,
		"Date", run.SpanText(now.Scan.First, now.Scan.Last), "Messages", fmt.Sprintf("%s (#N is line N of %s)",
			tokens.Commas(now.Scan.Messages), tokens.Commas(now.Scan.Values)), "Tokens", size,
		"Size", app.BytesText(now.Size), "Branch", now.Scan.Branch, "Parent", rev.Session.Parent())
	st, err := trust.State(ctx, run.DB, rev.Project.ID)
	if err != nil {
		return err
	}
	if of := rev.Session.ForkOf(); of != "" {
		about := []string{records.ShortID(of)}
		if origin := st.Session(of); origin != nil {
			about = []string{records.ShortID(origin.ID), term.Quoted(origin.Title())}
		}
		app.Fields(run.Env, "Fork of", [][]string{about})
	}
	usedLine(run.Env, rev.Session.Used)
	used := st.Users(state.Rev{Kind: state.IsSession, Session: rev.Session})
	run.Describe("Used by", strings.Join(used, ", "))
	for i, p := range rev.Session.Earlier() {
		run.Describe("Earlier", fmt.Sprintf("original@{%d}  %s, %s, captured %s", i+1,
			term.Count(p.Scan.Messages, "message"), app.BytesText(p.Size), run.Local(p.Time).Format("2 Jan 2006 15:04")))
	}
	var versions, marked [][]string
	for _, v := range st.VersionsOf(rev.Session.ID) {
		versions = append(versions, []string{v.Name(), app.ModeOf(v), tokens.Commas(v.TokensOut) + " tok",
			fmt.Sprintf("%.1f:1", v.Ratio)})
	}
	app.Fields(run.Env, "Version", versions)
	if len(rev.Session.Markers()) > 0 {
		marks, err := markers.Keepits(ctx, run.DB, rev)
		if err != nil {
			return err
		}
		for _, k := range marks {
			marked = append(marked, []string{k.ID, k.Mark.Weight.String(), fmt.Sprintf("#%d", k.Mark.Message),
				tokens.OneLine(k.Mark.Text, 60)})
		}
		app.Fields(run.Env, "Marker", marked)
	}
	return showExchanges(ctx, run, rev)
}
