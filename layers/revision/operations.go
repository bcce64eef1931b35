package revision

import (
	"cmp"
	"context"
	"slices"

	"github.com/memvcs/mem/layers/ledger"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// An Operation is the result of one operation.
type Operation struct {
	Project      state.Project
	Entry        refs.Entry
	Captured     []Captured
	Versions     []*records.Version
	Compositions []*records.Composition
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
	entries, err := ledger.Log(ctx, db, p.ID, 0)
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
	for _, v := range st.Stored.Versions {
		if x := w.of(v.Stamp); x != nil {
			x.Versions = append(x.Versions, v.Body)
		}
	}
	for _, c := range st.Stored.Compositions {
		if x := w.of(c.Stamp); x != nil {
			x.Compositions = append(x.Compositions, c.Body)
		}
	}
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

// RevOf returns the revision of a version of a project, or of a composition.
func RevOf(ctx context.Context, db *state.DB, p state.Project, v *records.Version,
	c *records.Composition) (state.Rev, error) {
	rev := state.Rev{Project: p}
	if c != nil {
		full, err := db.CompleteComposition(ctx, p.ID, c)
		rev.Kind, rev.Composition, rev.Hash = state.IsComposition, full, c.Derivation.Output
		return rev, err
	}
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return rev, err
	}
	if rev.Session = st.Session(v.Session); rev.Session == nil {
		return rev, &state.NotFoundError{What: "session", Name: v.Session}
	}
	return At(ctx, db, rev, v)
}
