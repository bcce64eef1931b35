package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trace"
	"github.com/memvcs/mem/refs"
)

// projectParam names the project of a request that is about one.
func projectParam() param {
	return param{"project", "string", "id or name; without it the one that the server was started for"}
}

func lookEndpoints() []endpoint {
	return []endpoint{
		{http.MethodGet, "/search", "Search messages, facts, rules, versions and compositions", searchParams(), nil, answers(searchAnswer{}), (*Server).apiSearch},
		{http.MethodGet, "/suggest", "Suggest sessions and versions for a task", []param{projectParam(), {"file", "string", "a file of the task; may be repeated"},
			{"topic", "string", "words of the task; may be repeated"}, {"budget", "integer", "tokens in all, 8000 without it"}, {"limit", "integer", "sessions at most, 5 without it"}},
			nil, answers(suggestAnswer{}), (*Server).apiSuggest},
		{http.MethodGet, "/stats", "Numbers of a project", []param{projectParam()}, nil, answers(statsAnswer{}), (*Server).apiStats},
		{http.MethodGet, "/log", "List operations, the newest first", pageParams(projectParam()), nil, answers(logAnswer{}), (*Server).apiLog},
		{http.MethodGet, "/diff", "Compare two revisions", []param{projectParam(), {"a", "string", "a revision"}, {"b", "string", "a revision"}}, nil,
			answers(diffAnswer{}), (*Server).apiDiff},
		{http.MethodGet, "/blame", "Tell where each line of a version or composition comes from", []param{projectParam(), {"rev", "string", "a revision"}}, nil,
			answers(blameAnswer{}), (*Server).apiBlame},
		{http.MethodGet, "/status", "Show new and changed sessions", []param{projectParam()}, nil, answers(statusAnswer{}), (*Server).apiStatus},
		{http.MethodGet, "/next", "Show what the next session is given", []param{projectParam()}, nil, answers(nextAnswer{}), (*Server).apiNext},
	}
}

// projectOf returns the project of a request.
func (s *Server) projectOf(ctx context.Context, r *http.Request) (state.Project, error) {
	if name := r.URL.Query().Get("project"); name != "" {
		return s.project(ctx, name)
	}
	return s.Scope.Project, nil
}

func searchParams() []param {
	return []param{
		{"q", "string", "words, and phrases in double quotes"}, {"project", "string", "id or name; without it all projects"},
		{"layer", "string", "L1, L2, L3, L4, versions or compositions; may be repeated"}, {"file", "string", "a file; may be repeated"},
		{"since", "string", "a day, 2026-01-15"}, {"until", "string", "a day that is not included"}, {"topic", "string", "words in the topics of the session"},
		{"role", "string", "user, assistant, tool or note; may be repeated"}, {"minWeight", "number", "least weight of a marker in the message"},
		{"maxWeight", "number", "greatest weight of a marker"}, {"branch", "string", "a git branch"},
		{"by", "string", "message, session or file"}, {"limit", "integer", "hits at most, 20 without it"},
	}
}

type searchAnswer struct {
	Hits  []hitAnswer `json:"hits"`
	Loose bool        `json:"loose"` // no text has the phrases: these have words of them
}

// A hitAnswer is one thing that was found.
type hitAnswer struct {
	Ref     string   `json:"ref"`
	Layer   string   `json:"layer"`
	Project string   `json:"projectId"`
	Session string   `json:"sessionId,omitempty"`
	Title   string   `json:"title,omitempty"`
	N       int      `json:"message,omitempty"`
	UUID    string   `json:"messageUuid,omitempty"`
	Role    string   `json:"role,omitempty"`
	Time    string   `json:"timestamp,omitempty"`
	Tool    string   `json:"tool,omitempty"`
	File    string   `json:"file,omitempty"`
	Topics  []string `json:"topics,omitempty"`
	Weight  *weight  `json:"keepitWeight,omitempty"`
	Score   float64  `json:"score"`
	Count   int      `json:"count,omitempty"`
	Snippet string   `json:"snippet"`
	Matches [][2]int `json:"matches"` // bytes of the snippet

	class index.Class
}

// snippetWidth is how many bytes of a text are shown, about.
const snippetWidth = 240

// query reads a search from a request.
func query(r *http.Request) (q search.Query, err error) {
	in := r.URL.Query()
	q = search.Parse(in.Get("q"))
	if q.By = search.Unit(in.Get("by")); q.By == "" {
		q.By = search.ByMessage
	}
	switch q.By {
	case search.ByMessage, search.BySession, search.ByFile:
	default:
		return q, badRequest("by is message, session or file")
	}
	q.Filter.Files, q.Filter.Branch, q.Filter.Topic = nonEmpty(in["file"]), in.Get("branch"), in.Get("topic")
	for name, to := range map[string]*int64{"since": &q.Filter.Since, "until": &q.Filter.Until} {
		if text := in.Get(name); text != "" {
			day, err := time.Parse(time.DateOnly, text)
			if err != nil {
				return q, badRequest(name + " is a day, such as 2026-01-15")
			}
			*to = day.Unix()
		}
	}
	if q.Filter.Keepit, err = weightRange(in.Get("minWeight"), in.Get("maxWeight")); err != nil {
		return q, err
	}
	for _, name := range nonEmpty(in["layer"]) {
		classes, ok := classesOf()[strings.ToLower(name)]
		if !ok {
			return q, badRequest("layer is L1, L2, L3, L4, versions or compositions")
		}
		q.Filter.Classes = append(q.Filter.Classes, classes...)
	}
	for _, name := range nonEmpty(in["role"]) {
		classes, ok := classesOf()[name]
		if !ok || name[0] == 'l' {
			return q, badRequest("role is user, assistant, tool or note")
		}
		q.Filter.Classes = append(q.Filter.Classes, classes...)
	}
	if strings.TrimSpace(in.Get("q")) == "" && !q.Filter.Restricts() {
		return q, badRequest("a search wants words to look for, or a filter")
	}
	return q, nil
}

func nonEmpty(list []string) (out []string) {
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func classesOf() map[string][]index.Class {
	return map[string][]index.Class{
		"l1": {index.User, index.Assistant, index.Tool, index.Summary, index.Note}, "l2": {index.Fact}, "l3": {index.Concept}, "l4": {index.Rule},
		"versions": {index.Version}, "compositions": {index.Composition},
		"user": {index.User}, "assistant": {index.Assistant}, "tool": {index.Tool}, "note": {index.Note, index.Summary},
	}
}

// weightRange returns a condition on the weight of a marker, nil for none.
func weightRange(low, high string) (func(int) bool, error) {
	if low == "" && high == "" {
		return nil, nil
	}
	from, to := weight(0), weight(keepit.Pinned)
	for text, w := range map[string]*weight{low: &from, high: &to} {
		if text != "" && w.UnmarshalJSON([]byte(text)) != nil {
			return nil, badRequest("a weight is a number from 0.00 to 1.00")
		}
	}
	return func(w int) bool { return w >= int(from) && w <= int(to) }, nil
}

// find searches as a request says.
func (s *Server) find(ctx context.Context, r *http.Request, limit int) (searchAnswer, error) {
	q, err := query(r)
	if err != nil {
		return searchAnswer{}, err
	}
	q.Limit = limit
	projects, err := s.searched(ctx, r)
	if err != nil {
		return searchAnswer{}, err
	}
	hits, err := s.Memory.Search().Search(ctx, projects, q)
	if err != nil {
		return searchAnswer{}, err
	}
	out := searchAnswer{Hits: []hitAnswer{}, Loose: len(hits) > 0 && hits[0].Loose}
	cut := search.NewSnippets(q)
	for _, h := range hits {
		out.Hits = append(out.Hits, hitOf(h, cut))
	}
	return out, nil
}

// searched returns the projects that a request is about: the named one, or all that are shown.
func (s *Server) searched(ctx context.Context, r *http.Request) ([]refs.Project, error) {
	if name := r.URL.Query().Get("project"); name != "" {
		p, err := s.project(ctx, name)
		return []refs.Project{p.ID}, err
	}
	all, err := s.projects(ctx)
	var ids []refs.Project
	for _, p := range all {
		ids = append(ids, p.ID)
	}
	return ids, err
}

func (s *Server) apiSearch(c *call) (reply, error) {
	limit, err := c.number("limit", 20, mostPage)
	if err != nil {
		return reply{}, err
	}
	out, err := s.find(c, c.r, max(limit, 1))
	if err != nil {
		return reply{}, err
	}
	return ok(out)
}

func hitOf(h search.Hit, cut *search.Snippets) hitAnswer {
	s := cut.Line(h.Doc.Text, snippetWidth)
	a := hitAnswer{Project: h.Project, N: h.Doc.N, Score: h.Score, Count: h.Count, File: h.Doc.File, Snippet: s.Text, Matches: append([][2]int{}, s.Matches...), class: h.Doc.Class}
	if h.Doc.Time > 0 {
		a.Time = timeText(time.Unix(h.Doc.Time, 0))
	}
	if h.Weight >= 0 {
		w := weight(h.Weight)
		a.Weight = &w
	}
	short := ""
	if h.Session != nil {
		a.Session, a.Title, a.Topics = h.Session.ID, h.Session.Title, h.Session.Topics
		short = records.ShortID(h.Session.ID)
	}
	a.Layer, a.Ref = "L1", short+"#"+strconv.Itoa(h.Doc.N)
	switch h.Doc.Class {
	case index.Fact:
		a.Layer, a.Ref = "L2", h.Doc.ID
	case index.Rule:
		a.Layer, a.Ref = "L4", h.Doc.ID
	case index.Concept:
		a.Layer, a.Ref = "L3", h.Doc.Name
	case index.Version:
		a.Layer, a.Ref = "version", short+":"+h.Doc.Name
	case index.Composition:
		a.Layer, a.Ref = "composition", h.Doc.Name
	case index.User:
		a.Role, a.UUID = "user", h.Doc.ID
	case index.Assistant:
		a.Role, a.UUID = "assistant", h.Doc.ID
	case index.Tool:
		a.Role, a.Tool, a.UUID = "tool", h.Doc.Name, h.Doc.ID
	case index.Summary:
		a.Role, a.UUID = "summary", h.Doc.ID
	case index.Note:
		a.Role, a.UUID = "note", h.Doc.ID
	}
	return a
}

type suggestAnswer struct {
	Suggestions []suggestion `json:"suggestions"`
}

// A suggestion is the seeds' answer of 7.1.
type suggestion struct {
	Session string   `json:"sessionId"`
	Version string   `json:"versionId"`
	Score   float64  `json:"relevanceScore"`
	Topics  []string `json:"matchedTopics"`
	Files   []string `json:"matchedFiles"`
	Tokens  int      `json:"suggestedTokens"`
	Title   string   `json:"title"`
	Project string   `json:"projectId"`
}

func (s *Server) apiSuggest(c *call) (reply, error) {
	budget, err := c.number("budget", 8000, most)
	if err != nil {
		return reply{}, err
	}
	limit, err := c.number("limit", 5, mostPage)
	if err != nil {
		return reply{}, err
	}
	projects, err := s.searched(c, c.r)
	if err != nil {
		return reply{}, err
	}
	q := c.r.URL.Query()
	all, err := s.Memory.Search().Suggest(c, search.SuggestRequest{Projects: projects, Files: nonEmpty(q["file"]), Topics: nonEmpty(q["topic"]), Budget: budget, Limit: max(limit, 1)})
	if err != nil {
		return reply{}, err
	}
	out := suggestAnswer{[]suggestion{}}
	for _, x := range all {
		out.Suggestions = append(out.Suggestions, suggestion{
			x.Session.ID, x.Version, x.Score, append([]string{}, x.Topics...), append([]string{}, x.Files...), x.Tokens, x.Session.Title, x.Project,
		})
	}
	return ok(out)
}

type logAnswer struct {
	Operations []operation `json:"operations"`
	Next       string      `json:"nextCursor,omitempty"`
}

// An operation is one change of a project.
type operation struct {
	Commit  string `json:"commit"`
	Parent  string `json:"parent,omitempty"`
	Time    string `json:"timestamp"`
	Device  string `json:"device"`
	Name    string `json:"deviceName"`
	Subject string `json:"operation"`
}

// mostLogged is how many operations a log goes back.
const mostLogged = 10_000

func (s *Server) apiLog(c *call) (reply, error) {
	p, err := s.projectOf(c, c.r)
	if err != nil {
		return reply{}, err
	}
	all, err := s.Memory.Ledger().Log(c, p.ID, mostLogged)
	if err != nil {
		return reply{}, err
	}
	page, next, err := paged(c, all, func(e refs.Entry) string { return e.Commit })
	if err != nil {
		return reply{}, err
	}
	out := logAnswer{[]operation{}, next}
	for _, e := range page {
		out.Operations = append(out.Operations, operation{e.Commit, e.Parent, timeText(e.Time), e.Device, e.Name, e.Subject})
	}
	return ok(out)
}

// A diffAnswer tells how two texts differ, aligned by the messages that they stand for.
type diffAnswer struct {
	A       diffSide        `json:"a"`
	B       diffSide        `json:"b"`
	Same    bool            `json:"same"`
	Both    int             `json:"messagesInBoth"`
	Anchors []trace.Anchors `json:"anchors"`
	Groups  []diffGroup     `json:"groups"`
}

type diffSide struct {
	Name     string `json:"name"`
	Tokens   int    `json:"tokens"`
	Segments int    `json:"segments"`
	Messages int    `json:"messages"`
	Kept     int    `json:"keepitsKept"`
	Keepits  int    `json:"keepits"`
}

type diffGroup struct {
	Session  string       `json:"sessionId,omitempty"`
	Messages [][2]int     `json:"messages"`
	Tokens   [2]int       `json:"tokens"`
	Changes  []diffChange `json:"changes"`
}

type diffChange struct {
	A string `json:"a"`
	B string `json:"b"`
}

// comparison compares what two revisions name.
func (s *Server) comparison(ctx context.Context, sc state.Scope, a, b string) (provenance.Comparison, error) {
	first, err := s.resolve(ctx, sc, a)
	if err != nil {
		return provenance.Comparison{}, err
	}
	sc.Last = first.Session
	second, err := s.resolve(ctx, sc, b)
	if err != nil {
		return provenance.Comparison{}, err
	}
	return s.Memory.Provenance().Compare(ctx, first, second)
}

func (s *Server) apiDiff(c *call) (reply, error) {
	p, err := s.projectOf(c, c.r)
	if err != nil {
		return reply{}, err
	}
	q := c.r.URL.Query()
	if q.Get("a") == "" || q.Get("b") == "" {
		return reply{}, badRequest("a comparison wants two revisions, a and b")
	}
	d, err := s.comparison(c, s.scopeOf(p), q.Get("a"), q.Get("b"))
	if err != nil {
		return reply{}, err
	}
	n := d.Summary
	side := func(i int, name string) diffSide {
		return diffSide{name, n.Tokens[i], n.Segments[i], n.Messages[i], n.Kept[i], n.Marks[i]}
	}
	out := diffAnswer{A: side(0, d.A.Name), B: side(1, d.B.Name), Same: d.Same(), Both: n.Both, Anchors: append([]trace.Anchors{}, n.Anchors...), Groups: []diffGroup{}}
	for _, g := range d.Groups {
		one := diffGroup{Messages: append([][2]int{}, g.Src...), Tokens: g.Tokens, Changes: []diffChange{}}
		if of := d.Sessions[g.Source]; of != nil {
			one.Session = of.ID
		}
		for _, ch := range g.Changes() {
			one.Changes = append(one.Changes, diffChange{ch.A, ch.B})
		}
		out.Groups = append(out.Groups, one)
	}
	if err := d.Err(); err != nil {
		return reply{}, err
	}
	return ok(out)
}

type blameAnswer struct {
	Lines []blameLine `json:"lines"`
}

type blameLine struct {
	Line       int      `json:"line"`
	Text       string   `json:"text"`
	Frame      bool     `json:"frame"`
	Session    string   `json:"sessionId,omitempty"`
	Messages   [][2]int `json:"messages"`
	Role       string   `json:"role,omitempty"`
	Marker     string   `json:"markerId,omitempty"`
	Confidence int      `json:"confidence"`
	Supported  bool     `json:"supported"`
}

func (s *Server) apiBlame(c *call) (reply, error) {
	p, err := s.projectOf(c, c.r)
	if err != nil {
		return reply{}, err
	}
	rev, err := s.resolve(c, s.scopeOf(p), c.r.URL.Query().Get("rev"))
	if err != nil {
		return reply{}, err
	}
	lines, err := s.Memory.Provenance().Blame(c, rev)
	if err != nil {
		return reply{}, err
	}
	out := blameAnswer{[]blameLine{}}
	for _, l := range lines {
		one := blameLine{Line: l.Line, Text: l.Text, Frame: l.Frame, Messages: append([][2]int{}, l.Messages...), Role: l.Role, Marker: l.Marker, Confidence: l.Confidence, Supported: l.Supported}
		if l.Session != nil {
			one.Session = l.Session.ID
		}
		out.Lines = append(out.Lines, one)
	}
	return ok(out)
}

// A statusAnswer is what mem status says.
type statusAnswer struct {
	Project   string       `json:"projectId"`
	Stored    int          `json:"inMemory"`
	Changed   []sessionRow `json:"changed"`
	Untracked []sessionRow `json:"untracked"`
	Layers    layersDebt   `json:"layers"`
}

// A layersDebt is what the layers lack.
type layersDebt struct {
	L1        int    `json:"sessionsWithoutL1"`
	L2        int    `json:"sessionsWithoutFacts"`
	L3        int    `json:"exchangesWithoutConcept"`
	L4        bool   `json:"reflectionDue"`
	Facts     int    `json:"facts"`
	Rules     int    `json:"rules"`
	Reflected string `json:"reflectedAt,omitempty"`
}

func (s *Server) apiStatus(c *call) (reply, error) {
	p, err := s.projectOf(c, c.r)
	if err != nil {
		return reply{}, err
	}
	out, err := s.status(c, p)
	if err != nil {
		return reply{}, err
	}
	return ok(out)
}

func (s *Server) status(ctx context.Context, p state.Project) (statusAnswer, error) {
	items, _, err := s.list(ctx, p, capture.ListOptions{})
	if err != nil {
		return statusAnswer{}, err
	}
	out := statusAnswer{Project: string(p.ID), Changed: []sessionRow{}, Untracked: []sessionRow{}}
	for _, it := range items {
		switch it.Status {
		case history.Untracked:
			out.Untracked = append(out.Untracked, rowOf(it))
			continue
		case history.Changed:
			out.Changed = append(out.Changed, rowOf(it))
		}
		out.Stored++
	}
	d, err := s.Memory.Knowledge().Debt(ctx, p.ID)
	out.Layers = layersDebt{d.L1, len(d.L2), d.L3, d.L4, d.Facts, d.Rules, timeText(d.Reflected)}
	return out, err
}

type nextAnswer struct {
	Text  string     `json:"text"`
	Units int        `json:"units"` // UTF-16 units of the text
	Lines []nextLine `json:"lines"`
}

type nextLine struct {
	Section string `json:"section"`
	Text    string `json:"text"`
	Said    string `json:"said,omitempty"`
	Source  string `json:"source,omitempty"`
	Why     string `json:"why,omitempty"`
}

func (s *Server) apiNext(c *call) (reply, error) {
	p, err := s.projectOf(c, c.r)
	if err != nil {
		return reply{}, err
	}
	out, err := s.next(c, p)
	if err != nil {
		return reply{}, err
	}
	return ok(out)
}

// next returns exactly what SessionStart would hand over.
func (s *Server) next(ctx context.Context, p state.Project) (nextAnswer, error) {
	conf, err := s.Settings()
	if err != nil {
		return nextAnswer{}, err
	}
	limit, err := conf.Int("hooks.contextSize")
	if err != nil {
		return nextAnswer{}, err
	}
	decay, err := s.Decay(conf)
	if err != nil {
		return nextAnswer{}, err
	}
	o := handover.ContextOptions{Program: s.Program, Limit: limit, Decay: decay}
	if p.ID == s.Scope.Project.ID {
		o.Dir = s.Dir
	}
	given, err := s.Memory.Handover().Context(ctx, p, o)
	if err != nil {
		return nextAnswer{}, err
	}
	out := nextAnswer{Text: given.Text, Units: given.Units, Lines: []nextLine{}}
	for i, t := range given.Told {
		l := given.Lines[i]
		out.Lines = append(out.Lines, nextLine{l.Section, t.Line, l.Said, l.Source, t.Why})
	}
	return out, nil
}
