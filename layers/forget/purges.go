package forget

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// ApplyRemotePurges applies the purges of other devices to this device's lanes, and forgets the copies of deleted messages
// that have arrived, in all lanes. It returns the items that were deleted here. swept reports that other devices have
// rewritten their lanes, so that their old bytes must be removed.
func ApplyRemotePurges(ctx context.Context, db *state.DB, swept bool) (items []DeletedItem, err error) {
	ids, err := db.Refs.Projects()
	if err != nil {
		return nil, err
	}
	var purged []*state.State
	for _, id := range ids {
		st, err := trust.Outline(ctx, db, id)
		if err != nil {
			return nil, err
		}
		if len(st.Purges) > 0 {
			purged = append(purged, st)
		}
	}
	unfinished, err := Pending(db)
	if err != nil || len(purged) == 0 && !swept && !unfinished {
		return nil, err
	}
	unlock, err := db.Refs.LockForget(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, st := range purged {
		p := st.AsProject()
		f, err := forgetIn(ctx, db, p, ForgetOptions{}, st.Purged)
		if err != nil {
			return items, fmt.Errorf("project %s: %w", p.Name, err)
		}
		if f.changes() {
			items = append(items, slices.DeleteFunc(f.items, func(t DeletedItem) bool { return t.Device != "" })...)
		}
	}
	copied, done, err := forgetCopies(ctx, db, ids, purged)
	if items = append(items, copied...); err != nil {
		return items, err
	}
	damaged, err := damaged(db)
	if err != nil {
		return items, err
	}
	finished, err := finish(ctx, db)
	done() // after finish, which drops the cache
	if err == nil && !finished && swept {
		err = dropBytes(ctx, db)
	}
	if err == nil && (finished || swept) {
		items = append(items, damaged...)
	}
	return items, err
}

// A checked is the part of a project's lanes in which copies of deleted messages were looked for. It is kept in the cache.
type checked struct {
	Seals int               // how many there were
	Last  map[string]uint64 // the Lamport time of the last capture, by device
}

const checkedVersion = 1

// forgetCopies forgets what captures would not store again, see [originals.Guard], in sessions that no purge names: a fork
// that another device captured before it knew of the purge, or one in another project. It looks at what was captured since
// the last call, or at everything after another purge. Afterwards call done.
func forgetCopies(ctx context.Context, db *state.DB, ids []refs.Project, purged []*state.State) (items []DeletedItem, done func(), err error) {
	var seals originals.Seals
	var all []state.StoredPurge
	for _, st := range purged {
		all = append(all, st.Purged.All...)
		seals.Messages = append(seals.Messages, sortedKeys(st.Purged.Messages())...)
		seals.Parts = append(seals.Parts, sortedKeys(st.Purged.Parts(func(q state.StoredPurge) bool {
			return st.Purged.By(q) != db.Refs.Device().ID
		}))...)
	}
	if err := originals.AddSeals(db, seals); err != nil {
		return nil, nil, err
	}
	if seals, err = originals.ReadSeals(db); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(all, func(a, b state.StoredPurge) int { return a.Stamp.Compare(b.Stamp) })
	purges := state.NewPurges(all) // copies are in any project
	found := map[string]checked{}
	done = func() {
		for file, c := range found {
			db.WriteCache(file, checkedVersion, &c)
		}
	}
	for _, id := range ids {
		st, err := trust.Outline(ctx, db, id)
		if err != nil {
			return items, done, err
		}
		file, was, now := db.CachePath("copies", "forgotten-"+string(id)), checked{}, checked{seals.Count(), map[string]uint64{}}
		state.ReadCache(file, checkedVersion, &was)
		o := ForgetOptions{news: func(s *state.Session) bool {
			return slices.ContainsFunc(s.Points, func(p records.Point) bool {
				own := p.Stamp.Device == db.Refs.Device().ID
				return was.Seals != now.Seals || !own && p.Stamp.Lamport > was.Last[p.Stamp.Device]
			})
		}}
		for _, s := range st.Sessions {
			for _, p := range s.Points {
				now.Last[p.Stamp.Device] = max(now.Last[p.Stamp.Device], p.Stamp.Lamport)
			}
		}
		if found[file] = now; !slices.ContainsFunc(st.Sessions, o.news) {
			continue
		}
		if o.copies, err = originals.NewGuard(db, purges); err != nil {
			return items, done, err
		}
		if o.copies == nil {
			continue
		}
		p := st.AsProject()
		f, err := forgetIn(ctx, db, p, o, nil)
		if err != nil {
			return items, done, fmt.Errorf("project %s: %w", p.Name, err)
		}
		items = append(items, slices.DeleteFunc(f.items, func(t DeletedItem) bool { return t.Device != "" })...)
	}
	devices, err := trust.Devices(ctx, db)
	for i := range items {
		for _, d := range devices {
			if items[i].Waits == d.ID {
				items[i].Waits = d.Name
			}
		}
	}
	return items, done, err
}

// selectPurged selects the items that the purges of other devices name, and the purges to answer.
func (f *deletion) selectPurged(ctx context.Context) error {
	marked := map[string]bool{}
	for _, r := range f.records {
		if f.purges.Records[state.RecordName(state.StampOf(r))] {
			f.direct[r.ID] = true
		}
		for _, id := range f.about(r) {
			if marked[id] {
				continue
			}
			marked[id] = true
			s := f.st.Session(id)
			if s == nil { // only records about it remain
				s = &state.Session{ID: id}
			}
			if slices.ContainsFunc(f.keysOf(s), f.purges.Deleted) {
				f.sessions[id] = true
			}
			for p := range f.passages(s) {
				f.passed.add(id, p.Generation, p.N)
			}
		}
		if f.own(r.Device) && f.purges.Hides(r.Kind, state.StampOf(r), r.Body) {
			f.answer = true
		}
	}
	f.collectAnswers()
	return f.selectOrphans(ctx)
}

// selectOrphans selects what this device made of a version that its device has deleted, if no lane has the text of that
// version any more. The purge does not name what its device did not know.
func (f *deletion) selectOrphans(ctx context.Context) error {
	labelled := map[string]bool{} // keys of sessions
	for _, q := range f.purges.All {
		for _, l := range q.Body.Labels {
			labelled[l.Session] = labelled[l.Session] || !f.acked(q)
		}
	}
	inputs := map[objects.Hash][]objects.Hash{}
	add := func(r refs.Record, session string, input objects.Hash) {
		branch := f.st.IDOf(session, input, f.m.Refs.Device().ID)
		file, _ := records.CutDevice(branch)
		if labelled[state.PurgeKey(branch)] || labelled[state.PurgeKey(file)] {
			inputs[r.ID] = append(inputs[r.ID], input)
		}
	}
	for _, r := range f.records {
		var err error
		switch {
		case !f.own(r.Device) || f.naming(r): // it goes, and can be made again
		case r.Kind == records.KindVersion:
			err = state.ApplyTo(r, func(v records.Version) {
				for _, input := range v.Derivation.Inputs {
					if v.Source != "" {
						add(r, v.Session, input)
					}
				}
			})
		case r.Kind == records.KindComposition:
			err = state.ApplyTo(r, func(c records.Composition) {
				for _, part := range c.Parts {
					if part.Project == f.p.ID && part.Label != "original" {
						add(r, part.Session, part.Output)
					}
				}
			})
		}
		if err != nil {
			return err
		}
	}
	if len(inputs) == 0 {
		return nil
	}
	return f.m.Refs.View(ctx, f.p.ID, func(tx *refs.Tx) error {
		for id, hashes := range inputs {
			for _, h := range hashes {
				rc, err := tx.Get(ctx, h)
				if errors.Is(err, objects.ErrNotFound) {
					f.direct[id] = true
					continue
				}
				if err != nil {
					return err
				}
				if err := rc.Close(); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// collectAnswers collects the purges that this device has not answered, as they were received: a newer version may have
// written members that this one does not know. A purge that only says which labels its device used needs no answer.
func (f *deletion) collectAnswers() {
	open := map[objects.Hash]bool{}
	for _, q := range f.purges.All {
		b := q.Body
		open[q.Sum] = open[q.Sum] || !f.acked(q) && len(b.Sessions)+len(b.Records)+len(b.Passages) > 0
	}
	for _, r := range f.records {
		if r.Kind != records.KindPurge {
			continue
		}
		if sum := objects.Sum(r.Body); open[sum] {
			f.answers = append(f.answers, r.Body)
			open[sum] = false
		}
	}
}

// keysOf returns the names that a session can have in purges: devices that did not know of other branches named all of it.
func (f *deletion) keysOf(s *state.Session) []string {
	if s.File != "" {
		return append(purgeKeys(s), state.PurgeKey(s.File))
	}
	return state.KeysOf(s.ID, f.m.Refs.Device().ID)
}

// passages yields the messages of a session in purges that this device has not answered.
func (f *deletion) passages(s *state.Session) iter.Seq[records.Passage] {
	return func(yield func(records.Passage) bool) {
		for _, key := range f.keysOf(s) {
			for _, i := range f.purges.Passages[key] {
				q := f.purges.All[i]
				if f.acked(q) {
					continue
				}
				for _, p := range q.Body.Passages {
					if p.Session == key && !yield(p) {
						return
					}
				}
			}
		}
	}
}

// unfiltered returns the state of a project including hidden records.
func unfiltered(p refs.Project, records []refs.Record, tips []refs.Tip, device string) (*state.State, error) {
	st := state.NewState(p)
	for _, r := range records {
		if err := st.Apply(r); err != nil {
			return nil, err
		}
	}
	st.Tips = tips
	st.Finish(device)
	return st, nil
}
