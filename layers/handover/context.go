package handover

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/notes"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// ContextOptions describe the session that gets a context.
type ContextOptions struct {
	Session   string // its ID; a context does not mention it
	Dir       string // its working directory
	Program   string // this program in a command line
	Limit     int    // in UTF-16 units
	Decay     keepit.Decay
	Delivered map[string]bool // keys that the session has got already
	Late      func() bool     // reports whether to stop reading sessions; nil never stops
	Behind    int             // files of the project that are not captured yet
	Dropped   bool            // with the lines that the user dropped
}

// A Given is a text for a session, with its sources.
type Given struct {
	Text string
	Used []string // the sessions it mentions, the newest first
	Told []brief.WrittenLine
	Left int // sessions that still lack a digest

	Units int      // UTF-16 units of Text
	Hash  string   // of Text, keyed by this device
	Keys  []string // of passages that must not be delivered twice
	// what the session is told before it acts; only of a context
	Actions []Action
	Lines   []Line
}

// A Line describes a line of a handed-over text, without the text. JSON is its format in the log of hand-overs.
type Line struct {
	Section string `json:"section"`
	Source  string `json:"source,omitempty"`
	Said    string `json:"said,omitempty"` // by whom: user, assistant, plan, script or tool
	Hash    string `json:"hash"`           // of the line, keyed by this device
}

// give lays out a sheet as text, without what the user dropped; st may be nil.
func give(db *state.DB, st *state.State, s brief.Sheet, limit int) (g Given) {
	s.Dropped = dropped(st)
	g.Text, g.Told = brief.Write(s, limit, db.Refs.MAC)
	if g.Text == "" {
		return g
	}
	g.Units, g.Hash = brief.Units(g.Text), db.Refs.MAC(g.Text)
	for _, t := range g.Told {
		l := Line{Section: t.Section, Source: t.Source, Hash: db.Refs.MAC(t.Line)}
		if !t.Always {
			l.Said = t.Author()
		}
		g.Lines = append(g.Lines, l)
		g.Keys = append(g.Keys, t.Keys...)
	}
	return g
}

// How many entries of a kind a context lists. A command prints the rest.
const (
	contextIssues    = 20
	contextDecisions = 8
)

// Context returns the context for the start of a session of the project p, inside one fence, or no text if there is
// nothing to say. The same state gives the same text. It contains nothing that comes only from tools, files, the web or
// scripts.
func Context(ctx context.Context, db *state.DB, p state.Project, o ContextOptions) (Given, error) {
	b, err := newBriefing(ctx, db, p, o)
	if err != nil {
		return Given{}, err
	}
	if len(b.sessions) == 0 && len(b.known.Exchanges) == 0 && len(b.rules.Rules) == 0 {
		return Given{}, nil
	}
	left, err := b.digest(ctx, p)
	if err != nil {
		return Given{}, err
	}
	from := b.st
	if o.Dropped {
		from = nil
	}
	out := Given{}
	for detail := MostDetail; detail >= 0; detail-- { // room that is left is for how exchanges ended
		if out = give(db, from, b.sheet(p, detail), o.Limit); out.Units <= o.Limit*3/4 {
			break
		}
	}
	out.Left, out.Actions = left, b.actions()
	for _, s := range b.sessions {
		if strings.Contains(out.Text, records.ShortID(s.ID)) { // not if the limit cut it
			out.Used = append(out.Used, s.ID)
		}
	}
	return out, nil
}

// sheet returns the sections of a context, the most important first.
func (b *briefing) sheet(p state.Project, detail int) brief.Sheet {
	pins, index := b.pinItems(), b.index()
	mem := "mem " // the index says where it is
	if len(index) == 0 {
		mem = b.o.Program + " "
	}
	sections := slices.Concat(b.stated(mem), unpinned(Start(b.digests, detail), pins), []brief.Section{
		{Title: "Open issues", Items: b.issueItems(), MaxUnits: 600, Rank: 1, More: mem + "facts list --open"},
		{Title: "Decisions", Items: b.decisionItems(), MaxUnits: 700, Rank: 1, More: mem + "facts list"},
		{Title: "Not done yet", Items: b.behindItems()},
		{Title: "More", Items: index},
	})
	sections = b.againstNotes(sections)
	return brief.Sheet{Project: cmp.Or(b.st.Name, p.Name), Sections: sections,
		More: fmt.Sprintf("`%sls` lists the sessions.", mem)}
}

// stated returns the rules and the pinned texts; mem is the program in the commands that list them.
func (b *briefing) stated(mem string) []brief.Section {
	return []brief.Section{
		{Title: "Rules", Stated: true, Items: b.ruleItems(), MaxUnits: 800, More: mem + "rules list"},
		{Title: "Pinned by the user, word for word", Stated: true, Items: b.pinItems(), MaxUnits: 1000, More: mem + "keepit list"},
	}
}

// pinnedStart is how much of a pinned text is compared.
const pinnedStart = 32

// unpinned removes from the words of the user those that are pinned: no text is there twice.
func unpinned(sections []brief.Section, pins []brief.Item) []brief.Section {
	for i, s := range sections {
		if s.Title != wantsTitle {
			continue
		}
		sections[i].Items = slices.DeleteFunc(s.Items, func(it brief.Item) bool {
			return slices.ContainsFunc(pins, func(p brief.Item) bool {
				text := strings.Join(strings.Fields(p.Text), " ")
				return strings.Contains(it.Text, strings.ToValidUTF8(text[:min(len(text), pinnedStart)], ""))
			})
		})
	}
	return sections
}

// A briefing is the input of a context.
type briefing struct {
	m        *state.DB
	o        ContextOptions
	st       *state.State
	known    *facts.Set
	rules    *permanent.Set
	notes    []*notes.File    // of Claude
	sessions []*state.Session // the newest first, without the one that gets the context
	digests  []Digest         // of the newest sessions, the newest first
}

// newBriefing reads what memory knows of a project, without digests.
func newBriefing(ctx context.Context, db *state.DB, p state.Project, o ContextOptions) (*briefing, error) {
	b := &briefing{m: db, o: o}
	var err error
	if b.st, err = trust.Outline(ctx, db, p.ID); err != nil {
		return nil, err
	}
	all, err := trust.Known(ctx, db, p.ID)
	if err != nil {
		return nil, err
	}
	b.known, b.rules = all.Facts, all.Rules
	b.notes, err = notes.Files(ctx, db, p.ID)
	b.sessions = b.recent()
	return b, err
}

// recent returns the sessions that a context may mention, the newest first. Other branches of its own session have the same
// beginning, and are not mentioned.
func (b *briefing) recent() []*state.Session {
	out := slices.DeleteFunc(slices.Clone(b.st.Sessions), func(s *state.Session) bool {
		return s.FileID() == b.o.Session || !s.Shown() || s.Parent() != "" || s.Now().Scan.Messages == 0
	})
	slices.SortFunc(out, func(a, c *state.Session) int {
		return cmp.Or(c.Now().Ended().Compare(a.Now().Ended()), strings.Compare(a.ID, c.ID))
	})
	return out
}

// trustOf converts the trust of a fact or a rule.
func trustOf(t facts.Trust) brief.Trust {
	switch t {
	case facts.User:
		return brief.User
	case facts.Assistant:
		return brief.Assistant
	}
	return brief.Tool
}

func (b *briefing) ruleItems() []brief.Item {
	rules := b.rules.InForce()
	slices.SortStableFunc(rules, func(x, y *permanent.Rule) int {
		return cmp.Or(cmp.Compare(y.Trust, x.Trust), cmp.Compare(y.Confidence, x.Confidence), cmp.Compare(x.ID, y.ID))
	})
	var out []brief.Item
	for _, r := range rules {
		text := r.Text
		if r.Problem != "" {
			text = r.Problem + " -> " + r.Text
		}
		out = append(out, brief.Item{Text: text, Source: fmt.Sprintf("%s, confidence %d%%", r.ID, r.Confidence),
			Trust: trustOf(r.Trust), Time: r.LastValidated})
	}
	return out
}

func (b *briefing) factItem(f facts.Fact) brief.Item {
	source := f.ID
	if f.Session != "" {
		source += " of " + records.ShortID(f.Session)
	}
	return brief.Item{Text: f.Shown(), Source: source, Trust: trustOf(f.Trust), Time: f.Time}
}

// newestFacts returns trusted facts that want accepts, the newest first, without duplicates.
func (b *briefing) newestFacts(most int, want func(*facts.Fact) bool) []facts.Fact {
	var out []facts.Fact
	for f := range b.known.All() {
		if f.Live() && f.Shown() != "" && f.Trust >= facts.Assistant && want(f) {
			out = append(out, *f)
		}
	}
	slices.SortFunc(out, func(x, y facts.Fact) int { return cmp.Or(y.Time.Compare(x.Time), cmp.Compare(x.ID, y.ID)) })
	out = facts.Distinct(out)
	return out[:min(most, len(out))]
}

func (b *briefing) issueItems() (out []brief.Item) {
	for _, f := range b.newestFacts(contextIssues, func(f *facts.Fact) bool { return f.Open() }) {
		out = append(out, b.factItem(f))
	}
	return out
}

// decisionItems lists the newest decisions, solutions and preferences.
func (b *briefing) decisionItems() (out []brief.Item) {
	for _, f := range b.newestFacts(contextDecisions, func(f *facts.Fact) bool {
		return f.Kind == facts.Decision || f.Kind == facts.Solution || f.Kind == facts.Preference
	}) {
		it := b.factItem(f)
		it.Text, it.Why = string(f.Kind)+": "+it.Text, "one of the newest"
		out = append(out, it)
	}
	return out
}

// behindItems says how much of the project is not captured yet.
func (b *briefing) behindItems() []brief.Item {
	if b.o.Behind == 0 {
		return nil
	}
	return []brief.Item{{Always: true, Text: records.Numbered(b.o.Behind, "changed session file of this project is", "changed session files of this project are") +
		" being captured in the background; what is told here does not know them yet."}}
}

// index returns one line with the commands that print more, the first with the program.
func (b *briefing) index() []brief.Item {
	var ask []string
	if n := len(b.sessions); n > 0 {
		ask = append(ask, fmt.Sprintf("search WORDS` (%s)", times(n, "session")), "show ID#N`")
	}
	if n := len(b.known.Live()); n > 0 {
		ask = append(ask, fmt.Sprintf("search --in facts WORDS` (%s)", times(n, "fact")))
	}
	if len(ask) == 0 {
		return nil
	}
	return []brief.Item{{Text: "`" + b.o.Program + " " + strings.Join(ask, ", `mem "), Always: true, More: true, Why: "how to ask for more"}}
}
