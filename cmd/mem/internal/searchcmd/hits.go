package searchcmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/view"
	"github.com/memvcs/mem/objects"
)

// contextWidth is the approximate length in bytes of the part of a text whose lines --context prints.
const contextWidth = 2000

func jsonHits(e *app.Env, found search.Results) error {
	for _, h := range view.Hits(found) {
		if err := printJSONLine(e, h); err != nil {
			return err
		}
	}
	return nil
}

func printHits(e *app.Env, o Options, q search.Query, place string, found search.Results) error {
	if found.Hits[0].Loose {
		e.Note("no match for the whole phrase; these match some of its words")
	}
	notes(e, q, found, place)
	if q.Filter.Pending != 0 && !o.Open {
		e.Note("only what %s; put words in double quotes to look for them", map[search.Pending]string{
			search.Open: "is open, as with --open", search.Rejected: "the user rejected"}[q.Filter.Pending])
	}
	e.Page("search")
	p := &hitPrinter{e: e, o: o, cut: search.NewSnippets(q)}
	switch {
	case o.list:
		for _, h := range found.Hits {
			e.Printf("%s\n", app.SessionID(e, h.Session.ID))
		}
	case e.Term.Stdout:
		p.forPeople(found.Hits)
		e.Note("%s", summary(q, place, found))
		return nil
	default:
		for _, h := range found.Hits {
			p.line(h)
		}
	}
	if len(found.Hits) < found.Total && !o.limited {
		e.Note("%s", summary(q, place, found))
	}
	return nil
}

// notes says how a query was read.
func notes(e *app.Env, q search.Query, found search.Results, place string) {
	if q.Common {
		e.Note("only common words: searched for the phrase %s", term.Quoted(q.Phrases[0]))
	}
	for _, text := range found.Notes(place) {
		e.Note("%s", term.SanitizeLine(text))
	}
}

// counted returns the numbers of all hits and their sessions.
func counted(q search.Query, found search.Results) string {
	return total(q, found) + inSessions(q, found)
}

// total returns the number of all hits, which is not exact if some were left out.
func total(q search.Query, found search.Results) string {
	text := term.Count(found.Total, unitOf(q, found))
	if found.AtLeast && len(found.Hits) < found.Total {
		text = "at least " + text
	}
	return text
}

// unitOf returns the name of what is counted.
func unitOf(q search.Query, found search.Results) string {
	unit := map[search.Unit]string{search.BySession: "session", search.ByFile: "file"}[q.By]
	if unit == "" {
		unit = "hit"
		if found.InAll > 0 {
			unit = "exchange"
		}
	}
	return unit
}

// inSessions returns the number of sessions that have the hits, "" if these are sessions.
func inSessions(q search.Query, found search.Results) string {
	if q.By == search.BySession {
		return ""
	}
	sessions := map[string]bool{}
	for _, h := range found.Hits {
		if h.Session != nil {
			sessions[h.Session.ID] = true
		}
	}
	return " in " + term.Count(max(len(sessions), found.InAll), "session")
}

// summary returns the numbers of hits and sessions of the place, and how to list the other hits.
func summary(q search.Query, place string, found search.Results) string {
	text := total(q, found)
	cut := len(found.Hits) < found.Total
	if cut {
		text = tokens.Commas(len(found.Hits)) + " of " + text
	}
	context := 0
	for _, h := range found.Hits {
		if h.Context {
			context++
		}
	}
	text += inSessions(q, found) + " of " + place
	if context > 0 && q.By == search.ByMessage {
		text += fmt.Sprintf(", %d as context", context)
	}
	if cut {
		text += "; -n 0 lists all"
	}
	return text
}

// A hitPrinter prints hits as text.
type hitPrinter struct {
	e   *app.Env
	o   Options
	cut *search.Snippets
}

// authorOf returns the author of a hit.
func authorOf(h search.Hit) string { return term.SanitizeLine(view.HitOf(h).Who()) }

// line prints a hit for scripts: name, time, role, request of the exchange, passage.
func (p *hitPrinter) line(h search.Hit) {
	name, who := view.RefOf(h), authorOf(h)
	if h.File != "" {
		name += "\t" + term.SanitizeLine(h.File)
	}
	if h.Context {
		who += ",context"
	}
	changed := view.HitOf(h).Changed
	if changed != "" {
		changed = " (changed later in " + changed + ")"
	}
	p.e.Printf("%s\t%s\t%s\t%s\t%s%s\n", name, term.TimeText(h.Time()), who, term.SanitizeLine(h.Request), p.passage(h), changed)
}

// passage returns the passage of a hit on one line, or with --context the lines around the match, indented.
func (p *hitPrinter) passage(h search.Hit) string {
	if p.o.context == 0 {
		return p.paint(h.Passage, term.SanitizeLine)
	}
	s := p.paint(p.cut.Lines(h.Doc.Text, p.o.context, contextWidth), p.e.Safe)
	return "\n    " + strings.ReplaceAll(s, "\n", "\n    ")
}

// paint colours the matches of a snippet.
func (p *hitPrinter) paint(s search.Snippet, safe func(string) string) string {
	var b strings.Builder
	at := 0
	for _, m := range s.Matches {
		b.WriteString(safe(s.Text[at:m[0]]) + p.e.Style().Red(safe(s.Text[m[0]:m[1]])))
		at = m[1]
	}
	return b.String() + safe(s.Text[at:])
}

// leastSnippet is the width of a snippet on a narrow terminal, in columns.
const leastSnippet = 16

// fits returns the columns that a text has after others on a line; 0 is no limit.
func (p *hitPrinter) fits(others ...string) int {
	width := p.e.Width()
	if width <= 0 {
		return 0
	}
	for _, s := range others {
		width -= app.Columns(s)
	}
	return max(width, leastSnippet)
}

// forPeople prints hits grouped by session, in the order of the best hit of each.
func (p *hitPrinter) forPeople(hits []search.Hit) {
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
func (p *hitPrinter) heading(s *index.Session) {
	id, ago, title := term.ShortID(s.ID), app.Ago(p.e.Now(), time.Unix(s.Last, 0)), ""
	if s.Title != "" {
		title = " " + term.Quoted(s.Title)
	}
	if width := p.fits(id, "   ", ago); width > 0 {
		title = app.Cut(title, width)
	}
	p.e.Printf("%s%s  %s\n", p.e.Style().Yellow(id), title, p.e.Style().Dim(ago))
}

// hit prints a hit below the line of its session: its name and request, and the passage below, in lines that fit.
func (p *hitPrinter) hit(h search.Hit) {
	name, who := view.RefOf(h), authorOf(h)
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
	p.e.Printf("  %s %s  %s\n", p.e.Style().Cyan(name), who, p.e.Style().Dim(request))
	if c := view.HitOf(h).Changed; c != "" {
		p.e.Printf("    changed later in %s\n", c)
	}
	if p.o.context > 0 {
		p.e.Printf("%s\n", strings.TrimPrefix(p.passage(h), "\n"))
		return
	}
	for _, line := range wrap(h.Passage, p.fits("    ")) {
		p.e.Printf("    %s\n", p.paint(line, term.SanitizeLine))
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
	b, err := objects.JSONLine(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	_, err = e.Out.Write(term.EscapeJSON(b))
	return err
}
