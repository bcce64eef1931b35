package searchcmd

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/objects/strictjson"
)

// A hitAnswer is the JSON form of a hit, one a line.
type hitAnswer struct {
	Ref     string   `json:"ref"` // the revision for mem show
	Layer   string   `json:"layer"`
	Project string   `json:"project"`
	Session string   `json:"session,omitempty"`
	Title   string   `json:"title,omitempty"`
	Branch  string   `json:"branch,omitempty"`
	Message string   `json:"message,omitempty"` // its uuid
	N       int      `json:"n,omitempty"`
	To      int      `json:"to,omitempty"`      // the last message that the snippet comes from, if it is another one
	Request string   `json:"request,omitempty"` // of the exchange, if the hit is another message
	Role    string   `json:"role,omitempty"`
	Time    string   `json:"time,omitempty"`
	Score   float64  `json:"score"`
	Total   int      `json:"total"` // hits of the query without --number; with phrases and patterns at least
	Context bool     `json:"context,omitempty"`
	Tool    string   `json:"tool,omitempty"`
	File    string   `json:"file,omitempty"`
	Kind    string   `json:"kind,omitempty"` // of a fact or rule
	Keepit  string   `json:"keepit,omitempty"`
	Topics  []string `json:"topics,omitempty"`
	Count   int      `json:"count,omitempty"` // matches in the session or file
	Snippet string   `json:"snippet"`
	Matches [][2]int `json:"matches,omitempty"` // bytes of the snippet
}

// contextWidth is the approximate length in bytes of the part of a text whose lines --context prints.
const contextWidth = 2000

// hitAnswers returns the JSON forms of all hits of a query.
func hitAnswers(found search.Results) []hitAnswer {
	out := make([]hitAnswer, 0, len(found.Hits))
	for _, h := range found.Hits {
		a := searchAnswer(h)
		a.Total = found.Total
		out = append(out, a)
	}
	return out
}

func searchAnswer(h search.Hit) hitAnswer {
	s := h.Passage
	a := hitAnswer{
		Ref: HitName(h), Layer: layerOf(h.Doc.Class), Project: h.Project, N: h.Doc.N, Role: h.Doc.Class.Role(),
		Score: h.Score, Context: h.Context, Time: term.TimeText(h.Time()), Request: h.Request,
		File: h.Doc.File, Count: h.Count, Snippet: s.Text, Matches: s.Matches,
	}
	if h.To > h.From {
		a.To = h.To
	}
	if h.Session != nil {
		a.Session, a.Title, a.Branch, a.Topics = h.Session.ID, h.Session.Title, h.Session.Branch, h.Session.Topics
	}
	if h.Weight >= 0 {
		a.Keepit = keepit.Weight(h.Weight).String()
	}
	switch h.Doc.Class {
	case index.Fact, index.Rule:
		a.Kind = h.Doc.Name
	case index.Tool:
		a.Tool, a.Message = h.Doc.Name, h.Doc.ID
	case index.Version, index.Composition, index.Concept, index.ClaudeNote:
	default:
		a.Message = h.Doc.ID
	}
	return a
}

// HitName returns the revision of a hit, with the short id of its session: [mem show] prints what the hit shows.
func HitName(h search.Hit) string {
	session := ""
	if h.Session != nil {
		session = term.ShortID(h.Session.ID)
	}
	switch h.Doc.Class {
	case index.Fact, index.Rule:
		return h.Doc.ID
	case index.Concept, index.Composition, index.ClaudeNote:
		return h.Doc.Name
	case index.Version:
		return session + ":" + h.Doc.Name
	}
	name := session + "#" + strconv.Itoa(h.From)
	if h.To > h.From {
		name += ".." + strconv.Itoa(h.To)
	}
	return name
}

func layerOf(c index.Class) string {
	switch c {
	case index.Fact:
		return "L2"
	case index.Concept:
		return "L3"
	case index.Rule:
		return "L4"
	case index.Version:
		return "version"
	case index.Composition:
		return "composition"
	case index.ClaudeNote:
		return "Claude's note"
	}
	return "L1"
}

func jsonHits(e *app.Env, q search.Query, found search.Results) error {
	for _, a := range hitAnswers(found) {
		if err := printJSONLine(e, a); err != nil {
			return err
		}
	}
	return nil
}

func printHits(e *app.Env, o Options, q search.Query, found search.Results) error {
	if found.Hits[0].Loose {
		e.Note("no match for the whole phrase; these match some of its words")
	}
	if found.Phrase != "" {
		e.Note("only what was written %s", term.Quoted(found.Phrase))
	}
	if len(found.Missing) > 0 {
		var words []string
		for _, w := range found.Missing {
			words = append(words, term.Quoted(w))
		}
		e.Note("no text contains %s: searched for the other words", strings.Join(words, " or "))
	}
	if err := e.Page("search"); err != nil {
		return err
	}
	p := &HitPrinter{E: e, o: o, cut: search.NewSnippets(q)}
	switch {
	case o.list:
		for _, h := range found.Hits {
			e.Printf("%s\n", names.SessionID(e, h.Session.ID))
		}
	case e.Term.Stdout:
		p.forPeople(found.Hits)
		e.Note("%s", summary(q, found))
		return nil
	default:
		for _, h := range found.Hits {
			p.line(h)
		}
	}
	if len(found.Hits) < found.Total && !o.limited {
		e.Note("%s", summary(q, found))
	}
	return nil
}

// summary returns the numbers of hits and sessions, and how to list the other hits.
func summary(q search.Query, found search.Results) string {
	unit := map[search.Unit]string{search.BySession: "session", search.ByFile: "file"}[q.By]
	if unit == "" {
		unit = "hit"
	}
	text := term.Count(len(found.Hits), unit)
	cut := len(found.Hits) < found.Total
	if cut {
		text = tokens.Commas(len(found.Hits)) + " of "
		if found.AtLeast {
			text += "at least "
		}
		text += term.Count(found.Total, unit)
	}
	context, sessions := 0, map[string]bool{}
	for _, h := range found.Hits {
		if h.Context {
			context++
		}
		if h.Session != nil {
			sessions[h.Session.ID] = true
		}
	}
	if q.By != search.BySession {
		text += " in " + term.Count(len(sessions), "session")
	}
	if context > 0 && unit == "hit" {
		text += fmt.Sprintf(", %d as context", context)
	}
	if cut {
		text += "; -n 0 lists all"
	}
	return text
}

// A HitPrinter prints hits as text.
type HitPrinter struct {
	E   *app.Env
	o   Options
	cut *search.Snippets
}

// line prints a hit for scripts: name, time, role, request of the exchange, passage.
func (p *HitPrinter) line(h search.Hit) {
	name, who := HitName(h), p.Who(h)
	if h.File != "" {
		name += "\t" + term.SanitizeLine(h.File)
	}
	if h.Context {
		who += ",context"
	}
	p.E.Printf("%s\t%s\t%s\t%s\t%s\n", name, term.TimeText(h.Time()), who, term.SanitizeLine(h.Request), p.passage(h))
}

// Who returns the role or layer of a hit.
func (p *HitPrinter) Who(h search.Hit) string {
	switch c := h.Doc.Class; c {
	case index.Fact, index.Rule, index.Concept, index.Version, index.Composition, index.ClaudeNote:
		name := layerOf(c)
		if c == index.Fact || c == index.Rule {
			name += " " + h.Doc.Name
		}
		return term.SanitizeLine(name)
	case index.Tool:
		return "tool"
	default:
		return c.Role()
	}
}

// passage returns the passage of a hit on one line, or with --context the lines around the match, indented.
func (p *HitPrinter) passage(h search.Hit) string {
	if p.o.context == 0 {
		return p.paint(h.Passage, term.SanitizeLine)
	}
	s := p.paint(p.cut.Lines(h.Doc.Text, p.o.context, contextWidth), p.E.Safe)
	return "\n    " + strings.ReplaceAll(s, "\n", "\n    ")
}

// paint colours the matches of a snippet.
func (p *HitPrinter) paint(s search.Snippet, safe func(string) string) string {
	var b strings.Builder
	at := 0
	for _, m := range s.Matches {
		b.WriteString(safe(s.Text[at:m[0]]) + p.E.Style().Red(safe(s.Text[m[0]:m[1]])))
		at = m[1]
	}
	return b.String() + safe(s.Text[at:])
}

// leastSnippet is the width of a snippet on a narrow terminal, in columns.
const leastSnippet = 16

// fits returns the columns that a text has after others on a line; 0 is no limit.
func (p *HitPrinter) fits(others ...string) int {
	width := p.E.Width()
	if width <= 0 {
		return 0
	}
	for _, s := range others {
		width -= app.Columns(s)
	}
	return max(width, leastSnippet)
}

// forPeople prints hits grouped by session, in the order of the best hit of each.
func (p *HitPrinter) forPeople(hits []search.Hit) {
	var order []string
	of := map[string][]search.Hit{}
	for _, h := range hits {
		id := ""
		if h.Session != nil {
			id = h.Session.ID
		}
		if of[id] == nil {
			order = append(order, id)
		}
		of[id] = append(of[id], h)
	}
	for _, id := range order {
		if s := of[id][0].Session; s != nil {
			p.heading(s)
		}
		for _, h := range of[id] {
			p.hit(h)
		}
	}
}

// heading prints the line of a session.
func (p *HitPrinter) heading(s *index.Session) {
	id, ago, title := term.ShortID(s.ID), app.Ago(p.E.Now(), time.Unix(s.Last, 0)), term.Quoted(s.Title)
	if width := p.fits(id, "   ", ago); width > 0 {
		title = app.Cut(title, width)
	}
	p.E.Printf("%s %s  %s\n", p.E.Style().Yellow(id), title, p.E.Style().Dim(ago))
}

// hit prints a hit below the line of its session: its name and request, and the passage below, in lines that fit.
func (p *HitPrinter) hit(h search.Hit) {
	name, who := HitName(h), p.Who(h)
	if _, n, ok := strings.Cut(name, "#"); ok && h.Session != nil {
		name = "#" + n
	}
	if h.File != "" {
		name += " " + term.SanitizeLine(h.File)
	}
	if h.Context {
		who += " (context)"
	}
	request := term.SanitizeLine(h.Request)
	if width := p.fits("     ", name, who); width > 0 {
		request = app.Cut(request, width)
	}
	p.E.Printf("  %s %s  %s\n", p.E.Style().Cyan(name), who, p.E.Style().Dim(request))
	if p.o.context > 0 {
		p.E.Printf("%s\n", strings.TrimPrefix(p.passage(h), "\n"))
		return
	}
	for _, line := range wrap(h.Passage, p.fits("    ")) {
		p.E.Printf("    %s\n", p.paint(line, term.SanitizeLine))
	}
}

// wrap divides a snippet into lines of at most width columns, 0 for no limit. A longer word has a line of its own.
func wrap(s search.Snippet, width int) (out []search.Snippet) {
	start := 0
	for start < len(s.Text) {
		end := len(s.Text)
		if width > 0 && app.Columns(s.Text[start:]) > width {
			end = start
			for end < len(s.Text) {
				next := len(s.Text)
				if k := strings.IndexByte(s.Text[end+1:], ' '); k >= 0 {
					next = end + 1 + k
				}
				if end > start && app.Columns(s.Text[start:next]) > width {
					break
				}
				end = next
			}
		}
		line := search.Snippet{Text: s.Text[start:end]}
		for _, m := range s.Matches {
			if from, to := max(m[0], start), min(m[1], end); from < to {
				line.Matches = append(line.Matches, [2]int{from - start, to - start})
			}
		}
		out = append(out, line)
		for start = end; start < len(s.Text) && s.Text[start] == ' '; start++ {
		}
	}
	return out
}

// printJSONLine prints v on one line, also on a terminal: a line is one hit, or the answer to one query.
func printJSONLine(e *app.Env, v any) error {
	b, err := strictjson.Line(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	_, err = e.Out.Write(term.EscapeJSON(b))
	return err
}
