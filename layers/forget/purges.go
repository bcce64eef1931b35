package forget

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/strictjson"
	"github.com/memvcs/mem/refs"
)

// Heed deletes from this device's lanes what trusted devices have deleted. It returns what was deleted here, and the
// devices whose purges were not applied because they are not trusted. Swept says that other devices have rewritten
// their lanes, so that their old bytes must be removed.
func (m Ops) Heed(ctx context.Context, swept bool) (things []ForgottenThing, unheeded []string, err error) {
	ids, err := m.Refs.Projects()
	if err != nil {
		return nil, nil, err
	}
	var ahead []*state.State
	for _, id := range ids {
		st, err := trust.On(m.DB).Outline(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		if len(st.Purges) > 0 {
			ahead = append(ahead, st)
		}
		for _, d := range st.Unheeded {
			if !slices.Contains(unheeded, d) {
				unheeded = append(unheeded, d)
			}
		}
	}
	_, left, err := m.ReadPending()
	if err != nil || len(ahead) == 0 && !swept && !left {
		return nil, unheeded, err
	}
	unlock, err := m.Refs.LockForget(ctx)
	if err != nil {
		return nil, unheeded, err
	}
	defer unlock()
	for _, st := range ahead {
		p := st.AsProject()
		f, err := m.forgetIn(ctx, p, ForgetOptions{}, st.Purged)
		if err != nil {
			return things, unheeded, fmt.Errorf("project %s: %w", p.Name, err)
		}
		if f.changes() {
			things = append(things, slices.DeleteFunc(f.things, func(t ForgottenThing) bool { return t.Device != "" })...)
		}
	}
	aside, err := m.aside()
	if err != nil {
		return things, unheeded, err
	}
	some, _, err := m.finishForgetting(ctx)
	if err == nil && !some && swept {
		err = m.dropBytes(ctx)
	}
	if err == nil && (some || swept) {
		things = append(things, aside...)
	}
	return things, unheeded, err
}

// obey selects what the purges of other devices name, what this device derived from deleted text, and the purges to
// answer.
func (f *forgetting) obey(ctx context.Context) error {
	for _, r := range f.records {
		if f.heeding.Records[state.RecordName(state.StampOf(r))] {
			f.direct[r.ID] = true
		}
		for _, id := range state.SessionsIn(r.Kind, r.Body) {
			if f.heeding.Session(id) {
				f.sessions[id] = true
			}
			for q, p := range f.passages(id) {
				f.until[id] = max(f.until[id], q.Stamp.Lamport)
				f.message(id, p.Generation, p.N)
			}
		}
	}
	for _, q := range f.heeding.All {
		if !f.acked(q) && !slices.ContainsFunc(f.answers, func(a records.Purge) bool { return sumOf(a) == q.Sum }) {
			f.answers = append(f.answers, q.Body)
		}
	}
	for _, r := range f.records {
		if f.own(r.Device) && f.heeding.Hides(r.Kind, state.StampOf(r), r.Body) {
			f.answer = true
		}
	}
	return f.dangling(ctx)
}

func sumOf(p records.Purge) objects.Hash {
	b, err := strictjson.Marshal(p)
	if err != nil {
		panic("layers: a purge of strings and numbers does not marshal: " + err.Error())
	}
	return objects.Sum(b)
}

// passages yields the messages of a session in purges that this device has not answered, with their purges.
func (f *forgetting) passages(session string) iter.Seq2[state.StoredPurge, records.Passage] {
	key := state.PurgeKey(session)
	return func(yield func(state.StoredPurge, records.Passage) bool) {
		for _, i := range f.heeding.Passages[key] {
			q := f.heeding.All[i]
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
// deleted them yet. What this device derived from them is deleted now.
func (f *forgetting) waiting() (map[objects.Hash]bool, error) {
	waits, free := map[objects.Hash]bool{}, map[objects.Hash]bool{}
	for _, r := range f.records {
		var err error
		hidden := !f.own(r.Device) && f.heeding.Hides(r.Kind, state.StampOf(r), r.Body)
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

// dangling selects the objects that records of sessions with deleted messages name and that no lane contains any more,
// or only until its device has deleted them too.
func (f *forgetting) dangling(ctx context.Context) error {
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
	miss := func(h objects.Hash) bool { return !h.IsZero() && (!have[h.String()] || waits[h]) }
	for _, r := range f.records {
		if !f.own(r.Device) {
			continue
		}
		switch r.Kind {
		case records.KindVersion:
			err = state.ApplyTo(r, func(v records.Version) {
				for _, h := range append(slices.Clone(v.Derivation.Inputs), v.Original) {
					if miss(h) {
						f.lose(h)
					}
				}
			})
		case records.KindComposition:
			err = state.ApplyTo(r, func(c records.Composition) {
				for i, h := range c.Derivation.Inputs {
					if miss(h) && (i >= len(c.Parts) || c.Parts[i].Project == f.p.ID) {
						f.lose(h)
					}
				}
			})
		case facts.KindExchange:
			err = state.ApplyTo(r, func(x facts.Exchange) {
				if f.stale[r.ID] = waits[x.Original]; !f.stale[r.ID] && miss(x.Original) {
					f.missing[r.ID] = true
					f.rename(x)
				}
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rename finds the new name of the transcript against which facts were checked.
func (f *forgetting) rename(x facts.Exchange) {
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

// late reports whether a record was made after its device knew the purges of a session, from the remaining text.
func (f *forgetting) late(r refs.Record, session string) bool {
	return f.heeding != nil && r.Lamport >= f.until[session] && !f.missing[r.ID] && !f.stale[r.ID]
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
