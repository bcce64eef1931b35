package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// Errors of relating.
var (
	ErrOwn        = errors.New("the session is of that project")
	ErrNotRelated = errors.New("the session is not related to that project")
)

// A Relation is a session of one project that can be useful in another one, for example about a library that the other
// project imports. The record is in the lane of the session's project: it is deleted with the session, and the remote of
// the other project does not receive it.
type Relation struct {
	Session *state.Session
	From    state.Project // of the session
	To      refs.Project
	Reason  string
	Time    time.Time
}

// Relate relates the session in rev to a project. The error wraps [ErrOwn] if it is the session's project.
func Relate(ctx context.Context, db *state.DB, rev state.Rev, to refs.Project, reason string) error {
	if rev.Project.ID == to {
		return fmt.Errorf("relate %s: %w", records.ShortID(rev.Session.ID), ErrOwn)
	}
	title, err := records.ParseTitle(reason)
	if err != nil {
		return err
	}
	return recordRelation(ctx, db, rev, records.RelationBody{Session: rev.Session.ID, To: to, Reason: string(title)})
}

// Unrelate deletes a relation. The error wraps [ErrNotRelated] if there is none.
func Unrelate(ctx context.Context, db *state.DB, rev state.Rev, to refs.Project) error {
	st, err := trust.Outline(ctx, db, rev.Project.ID)
	if err != nil {
		return err
	}
	there := func(r state.StoredRelation) bool { return r.Session == rev.Session.ID && r.To == to && !r.Removed }
	if !slices.ContainsFunc(st.Relations, there) {
		return fmt.Errorf("relate %s: %w", records.ShortID(rev.Session.ID), ErrNotRelated)
	}
	return recordRelation(ctx, db, rev, records.RelationBody{Session: rev.Session.ID, To: to, Removed: true})
}

func recordRelation(ctx context.Context, db *state.DB, rev state.Rev, b records.RelationBody) error {
	message := fmt.Sprintf("relate %s to %.8s", records.ShortID(b.Session), b.To)
	if b.Removed {
		message = fmt.Sprintf("relate %s to %.8s no more", records.ShortID(b.Session), b.To)
	}
	return db.Refs.Update(ctx, rev.Project.ID, message, func(tx *refs.Tx) error {
		tx.Trailer("Op", "relate")
		tx.Trailer("Session", b.Session)
		_, err := tx.Add(records.KindRelation, b)
		return err
	})
}

// RelatedTo returns the sessions of other projects related to a project, sorted by project and ID. It excludes removed and
// revoked sessions.
func RelatedTo(ctx context.Context, db *state.DB, to refs.Project) (out []Relation, err error) {
	projects, err := trust.Projects(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, p := range projects {
		if p.ID == to {
			continue
		}
		some, err := relationsOf(ctx, db, p)
		if err != nil {
			return nil, err
		}
		out = append(out, slices.DeleteFunc(some, func(r Relation) bool { return r.To != to })...)
	}
	slices.SortFunc(out, func(a, b Relation) int {
		return cmp.Or(cmp.Compare(a.From.ID, b.From.ID), cmp.Compare(a.Session.ID, b.Session.ID))
	})
	return out, nil
}

// RelationsOf returns the other projects to which a session is related.
func RelationsOf(ctx context.Context, db *state.DB, rev state.Rev) ([]Relation, error) {
	all, err := relationsOf(ctx, db, rev.Project)
	return slices.DeleteFunc(all, func(r Relation) bool { return r.Session.ID != rev.Session.ID }), err
}

// relationsOf returns the relations of the sessions of a project.
func relationsOf(ctx context.Context, db *state.DB, p state.Project) (out []Relation, err error) {
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return nil, err
	}
	for _, r := range st.Relations {
		s := st.Session(r.Session)
		if r.Removed || s == nil || !s.Shown() {
			continue
		}
		out = append(out, Relation{Session: s, From: p, To: r.To, Reason: r.Reason, Time: r.Time})
	}
	return out, nil
}
