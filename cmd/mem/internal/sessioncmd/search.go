package sessioncmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/flags"
	"github.com/memvcs/mem/cmd/mem/internal/memory"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/refs"
)

type SearchOptions struct {
	Patterns []string
	Files    []string
	Since    string
	Until    string
	Topic    string
	Keepit   string
	Roles    []string
	In       string
	Branch   string
	By       string
	Number   int
	context  int
	list     bool
	related  bool
	batch    string
}

// Search is the command that finds what was said and done.
func Search(e *app.Env) *cli.Command {
	o := SearchOptions{By: string(search.ByMessage), Number: 20}
	return &cli.Command{
		Name:      "search",
		Usage:     "search messages, facts, rules, versions and compositions",
		ArgsUsage: "[<words>...]",
		Description: "Lists the best matches first: messages of the user and the model, tool calls with their\n" +
			"files, commands and errors, facts, concepts, rules, versions and compositions. A phrase\n" +
			"in double quotes and a regular expression must match exactly. \"mem show SESSION#N\"\n" +
			"prints the message of a hit. Outside of a known project, all projects are searched.",
		Flags: []cli.Flag{
			flags.Repeated(&o.Patterns, "regexp,e", "the text must match `REGEXP`; repeat for several"),
			flags.Repeated(&o.Files, "file", "the call must be about `FILE`: a name, the end of a path, or a pattern"),
			flags.String(&o.Since, "since", "written at `TIME` or later, such as 2026-01-15, 3d or \"2 weeks ago\""),
			flags.String(&o.Until, "until", "written before `TIME`"),
			flags.String(&o.Topic, "topic", "in sessions with `TOPIC`"),
			flags.String(&o.Keepit, "keepit", "with a marker whose weight meets `COND`: >=0.5, <0.8 or 1.00"),
			flags.Repeated(&o.Roles, "role", "written by `ROLE`: user, assistant, tool or note"),
			flags.String(&o.In, "in",
				"look in `LAYERS`: L1 (or original), L2, L3, L4, versions, compositions, separated by commas"),
			flags.String(&o.Branch, "branch", "in sessions on this git `BRANCH`"),
			flags.Choice(&o.By, "by", "a hit is a `UNIT`: message, session or file", "message", "session", "file"),
			flags.Int(&o.Number, "number,n", "print the best `N` only; 0 prints all"),
			flags.Int(&o.context, "context,C", "print `N` lines before and after each match"),
			flags.Bool(&o.related, "related",
				"also in sessions of other projects that \"mem project relate\" related to this one"),
			flags.Bool(&o.list, "list,l", "print the names of sessions only"),
			flags.String(&o.batch, "batch", "answer each line of `FILE` with a JSON array"),
		},
		Action: func(c *cli.Context) error {
			q, err := SearchQuery(e, o)
			if err != nil {
				return err
			}
			if o.batch != "" {
				if err := e.WantOperands(c, 0, 0); err != nil {
					return err
				}
				return runSearchBatch(c.Context, e, o, q)
			}
			return runSearch(c.Context, e, o, q)
		},
	}
}

// SearchQuery reads the options and operands.
func SearchQuery(e *app.Env, o SearchOptions) (q search.Query, err error) {
	words := strings.Join(e.Operands, " ")
	if o.Number < 0 || o.context < 0 {
		return q, app.Usagef("options --number and --context want a whole number from 0")
	}
	q = search.Parse(words)
	q.By, q.Limit = search.Unit(o.By), o.Number
	if o.list {
		q.By = search.BySession
	}
	for _, p := range o.Patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return q, app.Usagef("option -e cannot be %q: %v", p, err)
		}
		q.Patterns = append(q.Patterns, re)
	}
	if q.Filter, err = searchFilter(e, o); err != nil {
		return q, err
	}
	if o.batch == "" && strings.TrimSpace(words) == "" && len(q.Patterns) == 0 && !q.Filter.Restricts() {
		return q, app.WithHint(app.Usagef("mem search needs words, a regular expression or a filter"),
			"mem search -h")
	}
	return q, nil
}

func searchFilter(e *app.Env, o SearchOptions) (f search.Filter, err error) {
	f.Files, f.Branch, f.Topic = o.Files, o.Branch, o.Topic
	for _, t := range []struct {
		name, text string
		to         *int64
	}{{"since", o.Since, &f.Since}, {"until", o.Until, &f.Until}} {
		if t.text == "" {
			continue
		}
		at, err := term.ParseTime(t.text, e.Now())
		if err != nil {
			return f, app.Usagef("option --%s cannot be %q: %v", t.name, t.text, err)
		}
		*t.to = at.Unix()
	}
	if o.Keepit != "" {
		if f.Keepit, err = parseWeightCondition(o.Keepit); err != nil {
			return f, err
		}
	}
	for _, r := range o.Roles {
		c, ok := searchRoles()[r]
		if !ok {
			return f, app.Usagef("option --role cannot be %q: want user, assistant, tool or note", r)
		}
		f.Classes = append(f.Classes, c...)
	}
	return f, layersOf(o.In, &f)
}

func searchRoles() map[string][]index.Class {
	return map[string][]index.Class{
		"user": {index.User}, "assistant": {index.Assistant}, "tool": {index.Tool}, "note": {index.Note, index.Summary},
	}
}

// layersOf restricts a filter to layers.
func layersOf(in string, f *search.Filter) error {
	if in == "" {
		return nil
	}
	var classes []index.Class
	for name := range strings.SplitSeq(in, ",") {
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "l1", "original":
			classes = append(classes, index.User, index.Assistant, index.Tool, index.Summary, index.Note)
		case "l2", "facts":
			classes = append(classes, index.Fact)
		case "l3", "concepts":
			classes = append(classes, index.Concept)
		case "l4", "rules":
			classes = append(classes, index.Rule)
		case "versions":
			classes = append(classes, index.Version)
		case "compositions":
			classes = append(classes, index.Composition)
		default:
			return app.Usagef(
				"option --in cannot be %q: want L1, original, L2, L3, L4, versions or compositions, separated by commas", in)
		}
	}
	if len(f.Classes) > 0 { // of the roles
		classes = slices.DeleteFunc(classes, func(c index.Class) bool { return !slices.Contains(f.Classes, c) })
		if len(classes) == 0 {
			return app.Usagef("options --role and --in have nothing in common")
		}
	}
	f.Classes = classes
	return nil
}

// parseWeightCondition reads a condition on the weight of a marker.
func parseWeightCondition(s string) (func(int) bool, error) {
	s = strings.TrimSpace(s)
	number := strings.TrimLeft(s, "<>=")
	op := s[:len(s)-len(number)]
	number = strings.TrimSpace(number)
	switch {
	case len(number) == 1:
		number += ".00"
	case len(number) == 3:
		number += "0"
	}
	w, err := keepit.ParseWeight(number)
	if err == nil {
		n := int(w)
		switch op {
		case ">=":
			return func(x int) bool { return x >= n }, nil
		case ">":
			return func(x int) bool { return x > n }, nil
		case "<=":
			return func(x int) bool { return x <= n }, nil
		case "<":
			return func(x int) bool { return x < n }, nil
		case "", "=", "==":
			return func(x int) bool { return x == n }, nil
		}
	}
	return nil, app.Usagef("option --keepit cannot be %q: want a weight from 0.00 to 1.00 behind >=, >, <=, < or =", s)
}

// SearchScope returns the projects to search.
func SearchScope(ctx context.Context, e *app.Env, m *layers.Memory) ([]refs.Project, error) {
	if !e.Opt.AllProjects {
		p, err := names.TheProject(ctx, e, m)
		if err != nil {
			return nil, err
		}
		has, err := m.Projects().HasProject(ctx, p.ID)
		if err != nil || has || e.Opt.Project != "" {
			return []refs.Project{p.ID}, err
		}
		e.Detail("%s is in no project: all are searched", e.Dir)
	}
	all, err := m.Trusted().Projects(ctx)
	var ids []refs.Project
	for _, p := range all {
		ids = append(ids, p.ID)
	}
	return ids, err
}

func runSearch(ctx context.Context, e *app.Env, o SearchOptions, q search.Query) error {
	memory.RelaxGC()
	return names.WithStore(e, func(m *layers.Memory) error {
		projects, err := SearchProjects(ctx, e, m, o.related, &q)
		if err != nil {
			return err
		}
		hits, err := m.Search().Search(ctx, projects, q)
		if err != nil {
			return err
		}
		if len(hits) == 0 {
			if !e.Opt.JSON {
				e.Note("no match")
			}
			return app.Exit(app.ExitNo)
		}
		if hits[0].Loose && !e.Opt.JSON {
			e.Note("nothing has the phrase; these have words of it")
		}
		return printHits(e, o, q, hits)
	})
}

// runSearchBatch answers the queries of a file, each as one JSON array.
func runSearchBatch(ctx context.Context, e *app.Env, o SearchOptions, like search.Query) error {
	b, err := os.ReadFile(o.batch)
	if err != nil {
		return fmt.Errorf("read the queries: %w", err)
	}
	return names.WithStore(e, func(m *layers.Memory) error {
		projects, err := SearchProjects(ctx, e, m, o.related, &like)
		if err != nil {
			return err
		}
		s, err := m.Search().Searcher(ctx, projects)
		if err != nil {
			return err
		}
		defer s.Close()
		in := bufio.NewScanner(bytes.NewReader(b))
		in.Buffer(nil, len(b)+1)
		for in.Scan() {
			q := search.Parse(in.Text())
			q.Patterns, q.Filter, q.By, q.Limit = like.Patterns, like.Filter, like.By, like.Limit
			hits, err := s.Search(ctx, q)
			if err != nil {
				return err
			}
			answers := make([]hitAnswer, 0, len(hits))
			cut := search.NewSnippets(q)
			for _, h := range hits {
				answers = append(answers, searchAnswer(h, cut))
			}
			if err := printJSONLine(e, answers); err != nil {
				return err
			}
		}
		return nil
	})
}

// A hitAnswer is a hit as --json prints it, one a line.
type hitAnswer struct {
	Ref     string   `json:"ref"` // what mem show takes
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

// snippetWidth is how many bytes of a text are shown, about.
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

// HitName returns the revision that a hit is.
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

func printHits(e *app.Env, o SearchOptions, q search.Query, hits []search.Hit) error {
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

// A hitPrinter prints hits as text.
type HitPrinter struct {
	E   *app.Env
	o   SearchOptions
	cut *search.Snippets
}

// line prints a hit for scripts: name, time, who, session title, snippet.
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

// Who says what a hit is.
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

// snippet returns the piece of a text that is shown, with what matches painted. Lines of context are indented.
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

// forPeople prints hits under the sessions that they belong to, in the order of the best of each.
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
	p.E.Note("%d hits in %d sessions", len(hits), sessions)
}

// printJSONLine prints v on one line, also for a terminal: a line is one hit, or the answer to one query.
func printJSONLine(e *app.Env, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	_, err := e.Out.Write(term.EscapeJSON(b.Bytes()))
	return err
}
