package layers

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/layers/trace"
	"github.com/memvcs/mem/objects"
)

// ErrNotComparable says that a revision names nothing that was said.
var ErrNotComparable = errors.New("has no conversation to compare")

// ErrAlone says that it takes two revisions to compare.
var ErrAlone = errors.New("there is nothing to compare it with")

// A Compared is one of the two texts of a comparison.
type Compared struct {
	Rev  Rev
	Name string // as people write it: abc123:v002
	Side trace.Side
}

// A Comparison is the difference between two texts.
type Comparison struct {
	A, B Compared
	trace.Difference
	Sessions map[string]*Session // by the sources of the difference
	Since    bool                // B came after A, which has none of it
}

// Compare finds what differs between what two revisions name.
func (m *Memory) Compare(ctx context.Context, a, b Rev) (Comparison, error) {
	t := &tracer{m: m, sessions: map[string]*Session{}, aside: true}
	left, err := t.compared(ctx, a)
	if err != nil {
		return Comparison{}, err
	}
	right, err := t.compared(ctx, b)
	if err != nil {
		return Comparison{}, err
	}
	return t.compare(left, right)
}

// ErrNoVersions says that a session, or a whole project, has no version.
var ErrNoVersions = errors.New("no version has been made")

// CompareSince compares the newest version of a session, or of all of the project if rev names none, with what was said
// since it was made.
func (m *Memory) CompareSince(ctx context.Context, sc Scope, rev Rev) (Comparison, error) {
	p := sc.Project
	if rev.Session != nil {
		p = rev.Project
	}
	st, err := m.Outline(ctx, p.ID)
	if err != nil {
		return Comparison{}, err
	}
	var newest *Version
	for _, v := range st.Versions {
		if !v.Deleted && (rev.Session == nil || v.Session == rev.Session.ID) {
			newest = v
		}
	}
	if newest == nil {
		return Comparison{}, ErrNoVersions
	}
	s := st.session(newest.Session)
	t := &tracer{m: m, sessions: map[string]*Session{}, aside: true}
	v, err := m.at(ctx, Rev{Project: p, Session: s}, newest)
	if err != nil {
		return Comparison{}, err
	}
	since := Rev{Kind: IsMessages, Project: p, Session: s, From: 1, To: s.Now().Scan.Values}
	if base := s.point(newest.Origin()); base != nil && base.Generation == s.Now().Generation {
		since.From = base.Scan.Values + 1
	}
	b := Compared{Rev: since, Name: nameOf(since)}
	if since.From <= since.To {
		if b, err = t.compared(ctx, since); err != nil {
			return Comparison{}, err
		}
	}
	c, err := t.compare(Compared{Rev: v, Name: nameOf(v)}, b)
	c.Since = true
	return c, err
}

// Before returns what a version or composition is compared with when nothing else is named: the original that a version
// was made from, the state of a composition before.
func (m *Memory) Before(ctx context.Context, rev Rev) (Rev, error) {
	switch rev.Kind {
	case IsVersion:
		return m.beforeVersion(ctx, rev)
	case IsComposition:
		st, err := m.Outline(ctx, rev.Project.ID)
		if err != nil {
			return rev, err
		}
		var last *Composition
		for _, c := range st.Compositions {
			if c.ID == rev.Composition.ID && last != nil {
				rev.Composition, err = m.completeComposition(ctx, rev.Project.ID, last)
				rev.Hash = last.Derivation.Output
				return rev, err
			}
			if c.Name == rev.Composition.Name && !c.Deleted {
				last = c
			}
		}
		return rev, &NotFoundError{What: "earlier state", Name: rev.Composition.Name}
	}
	return rev, fmt.Errorf("one %s: %w", rev.Kind, ErrAlone)
}

// beforeVersion returns what a version was made from: another version, the messages since one, or the original.
func (m *Memory) beforeVersion(ctx context.Context, rev Rev) (Rev, error) {
	v, before := rev.Version, rev
	before.Kind, before.Version, before.Hash = IsOriginal, nil, v.Origin()
	switch p := rev.Session.point(v.Origin()); {
	case v.Source != "":
		source, err := m.source(ctx, rev)
		var missing *NotFoundError
		if errors.As(err, &missing) {
			return before, nil
		}
		return source, err
	case v.Since != "" && p != nil && p.Generation == rev.Session.Now().Generation:
		plan, err := v.Plan()
		before.Kind, before.Hash, before.From, before.To = IsMessages, objects.Hash{}, plan.Since+1, p.Scan.Values
		return before, err
	}
	return before, nil
}

// nameOf writes what a revision names as people write it.
func nameOf(rev Rev) string {
	switch rev.Kind {
	case IsComposition:
		return rev.Composition.Name
	case IsVersion:
		return ShortID(rev.Session.ID) + ":" + rev.Version.Name()
	case IsMessages:
		if rev.From > rev.To {
			return fmt.Sprintf("%s#%d..", ShortID(rev.Session.ID), rev.From)
		}
		return fmt.Sprintf("%s#%d..%d", ShortID(rev.Session.ID), rev.From, rev.To)
	case IsSession, IsOriginal:
		return ShortID(rev.Session.ID) + ":original"
	case IsEarlier:
		return ShortID(rev.Session.ID) + ":" + rev.earlierName()
	case IsL1:
		return ShortID(rev.Session.ID) + ":L1"
	case IsCommit:
		return "commit " + rev.Commit[:min(7, len(rev.Commit))]
	case IsConcept:
		return rev.Concept.ID
	case IsRule:
		return rev.Rule.ID
	}
	return "b3:" + rev.Hash.Short()
}

// stateName writes the name of a composition, with how many states came after it: name@{1}.
func (m *Memory) stateName(ctx context.Context, rev Rev) (string, error) {
	st, err := m.Outline(ctx, rev.Project.ID)
	if err != nil {
		return "", err
	}
	return cmp.Or(stateNames(st)[rev.Composition.ID], rev.Composition.Name), nil
}

// Name writes what the revision names as people write it.
func (r Rev) Name() string { return nameOf(r) }
