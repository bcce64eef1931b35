package history

import (
	"context"
	"time"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// Future returns the newest operation of all projects if its time is after t: then the clock of this or another
// device is wrong. Times decide nothing, but users read them and sessions age by them.
func Future(ctx context.Context, db *state.DB, t time.Time) (newest refs.Entry, ok bool, err error) {
	ids, err := db.Refs.Projects()
	if err != nil {
		return newest, false, err
	}
	for _, id := range append(ids, refs.Home) {
		entries, err := Log(ctx, db, id, fewEntries)
		if err != nil {
			return newest, false, err
		}
		for _, e := range entries {
			if e.Time.After(t) && e.Time.After(newest.Time) {
				newest, ok = e, true
			}
		}
	}
	return newest, ok, nil
}
