package api

import (
	"context"

	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/view"
)

// Comparison compares two revisions.
func (s *API) Comparison(ctx context.Context, sc state.Scope, a, b string) (provenance.Comparison, error) {
	first, err := s.resolve(ctx, sc, a)
	if err != nil {
		return provenance.Comparison{}, err
	}
	sc.Last = first.Session
	second, err := s.resolve(ctx, sc, b)
	if err != nil {
		return provenance.Comparison{}, err
	}
	return provenance.Compare(ctx, s.Memory.DB, first, second)
}

func (s *API) apiDiff(c *call, p state.Project) (reply, error) {
	q := c.r.URL.Query()
	if q.Get("a") == "" || q.Get("b") == "" {
		return reply{}, BadRequest("a comparison needs two revisions, a and b")
	}
	d, err := s.Comparison(c, s.ScopeOf(p), q.Get("a"), q.Get("b"))
	if err != nil {
		return reply{}, err
	}
	return ok(view.ComparisonOf(d))
}

func (s *API) apiBlame(c *call, p state.Project) (reply, error) {
	rev, err := s.resolve(c, s.ScopeOf(p), c.r.URL.Query().Get("rev"))
	if err != nil {
		return reply{}, err
	}
	lines, err := provenance.Blame(c, s.Memory.DB, rev)
	if err != nil {
		return reply{}, err
	}
	return ok(view.BlameOf(rev, lines))
}
