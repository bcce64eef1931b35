package state

import (
	"context"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/refs"
)

// Version is the version of the cached state of a project; another one is rebuilt.
const Version = 29

// Fold returns the state of a project in a transaction. It reads and updates the cache.
func (m *DB) Fold(ctx context.Context, tx *refs.Tx, p refs.Project) (*State, error) {
	tips := tx.Tips()
	st := &State{}
	if !ReadCache(m.CachePath("state", string(p)), Version, st) || st.Project != p {
		st = NewState(p)
	}
	st.Purged = NewPurges(st.Purges)
	if slices.Equal(st.Tips, tips) {
		st.Finish(m.Refs.Device().ID)
		return st, nil
	}
	records, follows, err := recordsAfter(ctx, tx, st.Tips)
	if err == nil && follows && len(st.Tips) > 0 && slices.ContainsFunc(records, isPurge) {
		records, _, err = recordsAfter(ctx, tx, nil) // records that were applied before may be hidden now
		follows = false
	}
	if err != nil {
		return nil, err
	}
	if !follows {
		st = NewState(p)
	}
	if err := st.ApplyPurges(records); err != nil {
		return nil, err
	}
	for _, r := range records {
		if err := st.Apply(r); err != nil {
			return nil, err
		}
	}
	m.keep(st, tips)
	return st, nil
}

// Advance caches st together with the records of the commit that tx made on top of it, so that they need not be read
// again. st must not be used afterwards.
func (m *DB) Advance(st *State, tx *refs.Tx) {
	records, err := tx.Added()
	if err != nil || len(records) == 0 {
		return // the next reader reports the error
	}
	for _, r := range records {
		if st.Apply(r) != nil {
			return
		}
	}
	m.keep(st, tx.Tips())
}

// keep finishes st, to which records were added, and caches it for tips.
func (m *DB) keep(st *State, tips []refs.Tip) {
	st.Tips = tips
	st.Finish(m.Refs.Device().ID)
	m.WriteCache(m.CachePath("state", string(st.Project)), Version, st)
}

// FoldOutline is [DB.Fold] for callers that only read: the state is shared and must not be changed.
func (m *DB) FoldOutline(ctx context.Context, tx *refs.Tx, p refs.Project) (*State, error) {
	tips := tx.Tips()
	if len(tips) == 0 { // a record of another device can name any number of projects that are not here
		st := NewState(p)
		st.Index()
		return st, nil
	}
	if x, ok := m.Outlines.Load(p); ok {
		if was := x.(*State); slices.Equal(was.Tips, tips) {
			return was, nil
		}
	}
	st, err := m.Fold(ctx, tx, p)
	if err == nil {
		st.Index() // before several goroutines read the state
		m.Outlines.Store(p, st)
	}
	return st, err
}

// NewState returns the empty state of a project.
func NewState(p refs.Project) *State {
	return &State{Project: p, Purged: NewPurges(nil)}
}

func isPurge(r refs.Record) bool { return r.Kind == records.KindPurge }

// ApplyPurges has a state omit what the purges among records name.
func (st *State) ApplyPurges(records []refs.Record) error {
	all, err := PurgesIn(records)
	if err != nil || len(all) == 0 {
		return err
	}
	st.Purges, st.Purged = all, NewPurges(all)
	return nil
}

// recordsAfter returns the records that came after some tips. If a lane does not go on from them, follows is false and
// the records are all there are.
func recordsAfter(ctx context.Context, tx *refs.Tx, tips []refs.Tip) (records []refs.Record, follows bool, err error) {
	if follows, err = tx.Follows(tips); err != nil {
		return nil, false, err
	}
	if !follows {
		tips = nil
	}
	records, err = tx.Records(ctx, tips)
	return records, follows, err
}
