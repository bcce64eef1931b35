package api

import (
	"context"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/stats"
)

func (s *API) apiStats(c *call) (reply, error) {
	p, err := s.projectOf(c, c.r)
	if err != nil {
		return reply{}, err
	}
	out, err := s.Stats(c, p)
	if err != nil {
		return reply{}, err
	}
	return ok(out)
}

// Stats returns the figures of a project, as "mem stats --json" prints them.
func (s *API) Stats(ctx context.Context, p state.Project) (stats.Stats, error) {
	return s.Memory.Stats().Of(ctx, []state.Project{p}, s.Now().Location(), s.Activity)
}
