package forget

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// ApplyRemotePurges applies the purges of other devices to this device's lanes. It returns the items that were deleted
// here. swept reports that other devices have rewritten their lanes, so that their old bytes must be removed.
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
	_, unfinished, err := ReadPending(db)
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
	damaged, err := damaged(db)
	if err != nil {
		return items, err
	}
	finished, _, err := finish(ctx, db)
	if err == nil && !finished && swept {
		err = dropBytes(ctx, db)
	}
	if err == nil && (finished || swept) {
		items = append(items, damaged...)
	}
	return items, err
}

// selectPurged selects the items that the purges of other devices name, the records that this device derived from
// deleted text, and the purges to answer.
func (f *deletion) selectPurged(ctx context.Context) error {
	marked := map[string]bool{}
	for _, r := range f.records {
		if f.purges.Records[state.RecordName(state.StampOf(r))] {
			f.direct[r.ID] = true
		}
		for _, id := range state.SessionsIn(r.Kind, r.Body) {
			if marked[id] {
				continue
			}
			marked[id] = true
			if f.purges.Session(id) {
				f.sessions[id] = true
			}
			for q, p := range f.passages(id) {
				f.until[id] = max(f.until[id], q.Stamp.Lamport)
				f.mark(id, p.Generation, p.N)
			}
		}
		if f.own(r.Device) && f.purges.Hides(r.Kind, state.StampOf(r), r.Body) {
			f.answer = true
		}
	}
	f.collectAnswers()
	return f.dangling(ctx)
}

// collectAnswers collects the purges that this device has not answered, as they were received: a newer version may have
// written members that this one does not know.
func (f *deletion) collectAnswers() {
	open := map[objects.Hash]bool{}
	for _, q := range f.purges.All {
		open[q.Sum] = open[q.Sum] || !f.acked(q)
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

// passages yields the messages of a session in purges that this device has not answered, with their purges.
func (f *deletion) passages(session string) iter.Seq2[state.StoredPurge, records.Passage] {
	key := state.PurgeKey(session)
	return func(yield func(state.StoredPurge, records.Passage) bool) {
		for _, i := range f.purges.Passages[key] {
			q := f.purges.All[i]
			if f.acked(q) {
				continue
			}
			for _, p := range q.Body.Passages {
				if p.Session == key && !yield(q, p) {
					return
				}
			}
		}
	}
}

// waiting returns the names of the transcripts and texts with deleted messages in lanes of devices that have not
// deleted them yet. This device deletes what it derived from them at once.
func (f *deletion) waiting() (map[objects.Hash]bool, error) {
	waits, free := map[objects.Hash]bool{}, map[objects.Hash]bool{}
	for _, r := range f.records {
		var err error
		hidden := !f.own(r.Device) && f.purges.Hides(r.Kind, state.StampOf(r), r.Body)
		note := func(h objects.Hash) {
			if hidden {
				waits[h] = true
			} else {
				free[h] = true
			}
		}
		switch r.Kind {
		case records.KindSession:
			err = state.ApplyTo(r, func(s records.Snapshot) { note(s.Original) })
		case records.KindVersion:
			if !f.own(r.Device) {
				err = state.ApplyTo(r, func(v records.Version) { note(v.Derivation.Output) })
			}
		}
		if err != nil {
			return nil, err
		}
	}
	maps.DeleteFunc(waits, func(h objects.Hash, _ bool) bool { return free[h] })
	return waits, nil
}

// dangling selects the objects that are named by records of sessions with deleted messages, and that no lane contains
// any more, or only lanes whose devices have yet to delete them.
func (f *deletion) dangling(ctx context.Context) error {
	if len(f.passed) == 0 && len(f.direct) == 0 {
		return nil
	}
	have := map[string]bool{}
	err := f.m.Refs.View(ctx, f.p.ID, func(tx *refs.Tx) error {
		for h, err := range tx.All(ctx) {
			if err != nil {
				return err
			}
			have[h.String()] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	waits, err := f.waiting()
	if err != nil {
		return err
	}
	missing := func(h objects.Hash) bool { return !h.IsZero() && (!have[h.String()] || waits[h]) }
	for _, r := range f.records {
		if !f.own(r.Device) {
			continue
		}
		switch r.Kind {
		case records.KindVersion:
			err = state.ApplyTo(r, func(v records.Version) {
				for _, h := range append(slices.Clone(v.Derivation.Inputs), v.Original) {
					if missing(h) {
						f.markGone(h)
					}
				}
			})
		case records.KindComposition:
			err = state.ApplyTo(r, func(c records.Composition) {
				for i, h := range c.Derivation.Inputs {
					if missing(h) && (i >= len(c.Parts) || c.Parts[i].Project == f.p.ID) {
						f.markGone(h)
					}
				}
			})
		case facts.KindExchange:
			err = state.ApplyTo(r, func(x facts.Exchange) {
				if f.stale[r.ID] = waits[x.Original]; !f.stale[r.ID] && missing(x.Original) {
					f.missing[r.ID] = true
					f.renameTranscript(x)
				}
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// renameTranscript finds the new name of the transcript against which facts were checked.
func (f *deletion) renameTranscript(x facts.Exchange) {
	s := f.st.Session(x.Session)
	if s == nil {
		return
	}
	for _, p := range s.Points {
		if p.Generation == x.Generation && p.Scan.Values >= x.To && !f.points[p.Original] {
			f.names[x.Original.String()] = p.Original.String()
			return
		}
	}
}

// madeAfter reports whether a record was derived from the remaining text of a session, by a device that had applied its
// purges.
func (f *deletion) madeAfter(r refs.Record, session string) bool {
	return f.purges != nil && r.Lamport >= f.until[session] && !f.missing[r.ID] && !f.stale[r.ID]
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
	st.Finish()
	st.NameVersions(device)
	return st, nil
}
