package sync

import (
	"context"
	"slices"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// originals sends the patches of the projects whose lanes were pushed, if the user allowed exact bytes on the
// remote.
func (p *pusher) originals(ctx context.Context) error {
	git, err := p.m.Refs.Originals(p.o.Remote)
	if err != nil {
		return err
	}
	lanes, err := p.m.Refs.OriginalLanes()
	if err != nil {
		return err
	}
	raw := *p
	raw.git, raw.seen, raw.out = git, map[pack.ID]struct{}{}, &Pushed{}
	for _, lane := range lanes {
		i := slices.IndexFunc(p.out.Lanes, func(l PushedLane) bool {
			return l.Project.ID == lane.Project && l.Device == lane.Device &&
				(l.Status == "new" || l.Status == "updated" || l.Status == "current")
		})
		if i < 0 {
			continue
		}
		l := PushedLane{Project: p.out.Lanes[i].Project, Device: lane.Device, Exact: true, lane: lane,
			old: p.there[lane.Ref()]}
		if err := raw.planExact(ctx, &l); err != nil {
			return err
		}
		if l.Status != "current" {
			raw.out.Lanes = append(raw.out.Lanes, l)
		}
	}
	err = raw.send(ctx)
	p.session = raw.session
	p.out.Lanes = append(p.out.Lanes, raw.out.Lanes...)
	p.out.Objects, p.out.Bytes = p.out.Objects+raw.out.Objects, p.out.Bytes+raw.out.Bytes
	return err
}

// planExact plans a lane of exact bytes. It is not scanned, because it consists of secrets.
func (p *pusher) planExact(ctx context.Context, l *PushedLane) (err error) {
	if l.Old, l.New, l.Status = commitName(l.old), l.lane.Tip.String(), "new"; l.Old != "" {
		l.Status = "updated"
	}
	if l.old == l.lane.Tip {
		l.Status = "current"
		return p.mark(ctx, l)
	}
	follows := false
	l.commits, follows, err = lane.CommitsSince(ctx, p.git, l.lane.Tip, l.old, maxCommits)
	if err == nil && !follows {
		l.Forced, err = p.m.Refs.IsFormer(ctx, p.o.Remote, l.lane, l.old)
	}
	if err == nil && !follows && !l.Forced {
		l.Status, l.Why = "rejected", "the remote has other exact bytes of this very device"
	}
	return err
}
