package ledger

import (
	"context"
	"time"

	"github.com/memvcs/mem/refs"
)

// Future returns the newest operation of all projects if its time is after t: then the clock of this or another
// device is wrong. Times decide nothing, but users read them and sessions age by them.
func (m Ops) Future(ctx context.Context, t time.Time) (newest refs.Entry, ok bool, err error) {
	ids, err := m.Refs.Projects()
	if err != nil {
		return newest, false, err
	}
	for _, id := range append(ids, refs.Home) {
		entries, err := m.Log(ctx, id, fewEntries)
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
