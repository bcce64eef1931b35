package layers

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
)

// A Judgement is the fate of a marker in a version.
type Judgement struct {
	compress.Fate
	Judged bool // Pressure, Threshold and Margin are those that decided
}

// Fates returns what became of the markers of a session in the version that rev names, and why.
func (m *Memory) Fates(ctx context.Context, rev Rev) ([]Judgement, error) {
	v := rev.Version
	plan, err := v.Plan()
	if err != nil {
		return nil, err
	}
	p := pointOf(rev.Session, v.Origin())
	before, err := m.fatesBefore(ctx, rev)
	if err != nil {
		return nil, err
	}
	if len(plan.Kept)+len(plan.Summarised)+plan.Skip == 0 && (v.Settings.Keepit != string(compress.Ignore) || len(rev.Session.Markers()) == 0) {
		return before, nil
	}
	mat, err := m.material(ctx, rev.Project.ID, rev.Session, p, plan.Without)
	if err != nil {
		return nil, err
	}
	marks := recorded(rev.Session.keepits(mat.input, p), plan)
	settings, err := v.Settings.asked(v.Counter)
	if settings.Since = plan.Since; err == nil {
		_, fates, wrong := compress.Resolve(settings, mat.stats, marks)
		if wrong == nil {
			return inOrder(append(before, judged(fates, plan)...)), nil
		}
	}
	out := before
	for _, k := range marks {
		out = append(out, Judgement{Fate: compress.Fate{Mark: k, Kept: slices.ContainsFunc(plan.Kept, spanOf(k))}})
	}
	return inOrder(out), nil
}

// fatesBefore returns the markers that did not survive in the version that a version was made from.
func (m *Memory) fatesBefore(ctx context.Context, rev Rev) ([]Judgement, error) {
	if rev.Version.Source == "" {
		return nil, nil
	}
	source, err := m.source(ctx, rev)
	var missing *NotFoundError
	if errors.As(err, &missing) {
		return nil, nil // its record is not here, so nobody knows
	}
	if err != nil {
		return nil, err
	}
	fates, err := m.Fates(ctx, source)
	return slices.DeleteFunc(fates, func(j Judgement) bool { return j.Kept }), err
}

// source returns the version that a version was made from, or goes on from.
func (m *Memory) source(ctx context.Context, rev Rev) (Rev, error) {
	st, err := m.State(ctx, rev.Project.ID)
	if err != nil {
		return rev, err
	}
	for _, v := range st.Versions {
		if v.ID == rev.Version.Base {
			return m.at(ctx, rev, v)
		}
	}
	return rev, &NotFoundError{What: "version", Name: cmp.Or(rev.Version.Source, rev.Version.Since), Of: ShortID(rev.Version.Session)}
}

func inOrder(js []Judgement) []Judgement {
	slices.SortStableFunc(js, func(a, b Judgement) int {
		return cmp.Or(cmp.Compare(a.Mark.Message, b.Mark.Message), cmp.Compare(a.Mark.Start, b.Mark.Start))
	})
	return js
}

// spanOf returns a function that reports whether a span is that of a mark.
func spanOf(k compress.Mark) func(compress.Span) bool {
	return func(s compress.Span) bool {
		return s.Message == k.Message && s.Start == k.TextStart && s.End == k.TextEnd
	}
}

// recorded returns the marks that a plan speaks of, with the weights that they had when it was made. A plan that ignored
// markers speaks of none: then they are those that count now.
func recorded(all []Keepit, plan compress.Plan) []compress.Mark {
	var out []compress.Mark
	for _, k := range all {
		known := (len(plan.Kept)+len(plan.Summarised) == 0 || plan.Skips(k.Mark.Message)) && !k.Removed
		for _, spans := range [][]compress.Span{plan.Kept, plan.Summarised} {
			if at := slices.IndexFunc(spans, spanOf(k.Mark)); at >= 0 {
				k.Mark.Weight, known = spans[at].Weight, true
			}
		}
		if known {
			out = append(out, k.Mark)
		}
	}
	return out
}

// judged holds fates against what was recorded: where they differ, the constants of the decay were others.
func judged(fates []compress.Fate, plan compress.Plan) []Judgement {
	var out []Judgement
	for _, f := range fates {
		kept, summarised := slices.ContainsFunc(plan.Kept, spanOf(f.Mark)), slices.ContainsFunc(plan.Summarised, spanOf(f.Mark))
		known := kept || summarised // a version that ignores markers knows of none
		j := Judgement{Fate: f, Judged: f.Kept == kept || !known}
		j.Fate.Kept = kept
		out = append(out, j)
	}
	return out
}

// asked turns the words of the seeds back into settings.
func (v VersionSettings) asked(counter string) (compress.Settings, error) {
	s := compress.Settings{Ratio: v.Ratio, Tokens: v.Tokens, Skip: v.Skip, Keepit: compress.KeepitMode(v.Keepit), Distance: v.Distance, Decay: v.Decay}
	var err error
	if s.Counter, err = tokens.ByID(counter); err != nil {
		return s, err
	}
	switch {
	case v.Tiers != "":
		for t := range strings.FieldsSeq(v.Tiers) {
			tier, err := compress.ParseTier(t)
			if err != nil {
				return s, err
			}
			s.Tiers = append(s.Tiers, tier)
		}
	case v.Preset != "":
		s.Preset = v.Preset
	default:
		level, err := keepit.ParseLevel(v.Aggressiveness)
		if err != nil {
			return s, err
		}
		s.Level = &level
	}
	return s, nil
}
