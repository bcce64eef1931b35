package api

import (
	"context"

	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/stats"
)

func (s *API) apiStats(c *call, p state.Project) (reply, error) {
	return result(s.Stats(c, p, true))
}

// Stats returns the figures of a project, with those of the disk as "mem stats --json" prints them.
func (s *API) Stats(ctx context.Context, p state.Project, storage bool) (stats.Stats, error) {
	return hooks.Stats(ctx, s.Memory.DB, s.Store, []state.Project{p}, s.Now().Location(), storage)
}
