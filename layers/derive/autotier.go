package derive

import (
	"context"
	"time"

	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/state"
)

// A TierSchedule determines when a project ages automatically.
type TierSchedule string

// The schedules.
const (
	TierOff    TierSchedule = "off"
	TierAccess TierSchedule = "access" // whenever a command adds or uses memory
	TierDaily  TierSchedule = "daily"
	TierWeekly TierSchedule = "weekly"
)

// lastTier records in the cache when a project aged last. Without it the project ages again, which changes nothing.
type lastTier struct {
	At     time.Time
	Policy planning.Policy
}

const lastTierVersion = 2

// maxAutoVersions limits the versions of one automatic run, because a user waits for the command that triggers it.
const maxAutoVersions = 8

// AutoTier calls [Tier] if the schedule requires it now, and reports whether it did. Days and weeks are in UTC. A
// run with another policy, or one that deferred versions, does not count as the last run.
func AutoTier(ctx context.Context, db *state.DB, p state.Project, schedule TierSchedule,
	o TierOptions) (out TierResult, ran bool, err error) {
	file := db.CachePath("tier", string(p.ID))
	var last lastTier
	known := state.ReadCache(file, lastTierVersion, &last) && last.Policy == o.Policy
	now := db.Opts.Now().UTC()
	switch {
	case schedule == TierOff || schedule == "":
		return out, false, nil
	case schedule == TierDaily && known && last.At.Format(time.DateOnly) == now.Format(time.DateOnly):
		return out, false, nil
	case schedule == TierWeekly && known && planning.Week(last.At) == planning.Week(now):
		return out, false, nil
	}
	o.MaxVersions = maxAutoVersions
	if out, err = Tier(ctx, db, p, o); err == nil && !o.DryRun && out.Deferred == 0 {
		db.WriteCache(file, lastTierVersion, &lastTier{now, o.Policy})
	}
	return out, true, err
}
