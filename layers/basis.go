package layers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A basis is what a version is made of: a session up to a growth point, what was said in it since another version was
// made, or the text of another version.
type basis struct {
	point   *Point       // whose messages the version names
	input   objects.Hash // of the derivation
	after   int          // messages up to this one are left out
	version *Version     // that it goes on from, or whose text it is made of
	again   bool         // it is made of the version's text
	without [][2]int     // messages whose calls of tools are left out

	purpose string                         // why mem makes it, if nobody asked: see [Version.For]
	label   string                         // that the version shall have if it is free
	accept  func([]compress.Segment) error // may refuse a text before it is stored; nil takes any
}

// A NothingNewError says that a version covers all that was said.
type NothingNewError struct {
	Session, Label string
	Through        int // last message that the version covers
}

func (e *NothingNewError) Error() string {
	return fmt.Sprintf("nothing was said in %s since %s, which goes to message %d", ShortID(e.Session), e.Label, e.Through)
}

// Errors about the version that a compression shall go on from.
var (
	ErrOtherSession = errors.New("is no version of this session")
	ErrOtherPast    = errors.New("was made of messages that the session does not have now")
	ErrSkip         = errors.New("messages can be skipped only in a whole session")
)

// sinceVersion is the basis of what was said after the messages that a version covers.
func sinceVersion(rev, base Rev) (basis, error) {
	v, now := base.Version, rev.Session.Now()
	if v == nil || base.Session == nil || base.Session.ID != rev.Session.ID {
		return basis{}, fmt.Errorf("%s %w, %s", base.Name(), ErrOtherSession, ShortID(rev.Session.ID))
	}
	chain := rev.Session.chain(now)
	i := slices.IndexFunc(chain, func(p Point) bool { return p.Original == v.Origin() })
	if i < 0 {
		return basis{}, fmt.Errorf("%s %w: its transcript was rewritten", base.Name(), ErrOtherPast)
	}
	b := basis{point: now, input: now.Original, after: chain[i].Scan.Values, version: v}
	if b.after >= now.Scan.Values {
		return b, &NothingNewError{rev.Session.ID, v.Label, b.after}
	}
	return b, nil
}

// ofVersion is the basis of a version that is made of another one.
func ofVersion(rev Rev) (basis, error) {
	v := rev.Version
	p := rev.Session.point(v.Origin())
	if p == nil {
		return basis{}, fmt.Errorf("%s: its source %s: %w", rev.Name(), v.Origin().Short(), objects.ErrNotFound)
	}
	plan, err := v.Plan()
	b := basis{point: p, input: v.Derivation.Output, version: v, again: true}
	if plan.Skip+plan.Since > 0 && len(plan.Tiers) > 0 {
		b.after = plan.Tiers[0].From - 1
	}
	return b, err
}

// basisOf is the basis that a version was made of. What its derivation says is enough: the version that it goes on from
// is not looked for.
func basisOf(s *Session, v *Version) (basis, error) {
	p := s.point(v.Origin())
	if p == nil || len(v.Derivation.Inputs) == 0 {
		return basis{}, fmt.Errorf("%s: its source %s: %w", v.Label, v.Origin().Short(), objects.ErrNotFound)
	}
	plan, err := v.Plan()
	return basis{point: p, input: v.Derivation.Inputs[0], after: plan.Since, again: v.Source != "", without: plan.Without}, err
}

// note writes into a version what it is made of.
func (b basis) note(v *Version, device string) {
	v.Label, v.For = b.label, b.purpose
	if b.version == nil {
		return
	}
	label := b.version.Label
	if b.version.Device != device {
		label += "~" + b.version.Device[:min(8, len(b.version.Device))]
	}
	v.Base = b.version.ID
	if b.again {
		v.Source, v.Original = label, b.point.Original
		return
	}
	v.Since, v.Settings.Mode = label, "delta"
}

// materialOf reads what a compression of b needs.
func (m *Memory) materialOf(ctx context.Context, project refs.Project, s *Session, b basis) (material, error) {
	mat, err := m.material(ctx, project, s, b.point, b.without)
	if err != nil || !b.again {
		return mat, err
	}
	body, err := m.object(ctx, project, b.input)
	if err != nil {
		return mat, err
	}
	segs, err := compress.Decode(body)
	if err != nil {
		return mat, fmt.Errorf("text of a version of %s: %w", ShortID(s.ID), err)
	}
	if b.version != nil {
		if mat.marks, err = keptMarksOf(b.version, segs, s.keepits(mat.input, b.point)); err != nil {
			return mat, err
		}
	}
	mat.input = compress.Input{Items: compress.Recall(segs)}
	return mat, nil
}

// keptMarksOf returns the markers whose texts a version kept, with the weights that they have now; a marker that was
// removed since weighs nothing.
func keptMarksOf(v *Version, segs []compress.Segment, now []Keepit) ([]compress.Mark, error) {
	plan, err := v.Plan()
	if err != nil {
		return nil, err
	}
	spans := slices.Clone(plan.Kept)
	slices.SortStableFunc(spans, func(a, b compress.Span) int {
		return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.Start, b.Start))
	})
	var out []compress.Mark
	for _, s := range segs {
		if s.Keep == "" {
			continue
		}
		if len(out) == len(spans) {
			return nil, fmt.Errorf("%s keeps more texts than its plan names", v.Label)
		}
		span := spans[len(out)]
		k := compress.Mark{Message: span.Message}
		k.Weight, k.Text = span.Weight, s.Text
		k.Start, k.End, k.TextStart, k.TextEnd = span.Start, span.End, span.Start, span.End
		for _, x := range now {
			if spanOf(k)(compress.Span{Message: x.Mark.Message, Start: x.Mark.TextStart, End: x.Mark.TextEnd}) {
				if k = x.Mark; x.Removed {
					k.Weight = 0
				}
				break
			}
		}
		out = append(out, k)
	}
	if len(out) < len(spans) {
		return nil, fmt.Errorf("%s keeps fewer texts than its plan names", v.Label)
	}
	return out, nil
}

// Covers returns which messages a version is about.
func (r Rev) Covers() (from, to int, err error) {
	plan, err := r.Version.Plan()
	return plan.Since + 1, pointOf(r.Session, r.Version.Origin()).Scan.Values, err
}
