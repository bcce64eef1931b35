package provenance

import (
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/objects"
)

// A Reproduction is the result of reproducing a version or composition.
type Reproduction struct {
	Rev       state.Rev
	Name      string
	Output    objects.Hash // of the new body
	Identical bool         // byte for byte
	Why       string       // explains a difference
	Err       error        // why it could not be reproduced
}

// Reproduce runs the recipe of a version or composition again on its inputs, with the recorded answers of models, and
// compares the bytes. It costs and writes nothing. If the reproduction fails, its Err is set; the returned error is an
// error of the store.
func Reproduce(ctx context.Context, db *state.DB, rev state.Rev) (Reproduction, error) {
	a := Reproduction{Rev: rev, Name: rev.Name()}
	var body []byte
	switch rev.Kind {
	case state.IsVersion:
		body, a.Err = derive.Reproduce(ctx, db, rev)
	case state.IsComposition:
		name, err := stateName(ctx, db, rev)
		if err != nil {
			return a, err
		}
		a.Name = name
		body, a.Err = rebuildComposition(ctx, db, rev)
	default:
		return a, fmt.Errorf("%s is a %s: %w", rev.Name(), rev.Kind, ErrNotBlamable)
	}
	if a.Err != nil {
		return a, ctx.Err()
	}
	a.Output = objects.Sum(body)
	if a.Identical = a.Output == rev.Hash; a.Identical {
		return a, nil
	}
	stored, err := originals.Object(ctx, db, rev.Project.ID, rev.Hash)
	if err != nil {
		a.Err = err
		return a, ctx.Err()
	}
	a.Why = explainDifference(rev.Kind, stored, body)
	return a, nil
}

// ReproduceAll reproduces all versions and compositions of a project and calls report after each.
func ReproduceAll(ctx context.Context, db *state.DB, p state.Project, report func(Reproduction)) error {
	st, err := trust.State(ctx, db, p.ID)
	if err != nil {
		return err
	}
	try := func(rev state.Rev) error {
		a, err := Reproduce(ctx, db, rev)
		if err == nil {
			report(a)
		}
		return err
	}
	for _, v := range st.Versions {
		if s := st.Session(v.Session); s != nil && !v.Deleted {
			if err := try(state.Rev{Kind: state.IsVersion, Project: p, Session: s, Version: v,
				Hash: v.Derivation.Output}); err != nil {
				return err
			}
		}
	}
	for _, c := range st.Compositions {
		if !c.Deleted {
			if err := try(state.Rev{Kind: state.IsComposition, Project: p, Composition: c,
				Hash: c.Derivation.Output}); err != nil {
				return err
			}
		}
	}
	return nil
}

// rebuildComposition computes the body of a composition from its inputs, with the stored titles and dates.
func rebuildComposition(ctx context.Context, db *state.DB, rev state.Rev) ([]byte, error) {
	was, err := checkout.Composed(ctx, db, rev)
	if err != nil {
		return nil, err
	}
	counter, err := tokens.ByID(was.Counter)
	if err != nil {
		return nil, err
	}
	step, recipe := fmt.Sprintf("%s/%d", derive.ComposeStep, derive.ComposeStepVersion), rev.Composition.Derivation.Recipe
	if made := fmt.Sprintf("%s/%d", recipe.Step, recipe.Version); made != step {
		return nil, fmt.Errorf("%s: %w: it was %s, this is %s", rev.Composition.Name, compress.ErrEngineGone, made, step)
	}
	now := compose.Composition{Name: was.Name, Budget: rev.Composition.Budget} // it may have another name since
	for i, in := range rev.Composition.Derivation.Inputs {
		if i >= len(was.Parts) || i >= len(rev.Composition.Parts) {
			return nil, fmt.Errorf("%s has %d inputs and %d parts", rev.Composition.Name, len(rev.Composition.Derivation.Inputs),
				len(was.Parts))
		}
		part := was.Parts[i]
		part.Hash, part.Segments = in, nil
		if part.Segments, err = partSegments(ctx, db, rev.Composition, i, part.Version); err != nil {
			return nil, fmt.Errorf("part %d, %s:%s: %w", i+1, records.ShortID(part.Session), part.Version, err)
		}
		now.Parts = append(now.Parts, part)
	}
	if err := now.Measure(counter); err != nil {
		return nil, err
	}
	return now.Encode(), nil
}

// partSegments returns the text of part i of a composition, as the step had it.
func partSegments(ctx context.Context, db *state.DB, c *records.Composition, i int,
	label string) ([]version.Segment, error) {
	p, h := c.Parts[i].Project, c.Derivation.Inputs[i]
	if c.Tier != "" {
		plan, err := c.Plan()
		if err != nil {
			return nil, err
		}
		return derive.Digest(ctx, db, p, c.Parts[i].Session, h, plan.Digests[i])
	}
	if label == "original" {
		rewound, err := originals.Rewound(ctx, db, p, h)
		if err != nil {
			return nil, err
		}
		return originals.Composed(ctx, db, p,
			&records.Point{Snapshot: records.Snapshot{Original: h, Rewound: rewound}}, c.After(i), c.Without(i))
	}
	b, err := originals.Object(ctx, db, p, h)
	if err != nil {
		return nil, err
	}
	return version.Decode(b)
}

// explainDifference says where two bodies of one recipe differ first, and why they may.
func explainDifference(kind state.Kind, stored, again []byte) string {
	a, errA := SegmentsOf(kind, stored)
	b, errB := SegmentsOf(kind, again)
	if err := errors.Join(errA, errB); err != nil {
		return err.Error()
	}
	i := 0
	for i < min(len(a), len(b)) && a[i].Role == b[i].Role && a[i].Text == b[i].Text {
		i++
	}
	where := fmt.Sprintf("other text from segment %d of %d on", i+1, len(a))
	switch {
	case i == len(a) && i == len(b):
		where = "the same text in another form"
	case i < len(a) && len(a[i].Src) > 0:
		where = fmt.Sprintf("other text from message %d on", a[i].Src[0][0])
	}
	return where + ": the program that made it refined, counted or cut text differently"
}

// SegmentsOf decodes the body of a version or, for another kind, of a composition.
func SegmentsOf(kind state.Kind, body []byte) ([]version.Segment, error) {
	if kind == state.IsVersion {
		return version.Decode(body)
	}
	c, err := compose.Decode(body)
	return allSegments(c), err
}
