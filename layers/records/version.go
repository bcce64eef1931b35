package records

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/tokens"
)

// ErrNotCompressible reports a revision that cannot be compressed.
var ErrNotCompressible = errors.New("only a session or a version can be compressed")

// FileName returns the name of the version's files without extension: v001_tiered-standard_10k.
func (v *Version) FileName() string {
	kind := cmp.Or(v.Settings.Preset, v.Settings.Aggressiveness)
	return fmt.Sprintf("%s_%s-%s_%dk", v.Label, v.Settings.Mode, kind, (v.TokensOut+500)/1000)
}

// MarkFates returns, for each mark in the plan (message, start, end), whether the version kept it.
func (v *Version) MarkFates() map[[3]int]bool {
	plan, err := v.Plan()
	if err != nil {
		return nil
	}
	out := map[[3]int]bool{}
	for _, s := range plan.Summarised {
		out[[3]int{s.Message, s.Start, s.End}] = false
	}
	for _, s := range plan.Kept {
		out[[3]int{s.Message, s.Start, s.End}] = true
	}
	return out
}

// Asked converts v to the settings of a compression.
func (v VersionSettings) Asked(counter string) (planning.Settings, error) {
	s := planning.Settings{Ratio: v.Ratio, Tokens: v.Tokens, Skip: v.Skip, Keepit: planning.KeepitMode(v.Keepit),
		Distance: v.Distance, Decay: v.Decay}
	var err error
	if s.Counter, err = tokens.ByID(counter); err != nil {
		return s, err
	}
	switch {
	case v.Tiers != "":
		for t := range strings.FieldsSeq(v.Tiers) {
			tier, err := planning.ParseTier(t)
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

// Numbered returns a number with a noun: "1 message", "2 messages".
func Numbered(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
