package refs_test

import (
	"context"

	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/repair"
)

func init() {
	refs.SetCheck(func(ctx context.Context, r *refs.Repo, report func(string)) (refs.Counts, error) {
		n, err := repair.Check(ctx, r, true, func(p repair.Problem) { report(p.String()) })
		return refs.Counts{Lanes: n.Lanes, Commits: n.Commits, Records: n.Records, Segments: n.Segments, Patches: n.Patches}, err
	})
}
