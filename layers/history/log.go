package history

import (
	"cmp"
	"context"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// A ledger is the cached log of a project, the newest entry first. It is extended from the tips at which it was made.
type ledger struct {
	Tips    []refs.Tip
	Entries []refs.Entry
}

const version = 2

// fewEntries is the largest number of operations that are read from their commits instead of the ledger.
const fewEntries = 64

// Log returns the newest n operations of a project, the newest first, or all if n is 0. The order is that of the
// commits, whatever the clock said. The result may be shared and must not be changed.
func Log(ctx context.Context, db *state.DB, p refs.Project, n int) ([]refs.Entry, error) {
	if n > 0 && n <= fewEntries {
		var out []refs.Entry
		for e, err := range db.Refs.Log(ctx, p, nil) {
			if err != nil {
				return nil, err
			}
			if out = append(out, e); len(out) == n {
				break
			}
		}
		return out, nil
	}
	l, err := read(ctx, db, p)
	if n > 0 && n < len(l.Entries) {
		l.Entries = l.Entries[:n]
	}
	return l.Entries, err
}

// ByTime returns the newest n operations of each project, or all if n is 0, the latest first and equal times in the
// order of the projects.
func ByTime(ctx context.Context, db *state.DB, projects []state.Project, n int) ([]refs.Entry, error) {
	var all []refs.Entry
	for _, p := range projects {
		entries, err := Log(ctx, db, p.ID, n)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	slices.SortStableFunc(all, func(a, b refs.Entry) int { return b.Time.Compare(a.Time) })
	return all, nil
}

// read returns the current ledger of a project.
func read(ctx context.Context, db *state.DB, p refs.Project) (l ledger, err error) {
	var tips []refs.Tip
	err = db.Refs.View(ctx, p, func(tx *refs.Tx) error { tips = tx.Tips(); return nil })
	if err != nil {
		return l, err
	}
	file := db.CachePath("log", string(p))
	if !state.ReadCache(file, version, &l) {
		l = ledger{}
	}
	if slices.Equal(l.Tips, tips) {
		return l, nil
	}
	ok, err := l.extend(ctx, db, p, tips)
	if err == nil && !ok { // a lane was rewritten: start again
		l = ledger{}
		_, err = l.extend(ctx, db, p, tips)
	}
	if err != nil {
		return l, err
	}
	db.WriteCache(file, version, &l)
	return l, nil
}

// extend adds the operations after the tips of l. It returns false if a lane does not descend from its tip; then l
// is invalid.
func (l *ledger) extend(ctx context.Context, db *state.DB, p refs.Project, now []refs.Tip) (bool, error) {
	// by device: commit of the first entry, parent of the last one
	newest, oldest := map[string]string{}, map[string]string{}
	var fresh []refs.Entry
	for e, err := range db.Refs.Log(ctx, p, l.Tips) {
		if err != nil {
			return false, err
		}
		if newest[e.Device] == "" {
			newest[e.Device] = e.Commit
		}
		oldest[e.Device] = e.Parent
		fresh = append(fresh, e)
	}
	for _, t := range l.Tips {
		here := slices.ContainsFunc(now, func(n refs.Tip) bool { return n.Device == t.Device })
		if !here || newest[t.Device] != "" && oldest[t.Device] != t.Commit {
			return false, nil
		}
		if newest[t.Device] == "" {
			newest[t.Device] = t.Commit
		}
	}
	l.Entries = append(fresh, l.Entries...)
	slices.SortStableFunc(l.Entries, func(a, b refs.Entry) int {
		return cmp.Or(cmp.Compare(b.Lamport, a.Lamport), cmp.Compare(b.Device, a.Device))
	})
	l.Tips = nil
	for device, commit := range newest {
		l.Tips = append(l.Tips, refs.Tip{Device: device, Commit: commit})
	}
	slices.SortFunc(l.Tips, func(a, b refs.Tip) int { return cmp.Compare(a.Device, b.Device) })
	return true, nil
}

// Touching returns the entries that added one of the records: records of a commit have Lamport times above that of
// the previous commit in the lane.
func Touching(entries []refs.Entry, stamps []records.Stamp) []refs.Entry {
	times := map[string][]uint64{}
	for _, s := range stamps {
		times[s.Device] = append(times[s.Device], s.Lamport)
	}
	for _, t := range times {
		slices.Sort(t)
	}
	var out []refs.Entry
	before := map[string]uint64{}
	for _, e := range slices.Backward(entries) {
		t := times[e.Device]
		i, _ := slices.BinarySearch(t, before[e.Device]+1)
		if i < len(t) && t[i] <= e.Lamport {
			out = append(out, e)
		}
		before[e.Device] = e.Lamport
	}
	slices.Reverse(out)
	return out
}
