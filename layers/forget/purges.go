package forget

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// Heed lets this device forget what others, whom the user trusts, have forgotten: its own lanes begin anew
// without it. It returns what went here, and which devices have forgotten something that is still here because
// they are not trusted. Swept says that lanes of others have begun anew, so that their old bytes are to go.
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

// obey prepares what purges say: which sessions, records and messages they name, what this device made of text
// that is not there any more, and which purges it has to answer.
func (f *forgetting) obey(ctx context.Context) error {
	for _, r := range f.records {
		if f.heeding.Records[state.RecordName(state.StampOf(r))] {
			f.direct[r.ID] = true
		}
		for _, id := range state.SessionsIn(r.Kind, r.Body) {
			if f.heeding.Session(id) {
				f.sessions[id] = true
			}
			for _, i := range f.heeding.Passages[state.PurgeKey(id)] {
				f.passage(id, f.heeding.All[i])
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
	b, err := records.Marshal(p)
	if err != nil {
		panic("layers: a purge of strings and numbers does not marshal: " + err.Error())
	}
	return objects.Sum(b)
}

// passage notes the messages of a session that a purge names, unless this device has forgotten them before.
func (f *forgetting) passage(session string, q state.StoredPurge) {
	if f.acked(q) {
		return
	}
	key := state.PurgeKey(session)
	f.until[session] = max(f.until[session], q.Stamp.Lamport)
	for _, p := range q.Body.Passages {
		if p.Session != key {
			continue
		}
		if f.passed[session] == nil {
			f.passed[session] = map[int]map[int]bool{}
		}
		if f.passed[session][p.Generation] == nil {
			f.passed[session][p.Generation] = map[int]bool{}
		}
		f.passed[session][p.Generation][p.N] = true
	}
}

// waiting returns the names of the transcripts and texts that hold what is forgotten in lanes of others who
// have not forgotten it yet. What this device made of them goes now, whenever they get to it.
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

// dangling finds what records of sessions with forgotten messages name, and no lane has any more, or only until
// its device has forgotten them, too.
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

// rename finds the transcript that facts were checked against as it is called now.
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

// late reports whether a record was made by somebody who knew of a purge: then it speaks of what is left.
func (f *forgetting) late(r refs.Record, session string) bool {
	return f.heeding != nil && r.Lamport >= f.until[session] && !f.missing[r.ID] && !f.stale[r.ID]
}

// unfiltered returns the state of a project with what is hidden in it.
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
