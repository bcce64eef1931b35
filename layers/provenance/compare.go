package provenance

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trace"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
)

// ErrNotComparable means that a revision has no conversation.
var ErrNotComparable = errors.New("has no conversation to compare")

// ErrNoCounterpart means that a revision has nothing to be compared with by default.
var ErrNoCounterpart = errors.New("there is nothing to compare it with")

// An Operand is one of the two texts of a comparison.
type Operand struct {
	Rev  state.Rev
	Name string // such as abc123:v002
	Side trace.Side
}

// A Comparison is the difference between two texts.
type Comparison struct {
	A, B Operand
	trace.Difference
	Sessions map[string]*state.Session // by the sources of the difference
	Since    bool                      // B contains only messages after A
}

// Compare compares two revisions.
func Compare(ctx context.Context, db *state.DB, a, b state.Rev) (Comparison, error) {
	t := &tracer{m: db, sessions: map[string]*state.Session{}}
	left, err := t.operand(ctx, a)
	if err != nil {
		return Comparison{}, err
	}
	right, err := t.operand(ctx, b)
	if err != nil {
		return Comparison{}, err
	}
	return t.compare(left, right), nil
}

// ErrNoVersions means that a session or a project has no version.
var ErrNoVersions = errors.New("there is no version")

// CompareSince compares the newest version of a session, or of the project if rev names no session, with the later
// messages.
func CompareSince(ctx context.Context, db *state.DB, sc state.Scope, rev state.Rev) (Comparison, error) {
	p := sc.Project
	if rev.Session != nil {
		p = rev.Project
	}
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return Comparison{}, err
	}
	var newest *records.Version
	for _, v := range st.Versions {
		if !v.Deleted && (rev.Session == nil || v.Session == rev.Session.ID) && st.Session(v.Session) != nil {
			newest = v
		}
	}
	if newest == nil {
		return Comparison{}, ErrNoVersions
	}
	s := st.Session(newest.Session)
	t := &tracer{m: db, sessions: map[string]*state.Session{}}
	v := revision.At(state.Rev{Project: p, Session: s}, newest)
	since := state.Rev{Kind: state.IsMessages, Project: p, Session: s, From: 1, To: s.Now().Scan.Values}
	if base := s.Point(newest.Origin()); base != nil && base.Generation == s.Now().Generation {
		since.From = base.Scan.Values + 1
	}
	b := Operand{Rev: since, Name: since.Name()}
	if since.From <= since.To {
		if b, err = t.operand(ctx, since); err != nil {
			return Comparison{}, err
		}
	}
	c := t.compare(Operand{Rev: v, Name: v.Name()}, b)
	c.Since = true
	return c, nil
}

// Before returns the default revision to compare a version or composition with: the source of a version, the previous
// state of a composition.
func Before(ctx context.Context, db *state.DB, rev state.Rev) (state.Rev, error) {
	switch rev.Kind {
	case state.IsVersion:
		return beforeVersion(ctx, db, rev)
	case state.IsComposition:
		st, err := trust.Outline(ctx, db, rev.Project.ID)
		if err != nil {
			return rev, err
		}
		var last *records.Composition
		for _, c := range st.Compositions {
			if c.ID == rev.Composition.ID && last != nil {
				rev.Composition, rev.Hash = last, last.Derivation.Output
				return rev, nil
			}
			if c.Name == rev.Composition.Name && !c.Deleted {
				last = c
			}
		}
		return rev, &state.NotFoundError{What: "earlier state", Name: rev.Composition.Name}
	}
	return rev, fmt.Errorf("one %s: %w", rev.Kind, ErrNoCounterpart)
}

// beforeVersion returns the source of a version: another version, the messages after one, or the original.
func beforeVersion(ctx context.Context, db *state.DB, rev state.Rev) (state.Rev, error) {
	v, before := rev.Version, rev
	before.Kind, before.Version, before.Hash = state.IsOriginal, nil, v.Origin()
	switch p := rev.Session.Point(v.Origin()); {
	case v.Source != "":
		source, err := markers.Source(ctx, db, rev)
		var missing *state.NotFoundError
		if errors.As(err, &missing) {
			return before, nil
		}
		return source, err
	case !v.Whole() && p != nil && p.Generation == rev.Session.Now().Generation:
		plan, err := v.Plan()
		before.Kind, before.Hash, before.From, before.To = state.IsMessages, objects.Hash{}, plan.Since+1, p.Scan.Values
		return before, err
	}
	return before, nil
}

// stateName returns the name of a composition with the number of later states: name@{1}.
func stateName(ctx context.Context, db *state.DB, rev state.Rev) (string, error) {
	st, err := trust.Outline(ctx, db, rev.Project.ID)
	if err != nil {
		return "", err
	}
	return cmp.Or(state.StateNames(st)[rev.Composition.ID], rev.Composition.Name), nil
}

// PreviousVersion returns the revision that the log compares a version with: the previous version of its session, or
// else its source.
func PreviousVersion(ctx context.Context, db *state.DB, rev state.Rev) (state.Rev, error) {
	st, err := trust.Outline(ctx, db, rev.Project.ID)
	if err != nil {
		return rev, err
	}
	var last *records.Version
	for _, x := range st.VersionsOf(rev.Session.ID) {
		if x.ID == rev.Version.ID {
			break
		}
		if x.Whole() {
			last = x
		}
	}
	if last == nil || rev.Version.Source != "" || !rev.Version.Whole() {
		return Before(ctx, db, rev)
	}
	return revision.At(rev, last), nil
}
