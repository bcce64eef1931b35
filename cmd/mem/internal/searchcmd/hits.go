package searchcmd

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/search/index"
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
	Role    string   `json:"role,omitempty"`
	Time    string   `json:"time,omitempty"`
	Score   float64  `json:"score"`
	Tool    string   `json:"tool,omitempty"`
	File    string   `json:"file,omitempty"`
	Kind    string   `json:"kind,omitempty"` // of a fact or rule
	Keepit  string   `json:"keepit,omitempty"`
	Topics  []string `json:"topics,omitempty"`
	Count   int      `json:"count,omitempty"` // matches in the session or file
	Snippet string   `json:"snippet"`
	Matches [][2]int `json:"matches,omitempty"` // bytes of the snippet
}

// snippetWidth is the approximate length of a snippet in bytes.
const snippetWidth = 200

func searchAnswer(h search.Hit, cut *search.Snippets) hitAnswer {
	s := cut.Line(h.Doc.Text, snippetWidth)
	a := hitAnswer{
		Ref: HitName(h), Layer: layerOf(h.Doc.Class), Project: h.Project, N: h.Doc.N, Role: roleOf(h.Doc.Class),
		Score: h.Score, Time: term.TimeText(h.Time()),
		File: h.Doc.File, Count: h.Count, Snippet: s.Text, Matches: s.Matches,
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
	case index.Version, index.Composition, index.Concept:
	default:
		a.Message = h.Doc.ID
	}
	return a
}

// HitName returns the revision of a hit.
func HitName(h search.Hit) string {
	switch h.Doc.Class {
	case index.Fact, index.Rule:
		return h.Doc.ID
	case index.Concept, index.Composition:
		return h.Doc.Name
	case index.Version:
		return term.ShortID(h.Session.ID) + ":" + h.Doc.Name
	}
	return term.ShortID(h.Session.ID) + "#" + strconv.Itoa(h.Doc.N)
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
	}
	return "L1"
}

func roleOf(c index.Class) string {
	switch c {
	case index.User:
		return "user"
	case index.Assistant:
		return "assistant"
	case index.Tool:
		return "tool"
	case index.Summary:
		return "summary"
	case index.Note:
		return "note"
	}
	return ""
}

func printHits(e *app.Env, o Options, q search.Query, hits []search.Hit) error {
	cut := search.NewSnippets(q)
	if e.Opt.JSON {
		for _, h := range hits {
			if err := printJSONLine(e, searchAnswer(h, cut)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := e.Page("search"); err != nil {
		return err
	}
	if o.list {
		for _, h := range hits {
			e.Printf("%s\n", term.ShortID(h.Session.ID))
		}
		return nil
	}
	p := &HitPrinter{E: e, o: o, cut: cut}
	if e.Term.Stdout {
		p.forPeople(hits)
		return nil
	}
	for _, h := range hits {
		p.line(h)
	}
	return nil
}

// A HitPrinter prints hits as text.
type HitPrinter struct {
	E   *app.Env
	o   Options
	cut *search.Snippets
}

// line prints a hit for scripts: name, time, role, session title, snippet.
func (p *HitPrinter) line(h search.Hit) {
	name, title := HitName(h), ""
	if h.Session != nil {
		title = h.Session.Title
	}
	if h.File != "" {
		name += "\t" + term.SanitizeLine(h.File)
	}
	p.E.Printf("%s\t%s\t%s\t%s\t%s\n", name, term.TimeText(h.Time()), p.Who(h), term.SanitizeLine(title), p.snippet(h, ""))
}

// Who returns the role or layer of a hit.
func (p *HitPrinter) Who(h search.Hit) string {
	switch c := h.Doc.Class; c {
	case index.Fact, index.Rule, index.Concept, index.Version, index.Composition:
		name := layerOf(c)
		if c == index.Fact || c == index.Rule {
			name += " " + h.Doc.Name
		}
		return term.SanitizeLine(name)
	case index.Tool:
		return "tool"
	default:
		return roleOf(c)
	}
}

// snippet returns the part of a text to print, with coloured matches. Lines of context are indented.
func (p *HitPrinter) snippet(h search.Hit, indent string) string {
	if p.o.context == 0 {
		return p.paint(p.cut.Line(h.Doc.Text, snippetWidth), term.SanitizeLine)
	}
	s := p.paint(p.cut.Lines(h.Doc.Text, p.o.context, 10*snippetWidth), p.E.Safe)
	return "\n" + indent + "    " + strings.ReplaceAll(s, "\n", "\n"+indent+"    ")
}

func (p *HitPrinter) paint(s search.Snippet, safe func(string) string) string {
	var b strings.Builder
	at := 0
	for _, m := range s.Matches {
		b.WriteString(safe(s.Text[at:m[0]]))
		b.WriteString(p.E.Style().Red(safe(s.Text[m[0]:m[1]])))
		at = m[1]
	}
	b.WriteString(safe(s.Text[at:]))
	return b.String()
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
	sessions := 0
	for _, id := range order {
		if s := of[id][0].Session; s != nil {
			sessions++
			p.E.Printf("%s %s  %s\n", p.E.Style().Yellow(term.ShortID(s.ID)), term.Quoted(s.Title),
				p.E.Style().Dim(app.Ago(p.E.Now(), time.Unix(s.Last, 0))))
		}
		for _, h := range of[id] {
			name := HitName(h)
			if _, n, ok := strings.Cut(name, "#"); ok && h.Session != nil {
				name = "#" + n
			}
			if h.File != "" {
				name += " " + term.SanitizeLine(h.File)
			}
			p.E.Printf("  %s %s  %s\n", p.E.Style().Cyan(name), p.Who(h), p.snippet(h, "  "))
		}
	}
	p.E.Note("%s in %s", term.Count(len(hits), "hit"), term.Count(sessions, "session"))
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
