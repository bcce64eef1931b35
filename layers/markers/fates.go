package markers

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// A Judgement is the fate of a marker in a version.
type Judgement struct {
	planning.Fate
	Judged bool // Pressure, Threshold and Margin are valid
}

// Fates returns the fates of the markers of a session in the version that rev names.
func Fates(ctx context.Context, db *state.DB, rev state.Rev) ([]Judgement, error) {
	v := rev.Version
	plan, err := v.Plan()
	if err != nil {
		return nil, err
	}
	p := state.PointOf(rev.Session, v.Origin())
	before, err := fatesBefore(ctx, db, rev)
	if err != nil {
		return nil, err
	}
	if len(plan.Kept)+len(plan.Summarised)+plan.Skip == 0 &&
		(v.Settings.Keepit != string(planning.Ignore) || len(rev.Session.Markers()) == 0) {
		return before, nil
	}
	mat, err := ReadMaterial(ctx, db, rev.Project.ID, rev.Session, p, plan.Without)
	if err != nil {
		return nil, err
	}
	marks := Recorded(rev.Session.Keepits(mat.Input, p), plan)
	settings, err := v.Settings.Asked(v.Counter)
	if settings.Since = plan.Since; err == nil {
		_, fates, wrong := planning.Resolve(settings, mat.Stats, marks)
		if wrong == nil {
			return inOrder(append(before, judged(fates, plan)...)), nil
		}
	}
	out := before
	for _, k := range marks {
		out = append(out, Judgement{Fate: planning.Fate{Mark: k, Kept: slices.ContainsFunc(plan.Kept, SpanOf(k))}})
	}
	return inOrder(out), nil
}

// fatesBefore returns the markers that did not survive in the source of a version.
func fatesBefore(ctx context.Context, db *state.DB, rev state.Rev) ([]Judgement, error) {
	if rev.Version.Source == "" {
		return nil, nil
	}
	source, err := Source(ctx, db, rev)
	var missing *state.NotFoundError
	if errors.As(err, &missing) {
		return nil, nil // the record is missing
	}
	if err != nil {
		return nil, err
	}
	fates, err := Fates(ctx, db, source)
	return slices.DeleteFunc(fates, func(j Judgement) bool { return j.Kept }), err
}

// Source returns the version from which a version was made, or whose messages it continues.
func Source(ctx context.Context, db *state.DB, rev state.Rev) (state.Rev, error) {
	st, err := trust.State(ctx, db, rev.Project.ID)
	if err != nil {
		return rev, err
	}
	for _, v := range st.Versions {
		if v.ID == rev.Version.Base {
			return revision.At(rev, v), nil
		}
	}
	return rev, &state.NotFoundError{What: "version", Name: cmp.Or(rev.Version.Source, rev.Version.Since),
		Of: records.ShortID(rev.Version.Session)}
}

func inOrder(js []Judgement) []Judgement {
	slices.SortStableFunc(js, func(a, b Judgement) int {
		return cmp.Or(cmp.Compare(a.Mark.Message, b.Mark.Message), cmp.Compare(a.Mark.Start, b.Mark.Start))
	})
	return js
}

// SpanOf returns a function that reports whether a span is the span of a mark.
func SpanOf(k planning.Mark) func(planning.Span) bool {
	return func(s planning.Span) bool {
		return s.Message == k.Message && s.Start == k.TextStart && s.End == k.TextEnd
	}
}

// Recorded returns the marks in a plan with the weights at that time. A plan that ignored markers lists none; then the
// current ones are returned.
func Recorded(all []state.Keepit, plan planning.Plan) []planning.Mark {
	var out []planning.Mark
	for _, k := range all {
		if k.Removed && slices.ContainsFunc(all, func(x state.Keepit) bool {
			return !x.Removed && state.PlaceOf(x.Mark) == state.PlaceOf(k.Mark)
		}) {
			continue // the text has another marker
		}
		known := (len(plan.Kept)+len(plan.Summarised) == 0 || plan.Skips(k.Mark.Message)) && !k.Removed
		for _, spans := range [][]planning.Span{plan.Kept, plan.Summarised} {
			if at := slices.IndexFunc(spans, SpanOf(k.Mark)); at >= 0 {
				k.Mark.Weight, known = spans[at].Weight, true
			}
		}
		if known {
			out = append(out, k.Mark)
		}
	}
	return out
}

// judged compares fates with the recorded ones. If they differ, the decay had other constants.
func judged(fates []planning.Fate, plan planning.Plan) []Judgement {
	var out []Judgement
	for _, f := range fates {
		kept, summarised := slices.ContainsFunc(plan.Kept, SpanOf(f.Mark)),
			slices.ContainsFunc(plan.Summarised, SpanOf(f.Mark))
		known := kept || summarised // a version that ignores markers records none
		j := Judgement{Fate: f, Judged: f.Kept == kept || !known}
		j.Fate.Kept = kept
		out = append(out, j)
	}
	return out
}
