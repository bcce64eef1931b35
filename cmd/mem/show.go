package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/history"
	bodies "github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
)

type showOptions struct {
	format   string
	manifest bool
	raw      bool
}

// show is the command that prints what a revision names.
func (e *Env) show() *cli.Command {
	var o showOptions
	return &cli.Command{
		Name:      "show",
		Usage:     "print a session, version, layer, message range or composition",
		ArgsUsage: "[<rev>]",
		Description: "Without a revision it is the newest session of the project. --format text, md and jsonl print the content alone;\n" +
			"without it what is known of the thing comes first. See \"mem help revisions\".",
		Flags: []*cli.Flag{
			cli.Choice(&o.format, "format", "print the content alone, as `FORM`: text, md, jsonl, or lean for a shorter L1", "text", "md", "jsonl", "lean"),
			cli.Bool(&o.manifest, "manifest", "print the project as the seeds' manifest.json"),
			cli.Bool(&o.raw, "raw", "do not make the text safe for a terminal"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			most := 1
			if o.manifest {
				most = 0
			}
			if err := e.wantOperands(c, 0, most); err != nil {
				return err
			}
			rev := "@"
			if len(e.operands) > 0 {
				rev = e.operand(0)
			}
			return e.runShow(ctx, o, rev)
		},
	}
}

func (e *Env) runShow(ctx context.Context, o showOptions, name string) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		if o.manifest {
			return e.showManifest(ctx, m, sc)
		}
		rev, err := e.resolve(ctx, m, sc, name)
		if err != nil {
			return err
		}
		if err := m.Trusted().MayHand(ctx, rev); errors.Is(err, trust.ErrRevoked) || errors.Is(err, trust.ErrUntrusted) {
			e.warn("%v", err)
		} else if err != nil {
			return err
		}
		if rev.Kind == state.IsConcept && o.format == "" {
			return e.showConcept(ctx, m, rev.Project, rev.Concept)
		}
		if rev.Kind == state.IsRule && o.format == "" {
			return e.showRule(ctx, m, rev.Project, rev.Rule)
		}
		if e.opt.json {
			return e.showJSON(ctx, m, rev)
		}
		if err := e.page("show"); err != nil {
			return err
		}
		unformatted := o.format == ""
		if unformatted {
			if err := e.showHead(ctx, m, rev); err != nil {
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
		w := e.outlet()
		if o.raw {
			w = e.out
		}
		if rev.Kind == state.IsMessages && unformatted {
			return storeError(writeTurns(ctx, m, rev, w))
		}
		err = m.Checkout().Write(ctx, rev, checkout.Format(o.format), w)
		if errors.Is(err, revision.ErrLayer) {
			return withHint(err, shell("mem", "show", name+":L1", "--format", "lean"))
		}
		return storeError(err)
	})
}

func (e *Env) showManifest(ctx context.Context, m *layers.Memory, sc state.Scope) error {
	conf, err := e.settings()
	if err != nil {
		return err
	}
	preset, err := conf.String("defaults.compressionPreset")
	if err != nil {
		return err
	}
	auto, err := conf.Bool("defaults.autoRegisterSessions")
	if err != nil {
		return err
	}
	decay, err := conf.Bool("defaults.keepitDecayEnabled")
	if err != nil {
		return err
	}
	man, err := m.History().Manifest(ctx, sc.Project, history.ManifestSettings{Preset: preset, AutoRegister: auto, Decay: decay})
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(man, "", "  ")
	if err != nil {
		return err
	}
	return e.writeJSON(append(escapeJSON(b), '\n'))
}

// A shown is a thing as show --json prints it.
type shown struct {
	Kind        string              `json:"kind"`
	Hash        string              `json:"hash,omitempty"`
	Project     string              `json:"project,omitempty"`
	Session     string              `json:"session,omitempty"`
	Title       string              `json:"title,omitempty"`
	Messages    int                 `json:"messages,omitempty"`
	Bytes       int64               `json:"bytes,omitempty"`
	Tokens      *int                `json:"tokens,omitempty"` // of a session, if they have been counted
	From        int                 `json:"from,omitempty"`   // of a message range
	To          int                 `json:"to,omitempty"`
	Time        string              `json:"time,omitempty"` // when it was made
	First       string              `json:"first,omitempty"`
	Last        string              `json:"last,omitempty"`
	Label       string              `json:"label,omitempty"`
	UsedBy      []string            `json:"used_by,omitempty"`
	UsedIn      []string            `json:"usedInSessions,omitempty"`
	Accessed    string              `json:"lastAccessed,omitempty"` // by one of those sessions
	Version     *bodies.Version     `json:"version,omitempty"`
	Keepits     []fateAnswer        `json:"keepits,omitempty"` // of a version: what became of the markers
	Composition *bodies.Composition `json:"composition,omitempty"`
	Commit      string              `json:"commit,omitempty"`
	Earlier     []earlierAnswer     `json:"earlier,omitempty"` // of a session whose file was rewritten
	Branch      string              `json:"branch,omitempty"`
	Versions    []versionAnswer     `json:"versions,omitempty"` // of a session
	Markers     []keepitAnswer      `json:"markers,omitempty"`  // of a session
	Content     string              `json:"content,omitempty"`  // of L1 and L2, and of messages
}

// An earlierAnswer is how a session was before its file was rewritten.
type earlierAnswer struct {
	Name     string `json:"name"` // original@{1}
	Hash     string `json:"hash"`
	Messages int    `json:"messages"`
	Bytes    int64  `json:"bytes"`
	Captured string `json:"captured"`
}

func earlierOf(s *state.Session) (out []earlierAnswer) {
	for i, p := range s.Earlier() {
		out = append(out, earlierAnswer{fmt.Sprintf("original@{%d}", i+1), p.Original.String(), p.Scan.Messages, p.Size, timeText(p.Time)})
	}
	return out
}

func (e *Env) describeRev(ctx context.Context, m *layers.Memory, rev state.Rev) (shown, error) {
	s := shown{Kind: string(rev.Kind), Project: rev.Project.Name, Version: rev.Version, Composition: rev.Composition, Commit: rev.Commit, From: rev.From, To: rev.To}
	if !rev.Hash.IsZero() {
		s.Hash = rev.Hash.String()
	}
	if rev.Session != nil {
		now := cmp.Or(rev.Point, rev.Session.Now())
		s.Session, s.Title, s.Messages, s.Bytes = rev.Session.ID, rev.Session.Title(), now.Scan.Messages, now.Size
		if rev.Kind == state.IsSession {
			s.Tokens, s.Earlier = counted(m.Capture().TokensOf(rev.Project.ID, rev.Session)), earlierOf(rev.Session)
		}
		s.First, s.Last = timeText(now.Scan.First), timeText(now.Scan.Last)
		s.UsedIn, s.Accessed = rev.Session.Used.By, timeText(rev.Session.Used.Last)
	}
	if rev.Version != nil {
		st, err := m.Trusted().State(ctx, rev.Project.ID)
		if err != nil {
			return s, err
		}
		s.Label, s.UsedBy, s.Time = rev.Version.Label, st.UsedBy(rev.Version), timeText(rev.Version.Time)
		s.UsedIn, s.Accessed = rev.Version.Used.By, timeText(rev.Version.Used.Last)
		if rev.Version.Since != "" {
			if s.From, s.To, err = rev.Covers(); err != nil {
				return s, err
			}
		}
	}
	if rev.Composition != nil {
		s.Time = timeText(rev.Composition.Time)
		s.UsedIn, s.Accessed = rev.Composition.Used.By, timeText(rev.Composition.Used.Last)
	}
	return s, nil
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func (e *Env) showJSON(ctx context.Context, m *layers.Memory, rev state.Rev) error {
	s, err := e.describeRev(ctx, m, rev)
	if err != nil {
		return err
	}
	if rev.Kind == state.IsVersion {
		fates, err := m.Markers().Fates(ctx, rev)
		if err != nil {
			return err
		}
		s.Keepits = fatesOf(fates)
	}
	if err := e.describeContent(ctx, m, rev, &s); err != nil {
		return err
	}
	return e.printJSON("show", s)
}

// describeContent adds to a session its versions and markers, and to L1, L2 and messages what they hold.
func (e *Env) describeContent(ctx context.Context, m *layers.Memory, rev state.Rev, s *shown) error {
	switch rev.Kind {
	case state.IsSession:
		s.Branch = rev.Session.Now().Scan.Branch
		st, err := m.Trusted().Outline(ctx, rev.Project.ID)
		if err != nil {
			return err
		}
		strangers, err := e.strangers(ctx, m)
		if err != nil {
			return err
		}
		for _, v := range st.OwnVersionsOf(rev.Session) {
			s.Versions = append(s.Versions, versionAnswerOf(st, v, strangers))
		}
		if len(rev.Session.Markers()) == 0 {
			return nil
		}
		marks, err := m.Markers().Keepits(ctx, rev)
		for _, k := range marks {
			s.Markers = append(s.Markers, keepitAnswerOf(rev.Session, k))
		}
		return err
	case state.IsL1, state.IsL2, state.IsMessages:
		var b strings.Builder
		err := storeError(m.Checkout().Write(ctx, rev, checkout.JSONL, &b))
		s.Content = b.String()
		return err
	}
	return nil
}

// showHead prints what is known of a thing before its content.
func (e *Env) showHead(ctx context.Context, m *layers.Memory, rev state.Rev) error {
	s, err := e.describeRev(ctx, m, rev)
	if err != nil {
		return err
	}
	switch rev.Kind {
	case state.IsVersion:
		return e.showVersion(ctx, m, rev, s)
	case state.IsComposition:
		c := rev.Composition
		e.headLine("composition "+c.Name, "b3:"+rev.Hash.Short())
		for _, p := range c.Parts {
			e.field("Part", fmt.Sprintf("%s:%s  %s tok", shortID(p.Session), p.Label, tokens.Commas(p.Tokens)))
		}
		e.field("Frame", tokens.Commas(c.Frame())+" tok")
		e.field("Result", fmt.Sprintf("%s tok of %s, %s, shares %s", tokens.Commas(c.Tokens), tokens.Commas(c.Budget), count(c.Messages, "message"), c.Strategy))
		e.field("Date", e.dateText(c.Time))
		e.usedLine(c.Used)
		e.printf("\n")
	case state.IsSession:
		return e.showSession(ctx, m, rev)
	case state.IsFact:
		return e.showFact(ctx, m, rev.Project, *rev.Fact)
	case state.IsCommit:
		e.headLine("commit "+rev.Commit, rev.How)
	}
	return nil
}

func (e *Env) headLine(what, more string) {
	e.printf("%s   %s\n", e.style().yellow(e.safe(what)), e.safe(more))
}

func (e *Env) field(name, value string) { e.printf("%-9s %s\n", name+":", e.safe(value)) }

// usedLine says in which sessions a thing was used, if in any.
func (e *Env) usedLine(r bodies.Rehearsal) {
	if len(r.By) == 0 {
		return
	}
	var by []string
	for _, id := range r.By {
		by = append(by, shortID(id))
	}
	e.field("Used in", fmt.Sprintf("%s, last %s", strings.Join(by, ", "), e.local(r.Last).Format("2 Jan 2006 15:04")))
}

// modeOf writes how a version was made: "uniform 30:1 aggressive", "tiered standard", "of v001, uniform 30:1 aggressive".
func modeOf(v *bodies.Version) string {
	switch {
	case v.Source != "":
		return "of " + v.Source + ", " + recipeOf(v.Settings)
	case v.Since != "":
		return "since " + v.Since + ", " + recipeOf(v.Settings)
	}
	return recipeOf(v.Settings)
}

func recipeOf(s bodies.VersionSettings) string {
	switch {
	case s.Tiers != "":
		return "tiered " + s.Tiers
	case s.Preset != "":
		return "tiered " + s.Preset
	case s.Ratio > 0:
		return fmt.Sprintf("uniform %d:1 %s", s.Ratio, s.Aggressiveness)
	}
	return fmt.Sprintf("uniform %s tokens %s", tokens.Commas(s.Tokens), s.Aggressiveness)
}

// showSession prints a session: its facts, its versions, its markers.
func (e *Env) showSession(ctx context.Context, m *layers.Memory, rev state.Rev) error {
	now := rev.Session.Now()
	e.headLine("session "+rev.Session.ID, "b3:"+now.Original.Short())
	if title := rev.Session.Title(); title != "" {
		e.field("Title", title)
	}
	if len(rev.Session.Tags) > 0 {
		e.field("Tags", strings.Join(rev.Session.Tags, ", "))
	}
	e.field("Project", rev.Project.Name)
	if !now.Scan.First.IsZero() {
		e.field("Date", e.spanText(now.Scan.First, now.Scan.Last))
	}
	e.field("Messages", tokens.Commas(now.Scan.Messages))
	if n, ok := m.Capture().TokensOf(rev.Project.ID, rev.Session); ok {
		e.field("Tokens", "~"+tokens.Commas(n))
	} else {
		e.field("Tokens", "?")
	}
	e.field("Size", bytesText(now.Size))
	if now.Scan.Branch != "" {
		e.field("Branch", now.Scan.Branch)
	}
	if parent := rev.Session.Parent(); parent != "" {
		e.field("Parent", parent)
	}
	st, err := m.Trusted().State(ctx, rev.Project.ID)
	if err != nil {
		return err
	}
	e.usedLine(rev.Session.Used)
	for i, p := range rev.Session.Earlier() {
		e.field("Earlier", fmt.Sprintf("original@{%d}  %s, %s, captured %s", i+1, count(p.Scan.Messages, "message"), bytesText(p.Size), e.local(p.Time).Format("2 Jan 2006 15:04")))
	}
	for _, v := range st.OwnVersionsOf(rev.Session) {
		e.field("Version", fmt.Sprintf("%s  %s  %s tok  %.1f:1", v.Name(), modeOf(v), tokens.Commas(v.TokensOut), v.Ratio))
	}
	if len(rev.Session.Markers()) > 0 {
		marks, err := m.Markers().Keepits(ctx, rev)
		if err != nil {
			return err
		}
		for _, k := range marks {
			e.field("Keepit", fmt.Sprintf("%s  %s  #%d  %s", k.ID, k.Mark.Weight, k.Mark.Message, firstWords(k.Mark.Text, 60)))
		}
	}
	return e.showExchanges(ctx, m, rev)
}
