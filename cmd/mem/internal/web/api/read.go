package api

import (
	"context"
	"net/http"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/ledger"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/stats"
	"github.com/memvcs/mem/refs"
)

// projectParam is the parameter that [queryProject] reads.
func projectParam() param {
	return param{"project", "string", "id or name; default: the project that the server was started for"}
}

func readEndpoints() []endpoint {
	return []endpoint{
		{http.MethodGet, "/search", "Search messages, facts, rules, versions and compositions", searchParams(), nil,
			answers(SearchAnswer{}), (*API).apiSearch},
		{http.MethodGet, "/suggest", "Suggest sessions and versions for a task",
			[]param{projectParam(), {"file", "string", "a file of the task; may be repeated"},
				{"topic", "string", "words of the task; may be repeated"}, {"budget", "integer", "total tokens; default 8000"},
				{"limit", "integer", "maximum number of sessions; default 5"}},
			nil, answers(suggestAnswer{}), (*API).apiSuggest},
		{http.MethodGet, "/stats", "Get statistics of a project", []param{projectParam()}, nil, answers(stats.Stats{}),
			with(queryProject, (*API).apiStats)},
		{http.MethodGet, "/log", "List operations, newest first", pageParams(projectParam()), nil, answers(LogAnswer{}),
			with(queryProject, (*API).apiLog)},
		{http.MethodGet, "/diff", "Compare two revisions", []param{projectParam(), {"a", "string", "a revision"},
			{"b", "string", "a revision"}}, nil,
			answers(diffAnswer{}), with(queryProject, (*API).apiDiff)},
		{http.MethodGet, "/blame", "Show the source of each line of a version or composition",
			[]param{projectParam(), {"rev", "string", "a revision"}}, nil,
			answers(blameAnswer{}), with(queryProject, (*API).apiBlame)},
		{http.MethodGet, "/status", "Show new and changed sessions", []param{projectParam()}, nil, answers(statusAnswer{}),
			with(queryProject, (*API).apiStatus)},
		{http.MethodGet, "/next", "Show the context for the next session", []param{projectParam()}, nil,
			answers(NextAnswer{}),
			with(queryProject, (*API).apiNext)},
	}
}

type suggestAnswer struct {
	Suggestions []suggestion `json:"suggestions"`
}

// A suggestion is a session or version that fits a task.
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

func (s *API) apiSuggest(c *call) (reply, error) {
	budget, err := c.number("budget", 8000, maxNumber)
	if err != nil {
		return reply{}, err
	}
	limit, err := c.number("limit", 5, maxPage)
	if err != nil {
		return reply{}, err
	}
	projects, err := s.searchScope(c, c.r)
	if err != nil {
		return reply{}, err
	}
	q := c.r.URL.Query()
	all, err := search.SuggestSessions(c, s.Memory.DB, search.SuggestRequest{Projects: projects, Files: NonEmpty(q["file"]),
		Topics: NonEmpty(q["topic"]), Budget: budget, Limit: max(limit, 1)})
	if err != nil {
		return reply{}, err
	}
	out := suggestAnswer{[]suggestion{}}
	for _, x := range all {
		out.Suggestions = append(out.Suggestions, suggestion{
			x.Session.ID, x.Version, x.Score, append([]string{}, x.Topics...), append([]string{}, x.Files...), x.Tokens,
			x.Session.Title, x.Project,
		})
	}
	return ok(out)
}

// A LogAnswer is a page of operations.
type LogAnswer struct {
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

// MaxLogged is the maximum number of operations in a log.
const MaxLogged = 10_000

func (s *API) apiLog(c *call, p state.Project) (reply, error) {
	all, err := ledger.Log(c, s.Memory.DB, p.ID, MaxLogged)
	if err != nil {
		return reply{}, err
	}
	list, next, err := paged(c, all, func(e refs.Entry) string { return e.Commit }, func(e refs.Entry) operation {
		return operation{e.Commit, e.Parent, TimeText(e.Time), e.Device, e.Name, e.Subject}
	})
	return result(LogAnswer{list, next}, err)
}

// A statusAnswer contains the output of mem status.
type statusAnswer struct {
	Project   string       `json:"projectId"`
	Stored    int          `json:"inMemory"`
	Changed   []sessionRow `json:"changed"`
	Untracked []sessionRow `json:"untracked"`
	Layers    layersDebt   `json:"layers"`
}

// A layersDebt counts the pending items of each layer.
type layersDebt struct {
	L1        int    `json:"sessionsWithoutL1"`
	L2        int    `json:"sessionsWithoutFacts"`
	L3        int    `json:"exchangesWithoutConcept"`
	L4        bool   `json:"reflectionDue"`
	Facts     int    `json:"facts"`
	Rules     int    `json:"rules"`
	Reflected string `json:"reflectedAt,omitempty"`
}

func (s *API) apiStatus(c *call, p state.Project) (reply, error) {
	return result(s.status(c, p))
}

func (s *API) status(ctx context.Context, p state.Project) (statusAnswer, error) {
	items, _, err := s.List(ctx, p, capture.ListOptions{})
	if err != nil {
		return statusAnswer{}, err
	}
	out := statusAnswer{Project: string(p.ID), Changed: []sessionRow{}, Untracked: []sessionRow{}}
	for _, it := range items {
		switch it.Status {
		case sessions.Untracked:
			out.Untracked = append(out.Untracked, rowOf(it))
			continue
		case sessions.Changed:
			out.Changed = append(out.Changed, rowOf(it))
		}
		out.Stored++
	}
	d, err := knowledge.ReadProgress(ctx, s.Memory.DB, p.ID)
	out.Layers = layersDebt{d.L1, len(d.L2), d.L3, d.L4, d.Facts, d.Rules, TimeText(d.Reflected)}
	return out, err
}

// A NextAnswer is the context that SessionStart would hand over.
type NextAnswer struct {
	Text  string     `json:"text"`
	Units int        `json:"units"` // UTF-16 units of the text
	Lines []NextLine `json:"lines"`
}

// A NextLine is one line of it, with its source.
type NextLine struct {
	Section string `json:"section"`
	Text    string `json:"text"`
	Said    string `json:"said,omitempty"`
	Source  string `json:"source,omitempty"`
	Why     string `json:"why,omitempty"`
}

func (s *API) apiNext(c *call, p state.Project) (reply, error) {
	return result(s.Next(c, p))
}

// Next returns exactly what SessionStart would hand over.
func (s *API) Next(ctx context.Context, p state.Project) (NextAnswer, error) {
	conf, err := s.Settings()
	if err != nil {
		return NextAnswer{}, err
	}
	limit, err := conf.Int("hooks.contextSize")
	if err != nil {
		return NextAnswer{}, err
	}
	decay, err := s.Decay(conf)
	if err != nil {
		return NextAnswer{}, err
	}
	o := handover.ContextOptions{Program: s.Program, Limit: limit, Decay: decay}
	if p.ID == s.Scope.Project.ID {
		o.Dir = s.Dir
	}
	given, err := handover.Context(ctx, s.Memory.DB, p, o)
	if err != nil {
		return NextAnswer{}, err
	}
	out := NextAnswer{Text: given.Text, Units: given.Units, Lines: []NextLine{}}
	for i, t := range given.Told {
		l := given.Lines[i]
		out.Lines = append(out.Lines, NextLine{l.Section, t.Line, l.Said, l.Source, t.Why})
	}
	return out, nil
}
