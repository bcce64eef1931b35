package derive

import (
	"context"
	"time"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tier"
)

// A TierSchedule says when a project ages by itself.
type TierSchedule string

// The schedules.
const (
	TierOff    TierSchedule = "off"
	TierAccess TierSchedule = "access" // whenever memory is added to or used
	TierDaily  TierSchedule = "daily"
	TierWeekly TierSchedule = "weekly"
)

// lastTier is when a project aged last. It is in the cache: without it a project ages again, which does nothing.
type lastTier struct {
	At     time.Time   `json:"at"`
	Policy tier.Policy `json:"policy"`
}

// autoMost is how many versions are made when nobody asked for it: somebody waits for the command that it happens in.
const autoMost = 8

// AutoTier is [Ops.Tier] if the schedule wants it now; ran says whether it did. Days and weeks are those of UTC,
// another policy counts as not run yet, and so does a run that left something for the next time.
func (m Ops) AutoTier(ctx context.Context, p state.Project, schedule TierSchedule, o TierOptions) (out Tiered, ran bool,
	err error) {
	file := m.CachePath("tier", string(p.ID))
	var last lastTier
	known := state.ReadCache(file, &last) && last.Policy == o.Policy
	now := m.Opts.Now().UTC()
	switch {
	case schedule == TierOff || schedule == "":
		return out, false, nil
	case schedule == TierDaily && known && last.At.Format(time.DateOnly) == now.Format(time.DateOnly):
		return out, false, nil
	case schedule == TierWeekly && known && tier.Week(last.At) == tier.Week(now):
		return out, false, nil
	}
	o.Most = autoMost
	if out, err = m.Tier(ctx, p, o); err == nil && !o.DryRun && out.Waiting == 0 {
		m.WriteCache(file, lastTier{now, o.Policy})
	}
	return out, true, err
}
