package state

import (
	"context"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A State is cached in two files. The outline is for lists, names and logs, and is read by every command. The bulk is
// only for capture and derivation: plans, the keys of typed messages, and unread queues. Each file has its tips and is
// updated from there, so neither depends on the other.

// Version is the version of both files; another one is rebuilt.
const Version = 26

// Fold returns the state of a project in a transaction. It reads and updates the cache.
func (m *DB) Fold(ctx context.Context, tx *refs.Tx, p refs.Project) (*State, error) {
	h := &history{tx: tx, tips: tx.Tips()}
	st, err := m.outlineAt(ctx, h, p)
	if err != nil {
		return nil, err
	}
	b, err := m.bulksAt(ctx, h, p)
	if err != nil {
		return nil, err
	}
	st.Fill(b)
	st.bulk = b
	return st, nil
}

// Advance caches st together with the records of the commit that tx made on top of it, so that they need not be read
// again. st must not be used afterwards.
func (m *DB) Advance(st *State, tx *refs.Tx) {
	records, err := tx.Added()
	if err != nil || len(records) == 0 {
		return // the next reader reports the error
	}
	b, tips := st.bulk, tx.Tips()
	for _, r := range records {
		if st.Apply(r) != nil || b.Apply(r) != nil {
			return
		}
	}
	b.Tips = tips
	m.keepOutline(st, tips)
	m.WriteCache(m.CachePath("bulk", string(st.Project)), Version, b)
}

// keepOutline finishes st, to which records were added, and caches its outline for tips.
func (m *DB) keepOutline(st *State, tips []refs.Tip) {
	st.Tips = tips
	st.Finish()
	st.NameVersions(m.Refs.Device().ID)
	st.Strip()
	m.WriteCache(m.CachePath("state", string(st.Project)), Version, st)
}

// FoldOutline is [DB.Fold] without the bulk. The state is shared and must not be changed.
func (m *DB) FoldOutline(ctx context.Context, tx *refs.Tx, p refs.Project) (*State, error) {
	h := &history{tx: tx, tips: tx.Tips()}
	if len(h.tips) == 0 { // a record of another device can name any number of projects that are not here
		st := NewState(p)
		st.Index()
		return st, nil
	}
	if x, ok := m.Outlines.Load(p); ok {
		if was := x.(*State); slices.Equal(was.Tips, h.tips) {
			return was, nil
		}
	}
	st, err := m.outlineAt(ctx, h, p)
	if err == nil {
		st.Index() // before several goroutines read the state
		m.Outlines.Store(p, st)
	}
	return st, err
}

func (m *DB) outlineAt(ctx context.Context, h *history, p refs.Project) (*State, error) {
	file := m.CachePath("state", string(p))
	st := &State{}
	if !ReadCache(file, Version, st) || st.Project != p {
		st = NewState(p)
	}
	st.Purged = NewPurges(st.Purges)
	if slices.Equal(st.Tips, h.tips) {
		st.Finish()
		st.NameVersions(m.Refs.Device().ID)
		return st, nil
	}
	records, follows, err := h.after(ctx, st.Tips)
	if err == nil && follows && len(st.Tips) > 0 && slices.ContainsFunc(records, isPurge) {
		records, _, err = h.after(ctx, nil) // records that were applied before may be hidden now
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
	m.keepOutline(st, h.tips)
	return st, nil
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

func (m *DB) bulksAt(ctx context.Context, h *history, p refs.Project) (*Bulks, error) {
	file := m.CachePath("bulk", string(p))
	b := &Bulks{}
	if !ReadCache(file, Version, b) {
		b = &Bulks{Of: map[objects.Hash]Bulk{}}
	}
	if slices.Equal(b.Tips, h.tips) {
		return b, nil
	}
	records, follows, err := h.after(ctx, b.Tips)
	if err != nil {
		return nil, err
	}
	if !follows {
		b.Of = map[objects.Hash]Bulk{}
	}
	for _, r := range records {
		if err := b.Apply(r); err != nil {
			return nil, err
		}
	}
	b.Tips = h.tips
	m.WriteCache(file, Version, b)
	return b, nil
}

// Apply adds the bulk of a record, if it has any.
func (b *Bulks) Apply(r refs.Record) error {
	switch r.Kind {
	case records.KindSession:
		return ApplyTo(r, func(s records.Snapshot) { b.Of[r.ID] = Bulk{Typed: s.Typed, Queue: s.Scan.Queue} })
	case records.KindVersion:
		return ApplyTo(r, func(v records.Version) { b.Of[r.ID] = Bulk{Params: v.Derivation.Recipe.Params} })
	case records.KindComposition:
		return ApplyTo(r, func(c records.Composition) {
			b.Of[r.ID] = Bulk{Params: c.Derivation.Recipe.Params, Keys: c.Typed}
		})
	}
	return nil
}

// Fill sets the fields that the outline omits.
func (st *State) Fill(b *Bulks) {
	for _, s := range st.Sessions {
		for i := range s.Points {
			p := &s.Points[i]
			x := b.Of[p.Stamp.Record]
			p.Typed, p.Scan.Queue = x.Typed, x.Queue
		}
	}
	for _, v := range st.Versions {
		v.Derivation.Recipe.Params = b.Of[v.ID].Params
	}
	for _, c := range st.Compositions {
		x := b.Of[c.ID]
		c.Derivation.Recipe.Params, c.Typed = x.Params, x.Keys
	}
}

// Strip clears the fields that the outline omits.
func (st *State) Strip() { st.Fill(&Bulks{}) }

// Complete returns a version with the fields that the outline omits.
func (m *DB) Complete(ctx context.Context, p refs.Project, v *records.Version) (*records.Version, error) {
	full := *v
	return &full, m.Refs.View(ctx, p, func(tx *refs.Tx) error {
		r, err := tx.Record(v.ID)
		if err != nil {
			return err
		}
		return ApplyTo(r, func(b records.Version) { full.Derivation = b.Derivation })
	})
}

// CompleteComposition returns a composition with the fields that the outline omits.
func (m *DB) CompleteComposition(ctx context.Context, p refs.Project,
	c *records.Composition) (*records.Composition, error) {
	full := *c
	return &full, m.Refs.View(ctx, p, func(tx *refs.Tx) error {
		r, err := tx.Record(c.ID)
		if err != nil {
			return err
		}
		return ApplyTo(r, func(b records.Composition) { full.Derivation, full.Typed = b.Derivation, b.Typed })
	})
}
