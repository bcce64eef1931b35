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
	"github.com/memvcs/mem/cmd/mem/internal/names"
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
			rev := "@"
			if len(e.Operands) > 0 {
				rev = e.Operand(0)
			}
			return runShow(c.Context, e, o, rev)
		},
	}
}

func runShow(ctx context.Context, e *app.Env, o showOptions, name string) error {
	return names.WithMemory(ctx, e, func(run names.Run) error {
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
			e.Warn("%v", err)
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
		if e.Opt.JSON {
			return showJSON(ctx, run, rev)
		}
		if err := e.Page("show"); err != nil {
			return err
		}
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
		w := app.Stdout(e)
		if o.raw {
			w = e.Out
		}
		if rev.Kind == state.IsMessages && unformatted {
			return showTurns(ctx, run, rev, w)
		}
		err = checkout.Write(ctx, run.DB, rev, checkout.Format(o.format), w)
		if errors.Is(err, revision.ErrLayer) {
			return app.WithHint(err, term.Shell("mem", "show", name+":L1", "--format", "lean"))
		}
		return names.StoreError(err)
	})
}

// showTurns prints messages of a session. Lines without text, such as a snapshot of files, print nothing: a note says
// so.
func showTurns(ctx context.Context, run names.Run, rev state.Rev, w io.Writer) error {
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
	return names.StoreError(errors.Join(err, ferr))
}

// noteForgotten prints which of the messages were forgotten, and returns their number.
func noteForgotten(ctx context.Context, run names.Run, rev state.Rev) (int, error) {
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

func showManifest(ctx context.Context, run names.Run) error {
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

// A shown is the JSON form of mem show.
type shown struct {
	Kind        string            `json:"kind"`
	Hash        string            `json:"hash,omitempty"`
	Project     string            `json:"project,omitempty"`
	Session     string            `json:"session,omitempty"`
	Title       string            `json:"title,omitempty"`
	Messages    int               `json:"messages,omitempty"`
	Bytes       int64             `json:"bytes,omitempty"`
	Tokens      *int              `json:"tokens,omitempty"` // of a session, if they have been counted
	From        int               `json:"from,omitempty"`   // of a message range
	To          int               `json:"to,omitempty"`
	Time        string            `json:"createdAt,omitempty"`
	First       string            `json:"firstTimestamp,omitempty"`
	Last        string            `json:"lastTimestamp,omitempty"`
	Label       string            `json:"versionId,omitempty"`
	UsedBy      []string          `json:"usedInCompositions,omitempty"`
	UsedIn      []string          `json:"usedInSessions,omitempty"`
	Accessed    string            `json:"lastAccessed,omitempty"` // by one of those sessions
	Version     *view.Version     `json:"version,omitempty"`
	Keepits     []view.Fate       `json:"keepits,omitempty"` // of a version: the fates of the markers
	Composition *view.Composition `json:"composition,omitempty"`
	Commit      string            `json:"commit,omitempty"`
	Earlier     []view.Earlier    `json:"earlier,omitempty"` // of a session whose file was rewritten
	Branch      string            `json:"branch,omitempty"`
	ForkOf      string            `json:"forkOf,omitempty"`   // of a fork
	Versions    []view.Version    `json:"versions,omitempty"` // of a session
	Markers     []view.Marker     `json:"markers,omitempty"`  // of a session
	Content     string            `json:"content,omitempty"`  // of L1 and L2, and of messages
}

func describeRev(ctx context.Context, run names.Run, rev state.Rev) (shown, error) {
	s := shown{Kind: string(rev.Kind), Project: rev.Project.Name, Commit: rev.Commit, From: rev.From, To: rev.To}
	if !rev.Hash.IsZero() {
		s.Hash = rev.Hash.String()
	}
	if rev.Session != nil {
		now := cmp.Or(rev.Point, rev.Session.Now())
		s.Session, s.Title, s.Messages, s.Bytes = rev.Session.ID, rev.Session.Title(), now.Scan.Messages, now.Size
		if rev.Kind == state.IsSession {
			s.Tokens, s.Earlier = nil, view.EarlierOf(rev.Session)
			if n, ok := capture.TokensOf(run.DB, rev.Project.ID, rev.Session); ok {
				s.Tokens = &n
			}
		}
		s.First, s.Last = term.TimeText(now.Scan.First), term.TimeText(now.Scan.Last)
		s.UsedIn, s.Accessed = rev.Session.Used.By, term.TimeText(rev.Session.Used.Last)
	}
	if rev.Version != nil {
		st, err := trust.State(ctx, run.DB, rev.Project.ID)
		if err != nil {
			return s, err
		}
		s.Label, s.UsedBy, s.Time = rev.Version.Label, st.UsedBy(rev.Version), term.TimeText(rev.Version.Time)
		s.UsedIn, s.Accessed = rev.Version.Used.By, term.TimeText(rev.Version.Used.Last)
		if rev.Version.Since != "" {
			if s.From, s.To, err = rev.Covers(); err != nil {
				return s, err
			}
		}
	}
	if rev.Composition != nil {
		s.Time = term.TimeText(rev.Composition.Time)
		s.UsedIn, s.Accessed = rev.Composition.Used.By, term.TimeText(rev.Composition.Used.Last)
	}
	return s, nil
}

func showJSON(ctx context.Context, run names.Run, rev state.Rev) error {
	s, err := describeRev(ctx, run, rev)
	if err != nil {
		return err
	}
	if rev.Kind == state.IsVersion {
		fates, err := markers.Fates(ctx, run.DB, rev)
		if err != nil {
			return err
		}
		for _, f := range fates {
			s.Keepits = append(s.Keepits, view.FateOf(f.Fate, f.Judged))
		}
	}
	if err := describeContent(ctx, run, rev, &s); err != nil {
		return err
	}
	return run.PrintJSON("show", s)
}

// describeContent adds the versions and markers of a session, a version, a composition, or the content of L1, L2 or
// messages to s.
func describeContent(ctx context.Context, run names.Run, rev state.Rev, s *shown) error {
	switch rev.Kind {
	case state.IsSession:
		s.Branch, s.ForkOf = rev.Session.Now().Scan.Branch, rev.Session.ForkOf()
		st, err := trust.State(ctx, run.DB, rev.Project.ID)
		if err != nil {
			return err
		}
		if s.Versions, err = view.VersionsOf(st, st.VersionsOf(rev.Session.ID)); err != nil {
			return err
		}
		if len(rev.Session.Markers()) == 0 {
			return nil
		}
		marks, err := markers.Keepits(ctx, run.DB, rev)
		for _, k := range marks {
			s.Markers = append(s.Markers, view.MarkerOf(rev.Session, k))
		}
		return err
	case state.IsVersion:
		v, err := view.VersionOf(rev.Version, s.UsedBy)
		s.Version = &v
		return err
	case state.IsComposition:
		all, err := view.CompositionsOf(ctx, run.DB, rev.Project, []*records.Composition{rev.Composition})
		if err == nil {
			s.Composition = &all[0]
		}
		return err
	case state.IsL1, state.IsL2, state.IsMessages:
		var b strings.Builder
		err := names.StoreError(checkout.Write(ctx, run.DB, rev, checkout.JSONL, &b))
		s.Content = b.String()
		return err
	}
	return nil
}

// showHead prints the header of a revision.
func showHead(ctx context.Context, run names.Run, rev state.Rev) error {
	s, err := describeRev(ctx, run, rev)
	if err != nil {
		return err
	}
	switch rev.Kind {
	case state.IsVersion:
		return showVersion(ctx, run, rev, s)
	case state.IsComposition:
		c := rev.Composition
		names.HeadLine(run.Env, "composition "+c.Name, names.HashText(run.Env, rev.Hash))
		composed, err := checkout.Composed(ctx, run.DB, rev)
		if err != nil {
			return err
		}
		var parts [][]string
		for _, p := range composed.Parts {
			parts = append(parts, []string{names.SessionID(run.Env, p.Session) + ":" + p.Version,
				tokens.Commas(p.Tokens) + " tok", p.Period(), p.Title})
		}
		names.Fields(run.Env, "Part", parts)
		names.Field(run.Env, "Frame", tokens.Commas(c.Frame())+" tok")
		names.Field(run.Env, "Result", fmt.Sprintf("%s tok of %s, %s, shares %s", tokens.Commas(c.Tokens),
			tokens.Commas(c.Budget), term.Count(c.Messages, "message"), c.Strategy))
		names.Field(run.Env, "Date", run.DateText(c.Time))
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
func showOperation(ctx context.Context, run names.Run, rev state.Rev) error {
	names.HeadLine(run.Env, "commit "+rev.Commit, rev.How)
	all, err := revision.Operations(ctx, run.DB, rev.Project)
	if err != nil {
		return err
	}
	o := all[rev.Commit]
	if o == nil {
		return nil
	}
	names.Field(run.Env, "Project", rev.Project.Name)
	names.Field(run.Env, "Device", o.Entry.Name)
	names.Field(run.Env, "Date", run.DateText(o.Entry.Time))
	var sessions, versions [][]string
	for _, c := range o.Captured {
		sessions = append(sessions, []string{names.SessionID(run.Env, c.Session.ID),
			term.Count(c.Now.Scan.Messages, "message"), app.BytesText(c.Now.Size)})
	}
	for _, v := range o.Versions {
		versions = append(versions, []string{names.LabelFor(run.Env, v), names.ModeOf(v),
			tokens.Commas(v.TokensOut) + " tok"})
	}
	names.Fields(run.Env, "Session", sessions)
	names.Fields(run.Env, "Version", versions)
	for _, c := range o.Compositions {
		names.Field(run.Env, "Made", c.Name+", "+tokens.Commas(c.Tokens)+" tok")
	}
	return nil
}

// usedLine prints the sessions that used a thing, if there are any.
func usedLine(e *app.Env, r records.Rehearsal) {
	if len(r.By) == 0 {
		return
	}
	var by []string
	for _, id := range r.By {
		by = append(by, names.SessionID(e, id))
	}
	names.Field(e, "Used in", fmt.Sprintf("%s, last %s", strings.Join(by, ", "),
		e.Local(r.Last).Format("2 Jan 2006 15:04")))
}

// showSession prints a session: its metadata, versions, markers and exchanges.
func showSession(ctx context.Context, run names.Run, rev state.Rev) error {
	now := rev.Session.Now()
	names.HeadLine(run.Env, "session "+rev.Session.ID, names.HashText(run.Env, now.Original))
	if title := rev.Session.Title(); title != "" {
		names.Field(run.Env, "Title", title)
	}
	if len(rev.Session.Tags) > 0 {
		names.Field(run.Env, "Tags", strings.Join(rev.Session.Tags, ", "))
	}
	names.Field(run.Env, "Project", rev.Project.Name)
	if !now.Scan.First.IsZero() {
		names.Field(run.Env, "Date", run.SpanText(now.Scan.First, now.Scan.Last))
	}
	names.Field(run.Env, "Messages", fmt.Sprintf("%s (#N is line N of %s)", tokens.Commas(now.Scan.Messages),
		tokens.Commas(now.Scan.Values)))
	if n, ok := capture.TokensOf(run.DB, rev.Project.ID, rev.Session); ok {
		names.Field(run.Env, "Tokens", "~"+tokens.Commas(n))
	} else {
		names.Field(run.Env, "Tokens", "?")
	}
	names.Field(run.Env, "Size", app.BytesText(now.Size))
	if now.Scan.Branch != "" {
		names.Field(run.Env, "Branch", now.Scan.Branch)
	}
	if parent := rev.Session.Parent(); parent != "" {
		names.Field(run.Env, "Parent", parent)
	}
	st, err := trust.State(ctx, run.DB, rev.Project.ID)
	if err != nil {
		return err
	}
	if of := rev.Session.ForkOf(); of != "" {
		about := []string{records.ShortID(of)}
		if origin := st.Session(of); origin != nil {
			about = []string{records.ShortID(origin.ID), term.Quoted(origin.Title())}
		}
		names.Fields(run.Env, "Fork of", [][]string{about})
	}
	usedLine(run.Env, rev.Session.Used)
	used := st.Users(state.Rev{Kind: state.IsSession, Session: rev.Session})
	names.OptionalField(run.Env, "Used by", strings.Join(used, ", "))
	for i, p := range rev.Session.Earlier() {
		names.Field(run.Env, "Earlier", fmt.Sprintf("original@{%d}  %s, %s, captured %s", i+1,
			term.Count(p.Scan.Messages, "message"), app.BytesText(p.Size), run.Local(p.Time).Format("2 Jan 2006 15:04")))
	}
	var versions, marked [][]string
	for _, v := range st.VersionsOf(rev.Session.ID) {
		versions = append(versions, []string{v.Name(), names.ModeOf(v), tokens.Commas(v.TokensOut) + " tok",
			fmt.Sprintf("%.1f:1", v.Ratio)})
	}
	names.Fields(run.Env, "Version", versions)
	if len(rev.Session.Markers()) > 0 {
		marks, err := markers.Keepits(ctx, run.DB, rev)
		if err != nil {
			return err
		}
		for _, k := range marks {
			marked = append(marked, []string{k.ID, k.Mark.Weight.String(), fmt.Sprintf("#%d", k.Mark.Message),
				tokens.OneLine(k.Mark.Text, 60)})
		}
		names.Fields(run.Env, "Marker", marked)
	}
	return showExchanges(ctx, run, rev)
}
