package derive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// An UpToDateError means that a version covers all messages of its session.
type UpToDateError struct {
	Session, Label string
	Through        int // last message that the version covers
}

func (e *UpToDateError) Error() string {
	return fmt.Sprintf("no new messages in %s since %s, which covers up to message %d", records.ShortID(e.Session),
		e.Label, e.Through)
}

// Errors about the base of an incremental compression.
var (
	ErrOtherSession = errors.New("is not a version of this session")
	ErrOtherPast    = errors.New("contains messages that the session no longer has")
	ErrSkip         = errors.New("messages can be skipped only in a whole session")
)

// incrementalBasis returns the basis for the messages after those that the version base covers.
func incrementalBasis(rev, base state.Rev) (trust.Basis, error) {
	v, now := base.Version, rev.Session.Now()
	if v == nil || base.Session == nil || base.Session.ID != rev.Session.ID {
		return trust.Basis{}, fmt.Errorf("%s %w, %s", base.Name(), ErrOtherSession, records.ShortID(rev.Session.ID))
	}
	chain := rev.Session.Chain(now)
	i := slices.IndexFunc(chain, func(p records.Point) bool { return p.Original == v.Origin() })
	if i < 0 {
		return trust.Basis{}, fmt.Errorf("%s %w: its transcript was rewritten", base.Name(), ErrOtherPast)
	}
	b := trust.Basis{Point: now, Input: now.Original, After: chain[i].Scan.Values, Version: v}
	if b.After >= now.Scan.Values {
		return b, &UpToDateError{rev.Session.ID, v.Label, b.After}
	}
	return b, nil
}

// versionBasis returns the basis for a compression of a version.
func versionBasis(rev state.Rev) (trust.Basis, error) {
	v := rev.Version
	p := rev.Session.Point(v.Origin())
	if p == nil {
		return trust.Basis{}, fmt.Errorf("%s: its source %s: %w", rev.Name(), v.Origin().Short(), objects.ErrNotFound)
	}
	plan, err := v.Plan()
	b := trust.Basis{Point: p, Input: v.Derivation.Output, Version: v, Again: true}
	if plan.Skip+plan.Since > 0 && len(plan.Tiers) > 0 {
		b.After = plan.Tiers[0].From - 1
	}
	return b, err
}

// recordedBasis returns the basis that a version was made from. It follows from the derivation alone; the base version
// may be missing.
func recordedBasis(s *state.Session, v *records.Version) (trust.Basis, error) {
	p := s.Point(v.Origin())
	if p == nil || len(v.Derivation.Inputs) == 0 {
		return trust.Basis{}, fmt.Errorf("%s: its source %s: %w", v.Label, v.Origin().Short(), objects.ErrNotFound)
	}
	plan, err := v.Plan()
	return trust.Basis{Point: p, Input: v.Derivation.Inputs[0], After: plan.Since, Again: v.Source != "",
		Without: plan.Without}, err
}

// materialOf reads the input of a compression of b.
func materialOf(ctx context.Context, db *state.DB, project refs.Project, s *state.Session,
	b trust.Basis) (markers.Material, error) {
	mat, err := markers.ReadMaterial(ctx, db, project, s, b.Point, b.Without)
	if err != nil || !b.Again {
		return mat, err
	}
	segs, err := segments(ctx, db, project, b.Input)
	if err != nil {
		return mat, fmt.Errorf("text of a version of %s: %w", records.ShortID(s.ID), err)
	}
	if b.Version != nil {
		if mat.Marks, err = KeptMarks(b.Version, segs, s.Keepits(mat.Input, b.Point)); err != nil {
			return mat, err
		}
	}
	mat.Input = compress.Input{Items: compress.Recall(segs)}
	return mat, nil
}

// segments reads the text of a version.
func segments(ctx context.Context, db *state.DB, project refs.Project, h objects.Hash) ([]version.Segment, error) {
	b, err := originals.Object(ctx, db, project, h)
	if err != nil {
		return nil, err
	}
	return version.Decode(b)
}

// KeptMarks returns the markers whose texts a version kept, with their current weights; a removed marker has weight 0.
func KeptMarks(v *records.Version, segs []version.Segment, now []state.Keepit) ([]planning.Mark, error) {
	plan, err := v.Plan()
	if err != nil {
		return nil, err
	}
	spans := slices.Clone(plan.Kept)
	slices.SortStableFunc(spans, func(a, b planning.Span) int {
		return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.Start, b.Start))
	})
	var out []planning.Mark
	for _, s := range segs {
		if s.Keep == "" {
			continue
		}
		if len(out) == len(spans) {
			return nil, fmt.Errorf("%s keeps more texts than its plan names", v.Label)
		}
		span := spans[len(out)]
		k := planning.Mark{Message: span.Message}
		k.Weight, k.Text = span.Weight, s.Text
		k.Start, k.End, k.TextStart, k.TextEnd = span.Start, span.End, span.Start, span.End
		same := markers.SpanOf(k)
		for _, x := range now {
			if !same(planning.Span{Message: x.Mark.Message, Start: x.Mark.TextStart, End: x.Mark.TextEnd}) {
				continue
			}
			if k = x.Mark; !x.Removed {
				break
			}
			k.Weight = 0 // unless another marker of the text follows
		}
		out = append(out, k)
	}
	if len(out) < len(spans) {
		return nil, fmt.Errorf("%s keeps fewer texts than its plan names", v.Label)
	}
	return out, nil
}
