package records

import (
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/compress"
)

// RecipeSettings is a CompressionSettings of the seeds; the writer of the version stands for the model.
type RecipeSettings struct {
	VersionSettings
	Skip  int          `json:"skipFirstMessages"` // 0, too, which the record leaves out
	Tiers []RecipeTier `json:"customTiers,omitempty"`
	Model string       `json:"model"`
}

// A RecipeTier is a TierConfig of the seeds.
type RecipeTier struct {
	End            int    `json:"endPercent"`
	Ratio          int    `json:"compactionRatio"`
	Aggressiveness string `json:"aggressiveness"`
}

// Compression returns the settings of v as the seeds have them.
func (v *Version) Compression() (RecipeSettings, error) {
	out := RecipeSettings{VersionSettings: v.Settings, Skip: v.Settings.Skip, Model: v.Engine}
	for _, text := range strings.Fields(v.Settings.Tiers) {
		t, err := compress.ParseTier(text)
		if err != nil {
			return out, fmt.Errorf("version %s: %w", v.Label, err)
		}
		out.Preset = "custom"
		out.Tiers = append(out.Tiers, RecipeTier{t.End, t.Ratio, t.Level.String()})
	}
	return out, nil
}

// KeepitStats is a keepitStats of the seeds: Weights counts the kept markers by weight.
type KeepitStats struct {
	Preserved  int            `json:"preserved"`
	Summarised int            `json:"summarized"`
	Weights    map[string]int `json:"weights"`
}

// KeepitStats returns how many markers v keeps and summarises.
func (v *Version) KeepitStats() (KeepitStats, error) {
	plan, err := v.Plan()
	if err != nil {
		return KeepitStats{}, fmt.Errorf("version %s: %w", v.Label, err)
	}
	out := KeepitStats{v.Preserved, v.Summarised, map[string]int{}}
	for _, s := range plan.Summarised {
		out.Weights[s.Weight.String()] += 0
	}
	for _, s := range plan.Kept {
		out.Weights[s.Weight.String()]++
	}
	return out, nil
}

// A Recompression says how and why a part of a composition was compressed for it.
type Recompression struct {
	Settings RecipeSettings `json:"settings"`
	Reason   string         `json:"reason"`
}
