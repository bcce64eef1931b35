package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/searchcmd"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/state"
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
		{"by", "string", "message, session or file"}, {"limit", "integer", "maximum number of hits; at most 10, the default, are a page: an exchange once, three hits of a session"},
	}
}

// A SearchAnswer contains the hits of a search.
type SearchAnswer struct {
	Hits  []view.Hit `json:"hits"`
	Loose bool       `json:"loose"` // no text contains the phrases; these contain some of the words
	Notes []string   `json:"notes,omitempty"`
	// Missing are the words that are in no text.
	Missing []search.Unknown `json:"missing,omitempty"`
}

// query reads a search from a request. Its words and options are those of "mem search".
func (s *API) query(r *http.Request, limit int) (q search.Query, err error) {
	in := r.URL.Query()
	o := searchcmd.Options{Files: NonEmpty(in["file"]), Topic: in.Get("topic"), Roles: NonEmpty(in["role"]),
		In: strings.Join(NonEmpty(in["layer"]), ","), Branch: in.Get("branch"), By: cmp.Or(in.Get("by"), string(search.ByMessage)), Number: limit}
	for name, to := range map[string]*time.Time{"since": &o.Since, "until": &o.Until} {
		if text := in.Get(name); text != "" {
			if *to, err = time.Parse(time.DateOnly, text); err != nil {
				return q, BadRequest(name + " is a day, such as 2026-01-15")
			}
		}
	}
	if !slices.Contains([]search.Unit{search.ByMessage, search.BySession, search.ByFile}, search.Unit(o.By)) {
		return q, BadRequest("by is message, session or file")
	}
	o.Keepit, err = weightRange(in.Get("minWeight"), in.Get("maxWeight"))
	if err != nil {
		return q, err
	}
	return searchcmd.Query(s.Env, in.Get("q"), o)
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
	q, err := s.query(r, limit)
	if err != nil {
		return SearchAnswer{}, err
	}
	projects, err := s.searchScope(ctx, r)
	if err != nil {
		return SearchAnswer{}, err
	}
	x, err := s.searcher(ctx, projects)
	if err != nil {
		return SearchAnswer{}, err
	}
	defer x.Close()
	found, err := x.Search(ctx, q)
	if err != nil {
		return SearchAnswer{}, err
	}
	return SearchAnswer{Hits: view.Hits(found), Loose: len(found.Hits) > 0 && found.Hits[0].Loose, Notes: found.Notes(""),
		Missing: found.Missing}, nil
}

// searcher opens the indexes of projects. Each is brought up to date once at a time, also if the request that began it ends before:
// then the error is that of its context.
func (s *API) searcher(ctx context.Context, projects []refs.Project) (*search.Searcher, error) {
	type opened struct {
		*search.Searcher
		err error
	}
	done := make(chan opened, 1)
	go func() {
		for _, p := range slices.Sorted(slices.Values(projects)) { // in one order: no two wait for each other
			one, _ := s.indexing.LoadOrStore(p, new(sync.Mutex))
			lock := one.(*sync.Mutex) //nolint:forcetypeassert // it has no others
			lock.Lock()
			defer lock.Unlock()
		}
		x, err := search.NewSearcher(context.WithoutCancel(ctx), s.Memory.DB, projects)
		done <- opened{x, err}
	}()
	select {
	case o := <-done:
		return o.Searcher, o.err
	case <-ctx.Done():
		go func() { (<-done).Close() }()
		return nil, ctx.Err()
	}
}

// Index brings the indexes of all projects that the server shows up to date, before somebody searches: that of its own first.
func (s *API) Index(ctx context.Context) {
	all, err := s.Projects(ctx)
	if err != nil {
		return // the first search says it
	}
	if own := slices.IndexFunc(all, func(p state.Project) bool { return p.ID == s.Scope.Project.ID }); own > 0 {
		all[0], all[own] = all[own], all[0]
	}
	for _, p := range all {
		if x, err := s.searcher(ctx, []refs.Project{p.ID}); err == nil {
			x.Close()
		}
	}
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
	limit, err := c.number("limit", 10, maxPage)
	if err != nil {
		return reply{}, err
	}
	return result(s.Find(c, c.r, max(limit, 1)))
}
