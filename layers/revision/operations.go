package revision

import (
	"cmp"
	"context"
	"slices"

	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// An Operation is the result of one operation.
type Operation struct {
	Project      state.Project
	Entry        refs.Entry
	Captured     []Captured
	Versions     []*records.Version
	Compositions []*records.Composition
	Parents      []string // commits of the operations whose results it used
}

// Of returns the part of an operation that is about a session, and the compositions.
func (w *Operation) Of(session string) *Operation {
	out := *w
	out.Captured = slices.DeleteFunc(slices.Clone(w.Captured), func(c Captured) bool { return c.Session.ID != session })
	out.Versions = slices.DeleteFunc(slices.Clone(w.Versions), func(v *records.Version) bool {
		return v.Session != session
	})
	return &out
}

// A Captured is a growth point of a session and the previous one.
type Captured struct {
	Session *state.Session
	Before  *records.Point // nil for the first of a generation
	Now     *records.Point
}

// Operations returns the operations of a project, by commit.
func Operations(ctx context.Context, db *state.DB, p state.Project) (map[string]*Operation, error) {
	entries, err := history.Log(ctx, db, p.ID, 0)
	if err != nil {
		return nil, err
	}
	st, err := trust.State(ctx, db, p.ID)
	if err != nil {
		return nil, err
	}
	w := newOperationIndex(p, entries)
	for _, s := range st.Sessions {
		for i := range s.Points {
			if x := w.of(s.Points[i].Stamp); x != nil {
				x.Captured = append(x.Captured, Captured{s, s.Before(i), &s.Points[i]})
			}
		}
	}
	for i, v := range st.Stored.Versions {
		if x := w.of(v.Stamp); x != nil {
			x.Versions = append(x.Versions, st.Versions[i])
		}
	}
	for i, c := range st.Stored.Compositions {
		if x := w.of(c.Stamp); x != nil {
			x.Compositions = append(x.Compositions, st.Compositions[i])
		}
	}
	w.connect(st)
	return w.byCommit, nil
}

// An operationIndex finds the operations of records: records of a commit have Lamport times above that of the
// previous commit in the lane.
type operationIndex struct {
	byCommit map[string]*Operation
	lanes    map[string][]*Operation // by device, oldest first
}

func newOperationIndex(p state.Project, entries []refs.Entry) *operationIndex {
	w := &operationIndex{byCommit: map[string]*Operation{}, lanes: map[string][]*Operation{}}
	for _, e := range slices.Backward(entries) {
		x := &Operation{Project: p, Entry: e}
		w.byCommit[e.Commit] = x
		w.lanes[e.Device] = append(w.lanes[e.Device], x)
	}
	return w
}

// of returns the operation of a record, nil if it is not in the log.
func (w *operationIndex) of(s records.Stamp) *Operation {
	lane := w.lanes[s.Device]
	i, _ := slices.BinarySearchFunc(lane, s.Lamport, func(x *Operation, t uint64) int {
		return cmp.Compare(x.Entry.Lamport, t)
	})
	if i == len(lane) {
		return nil
	}
	return lane[i]
}

// connect sets the parents of all operations.
func (w *operationIndex) connect(st *state.State) {
	made := map[objects.Hash]*Operation{} // first operation by output
	put := func(h objects.Hash, s records.Stamp) {
		if x := w.of(s); x != nil && made[h] == nil {
			made[h] = x
		}
	}
	targets := map[string]*Operation{}
	for _, s := range st.Sessions {
		for _, p := range s.Points {
			put(p.Original, p.Stamp)
		}
		targets["session/"+s.ID] = w.of(s.Now().Stamp)
	}
	for _, v := range st.Stored.Versions {
		put(v.Body.Derivation.Output, v.Stamp)
		targets["version/"+v.Stamp.Record.String()] = w.of(v.Stamp)
	}
	for _, c := range st.Stored.Compositions {
		targets["composition/"+c.Body.Name] = w.of(c.Stamp)
	}
	for _, x := range w.byCommit {
		for _, c := range x.Captured {
			if c.Before != nil {
				x.uses(w.of(c.Before.Stamp))
			}
		}
		for _, v := range x.Versions {
			x.usesAll(made, v.Derivation.Inputs)
		}
		for _, c := range x.Compositions {
			x.usesAll(made, c.Derivation.Inputs)
		}
	}
	for _, o := range st.Keepits {
		if x := w.of(o.Stamp); x != nil {
			x.uses(targets["session/"+o.Session])
		}
	}
	for _, a := range st.Sets {
		if x := w.of(a.Stamp); x != nil {
			x.uses(targets[a.Target])
		}
	}
}

func (x *Operation) uses(parent *Operation) {
	if parent != nil && parent != x && parent.Entry.Lamport < x.Entry.Lamport &&
		!slices.Contains(x.Parents, parent.Entry.Commit) {
		x.Parents = append(x.Parents, parent.Entry.Commit)
	}
}

func (x *Operation) usesAll(made map[objects.Hash]*Operation, inputs []objects.Hash) {
	for _, in := range inputs {
		x.uses(made[in])
	}
}

// RevOf returns the revision of a version of a project, or of a composition.
func RevOf(ctx context.Context, db *state.DB, p state.Project, v *records.Version,
	c *records.Composition) (state.Rev, error) {
	rev := state.Rev{Project: p}
	if c != nil {
		rev.Kind, rev.Composition, rev.Hash = state.IsComposition, c, c.Derivation.Output
		return rev, nil
	}
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return rev, err
	}
	if rev.Session = st.Session(v.Session); rev.Session == nil {
		return rev, &state.NotFoundError{What: "session", Name: v.Session}
	}
	return At(rev, v), nil
}
