package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/refs"
)

func searchParams() []param {
	return []param{
		{"q", "string", "words, and phrases in double quotes"}, {"project", "string", "id or name; default: all projects"},
		{"layer", "string", "L1, L2, L3, L4, versions, compositions or notes; may be repeated"},
		{"file", "string", "a file; may be repeated"},
		{"since", "string", "a day, 2026-01-15"}, {"until", "string", "a day, exclusive"},
		{"topic", "string", "words in the topics of the session"},
		{"role", "string", "user, assistant, tool or note; may be repeated"},
		{"minWeight", "number", "minimum weight of a marker in the message"},
		{"maxWeight", "number", "maximum weight of a marker in the message"}, {"branch", "string", "a git branch"},
		{"by", "string", "message, session or file"}, {"limit", "integer", "maximum number of hits; default 20"},
	}
}

// A SearchAnswer contains the hits of a search.
type SearchAnswer struct {
	Hits  []HitAnswer `json:"hits"`
	Loose bool        `json:"loose"` // no text contains the phrases; these contain some of the words
}

// A HitAnswer is one hit.
type HitAnswer struct {
	Ref     string   `json:"ref"`
	Layer   string   `json:"layer"`
	Project string   `json:"projectId"`
	Session string   `json:"sessionId,omitempty"`
	Title   string   `json:"title,omitempty"`
	N       int      `json:"message,omitempty"`
	To      int      `json:"lastMessage,omitempty"` // that the snippet comes from, if it is another one
	Request string   `json:"request,omitempty"`     // of the exchange, if the hit is another message
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

	Class index.Class `json:"-"`
}

// query reads a search from a request.
func query(r *http.Request, now time.Time) (q search.Query, err error) {
	in := r.URL.Query()
	q = search.Ask(in.Get("q"), now)
	if q.By = search.Unit(in.Get("by")); q.By == "" {
		q.By = search.ByMessage
	}
	switch q.By {
	case search.ByMessage, search.BySession, search.ByFile:
	default:
		return q, BadRequest("by is message, session or file")
	}
	q.Filter.Files, q.Filter.Branch, q.Filter.Topic = NonEmpty(in["file"]), in.Get("branch"), in.Get("topic")
	for name, to := range map[string]*int64{"since": &q.Filter.Since, "until": &q.Filter.Until} {
		if text := in.Get(name); text != "" {
			day, err := time.Parse(time.DateOnly, text)
			if err != nil {
				return q, BadRequest(name + " is a day, such as 2026-01-15")
			}
			*to = day.Unix()
		}
	}
	if q.Filter.Keepit, err = weightRange(in.Get("minWeight"), in.Get("maxWeight")); err != nil {
		return q, err
	}
	for _, name := range NonEmpty(in["layer"]) {
		classes, ok := classesOf()[strings.ToLower(name)]
		if !ok {
			return q, BadRequest("layer is L1, L2, L3, L4, versions, compositions or notes")
		}
		q.Filter.Classes = append(q.Filter.Classes, classes...)
	}
	for _, name := range NonEmpty(in["role"]) {
		if !q.Filter.Role(name) {
			return q, BadRequest("role is user, assistant, tool or note")
		}
	}
	if q.Blank() {
		return q, BadRequest("the parameter q is missing: the words to search for, or a filter")
	}
	return q, nil
}

// NonEmpty returns the texts that are not blank, trimmed.
func NonEmpty(list []string) (out []string) {
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func classesOf() map[string][]index.Class {
	return map[string][]index.Class{
		"l1": {index.User, index.Assistant, index.Tool, index.Summary, index.Note}, "l2": {index.Fact}, "l3": {index.Concept},
		"l4":       {index.Rule},
		"versions": {index.Version}, "compositions": {index.Composition}, "notes": {index.ClaudeNote},
	}
}

// weightRange returns a condition on the weight of a marker, nil for none.
func weightRange(low, high string) (func(int) bool, error) {
	if low == "" && high == "" {
		return nil, nil
	}
	from, to := weight(0), weight(keepit.Pinned)
	for _, limit := range []struct {
		text string
		w    *weight
	}{{low, &from}, {high, &to}} {
		if limit.text != "" && limit.w.UnmarshalJSON([]byte(limit.text)) != nil {
			return nil, BadRequest("a weight is a number from 0.00 to 1.00")
		}
	}
	return func(w int) bool { return w >= int(from) && w <= int(to) }, nil
}

// Find searches as a request says.
func (s *API) Find(ctx context.Context, r *http.Request, limit int) (SearchAnswer, error) {
	q, err := query(r, s.Now())
	if err != nil {
		return SearchAnswer{}, err
	}
	q.Limit = limit
	projects, err := s.searchScope(ctx, r)
	if err != nil {
		return SearchAnswer{}, err
	}
	found, err := search.Find(ctx, s.Memory.DB, projects, q)
	if err != nil {
		return SearchAnswer{}, err
	}
	out := SearchAnswer{Hits: []HitAnswer{}, Loose: len(found.Hits) > 0 && found.Hits[0].Loose}
	for _, h := range found.Hits {
		out.Hits = append(out.Hits, hitOf(h))
	}
	return out, nil
}

// searchScope returns the projects to search: the named one, or all that this server shows.
func (s *API) searchScope(ctx context.Context, r *http.Request) ([]refs.Project, error) {
	if name := r.URL.Query().Get("project"); name != "" {
		p, err := s.Project(ctx, name)
		return []refs.Project{p.ID}, err
	}
	all, err := s.Projects(ctx)
	var ids []refs.Project
	for _, p := range all {
		ids = append(ids, p.ID)
	}
	return ids, err
}

func (s *API) apiSearch(c *call) (reply, error) {
	limit, err := c.number("limit", 20, maxPage)
	if err != nil {
		return reply{}, err
	}
	return result(s.Find(c, c.r, max(limit, 1)))
}

func hitOf(h search.Hit) HitAnswer {
	s := h.Passage
	a := HitAnswer{Project: h.Project, N: h.Doc.N, Score: h.Score, Time: TimeText(h.Time()),
		Count: h.Count, File: h.Doc.File, Snippet: s.Text,
		Matches: append([][2]int{}, s.Matches...), Class: h.Doc.Class}
	if h.Weight >= 0 {
		w := weight(h.Weight)
		a.Weight = &w
	}
	short := ""
	if h.Session != nil {
		a.Session, a.Title, a.Topics = h.Session.ID, h.Session.Title, h.Session.Topics
		short = records.ShortID(h.Session.ID)
	}
	a.Layer, a.Ref, a.Request = "L1", short+"#"+strconv.Itoa(h.From), h.Request
	if h.To > h.From {
		a.To = h.To
		a.Ref += ".." + strconv.Itoa(a.To)
	}
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
	case index.ClaudeNote:
		a.Layer, a.Ref = "note", h.Doc.Name
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
