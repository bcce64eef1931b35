package layers

import (
	"context"
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
	p := pointOf(rev.Session, v.Derivation.Inputs[0])
	if len(plan.Kept)+len(plan.Summarised) == 0 && (v.Settings.Keepit != string(compress.Ignore) || len(rev.Session.Markers()) == 0) {
		return nil, nil
	}
	mat, err := m.material(ctx, rev.Project.ID, rev.Session, p)
	if err != nil {
		return nil, err
	}
	marks := recorded(rev.Session.keepits(mat.input.Items, p), plan)
	settings, err := v.Settings.asked(v.Counter)
	if err == nil {
		_, fates, wrong := compress.Resolve(settings, mat.stats, marks)
		if wrong == nil {
			return judged(fates, plan), nil
		}
	}
	var out []Judgement
	for _, k := range marks {
		out = append(out, Judgement{Fate: compress.Fate{Mark: k, Kept: slices.ContainsFunc(plan.Kept, spanOf(k))}})
	}
	return out, nil
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
		known := len(plan.Kept)+len(plan.Summarised) == 0 && !k.Removed
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
	case v.Mode == "tiered":
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
