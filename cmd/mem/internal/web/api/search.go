package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/layers/view"
	"github.com/memvcs/mem/refs"
)

func searchParams() []param {
	return []param{
		{"q", "string", "words, and phrases in double quotes"}, {"project", "string", "id or name; default: all projects"},
		{"layer", "string", "L1, L2, L3, L4, versions, compositions or notes; may be repeated"},
		{"file", "string", "a file; may be repeated"},
		{"since", "string", "a day, 2026-01-15"}, {"until", "string", "a day, exclusive"},
		{"topic", "string", "words in the topics of the session"},
		{"role", "string", "user, script, assistant, plan, agent, tool, summary or note; may be repeated"},
		{"minWeight", "number", "minimum weight of a marker in the message"},
		{"maxWeight", "number", "maximum weight of a marker in the message"}, {"branch", "string", "a git branch"},
		{"by", "string", "message, session or file"}, {"limit", "integer", "maximum number of hits; default 20"},
	}
}

// A SearchAnswer contains the hits of a search.
type SearchAnswer struct {
	Hits  []view.Hit `json:"hits"`
	Loose bool       `json:"loose"` // no text contains the phrases; these contain some of the words
	// Missing are the words that are in no text, if there are no hits.
	Missing []search.Unknown `json:"missing,omitempty"`
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
			return q, BadRequest("role is user, script, assistant, plan, agent, tool, summary or note")
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
		"l1": index.Messages(), "l2": {index.Fact}, "l3": {index.Concept},
		"l4":       {index.Rule},
		"versions": {index.Version}, "compositions": {index.Composition}, "notes": {index.ClaudeNote},
	}
}

// weightRange returns a condition on the weight of a marker, nil for none.
func weightRange(low, high string) (func(int) bool, error) {
	if low == "" && high == "" {
		return nil, nil
	}
	from, to := view.Weight(0), view.Weight(keepit.Pinned)
	for _, limit := range []struct {
		text string
		w    *view.Weight
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
	out := SearchAnswer{Hits: view.Hits(found), Loose: len(found.Hits) > 0 && found.Hits[0].Loose}
	if len(found.Hits) == 0 {
		out.Missing = found.Missing
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
