package incoming

import (
	"context"
	"fmt"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// CheckFork verifies a fetched lane of a former id of this store that does not continue the local commits. It returns
// the last common commit, zero if there is none, and accepts the commits on top of that.
func (q *Quarantine) CheckFork(ctx context.Context, l refs.Lane) (a FetchedLane, base pack.ID, err error) {
	here, err := q.r.Git().Ref(l.Ref())
	if err != nil {
		return a, base, err
	}
	commits, _, err := lane.CommitsSince(ctx, q.git, here, pack.ID{}, lane.MaxCommits)
	if err != nil {
		return a, base, err
	}
	ours := make(map[pack.ID]bool, len(commits))
	for _, id := range commits {
		ours[id] = true
	}
	theirs, _, err := lane.CommitsSince(ctx, q.git, l.Tip, pack.ID{}, lane.MaxCommits)
	if err != nil {
		return a, base, fmt.Errorf("lane of %s: %w: %w", l.Device, ErrRefused, err)
	}
	for _, id := range theirs {
		if ours[id] {
			base = id
		}
	}
	key, err := q.r.KeyOf(l.Device)
	if err != nil {
		return a, base, err
	}
	a = FetchedLane{Lane: l, Old: base, Key: key, Kinds: map[string]int{}}
	if err := q.check(ctx, &a); err != nil {
		return a, base, err
	}
	a.Old = here
	return a, base, nil
}
