package sync

import (
	"context"
	"slices"

	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// clean removes the secrets from a lane that no remote has yet, and updates l. It reports whether it did.
func (p *pusher) clean(ctx context.Context, l *PushedLane) (bool, error) {
	if p.o.DryRun || !l.old.IsZero() || l.lane.Device != p.m.Refs.Device().ID {
		return false, nil
	}
	remotes, err := Remotes(p.m)
	pushed := func(r refs.Remote) bool {
		_, known := r.Marks[l.lane.Ref()]
		return known
	}
	if err != nil || slices.ContainsFunc(remotes, pushed) {
		return false, err
	}
	if l.Cleaned, err = forget.CleanLane(ctx, p.m, l.Project.ID); err != nil || l.Cleaned == (forget.Cleaned{}) {
		return false, err
	}
	lanes, err := p.m.Refs.Lanes()
	if err != nil {
		return false, err
	}
	for _, lane := range lanes {
		if lane.Ref() == l.lane.Ref() {
			l.lane, l.New = lane, lane.Tip.String()
		}
	}
	l.commits, _, err = lane.CommitsSince(ctx, p.m.Refs.Git(), l.lane.Tip, l.old, maxCommits)
	return true, err
}
