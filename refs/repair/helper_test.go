package repair

import (
	"bytes"
	"context"
	"testing"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/incoming"
	"github.com/memvcs/mem/refs/refstest"
)

// mustClean checks a store, as git does, too.
func mustClean(t *testing.T, r *refs.Repo) {
	t.Helper()
	if _, err := Check(t.Context(), r, true, func(p Problem) { t.Errorf("check: %s", p) }); err != nil {
		t.Fatal(err)
	}
	refstest.Fsck(t, r)
}

// carry brings all objects of one repository into the quarantine of another and checks a lane there.
func carry(t *testing.T, from, to *refs.Repo, l refs.Lane) (*incoming.Quarantine, incoming.FetchedLane, error) {
	t.Helper()
	ctx := context.Background()
	q, err := incoming.Begin(ctx, to)
	if err != nil {
		t.Fatal(err)
	}
	w, err := q.Writer()
	if err != nil {
		t.Fatal(err)
	}
	p := refstest.Packed(t, from, refstest.InOrder(t, from))
	lim := pack.Limits{Bytes: 1 << 30, Objects: 1 << 20, Object: 1 << 30, Ratio: 10_000}
	if _, err := w.Receive(bytes.NewReader(p), lim); err != nil {
		t.Fatal(err)
	}
	if err := q.Finish(w); err != nil {
		t.Fatal(err)
	}
	a, err := q.Check(ctx, l, "")
	return q, a, err
}
