package records

import (
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/planning"
)

// RecipeSettings are the settings of a version for JSON output. Model is the engine.
type RecipeSettings struct {
	VersionSettings
	Skip  int          `json:"skipFirstMessages"` // also 0, which the record omits
	Tiers []RecipeTier `json:"customTiers,omitempty"`
	Model string       `json:"model"`
}

// A RecipeTier is one tier of custom tiers.
type RecipeTier struct {
	End            int    `json:"endPercent"`
	Ratio          int    `json:"compactionRatio"`
	Aggressiveness string `json:"aggressiveness"`
}

// readable reports whether v has a plan and tiers of this mem. Those of a later mem are unknown.
func (v *Version) readable() bool {
	r := v.Derivation.Recipe
	return r.Step == planning.Step && r.Version == planning.StepVersion
}

// Compression returns the settings of v, without the tiers of a later mem.
func (v *Version) Compression() (RecipeSettings, error) {
	out := RecipeSettings{VersionSettings: v.Settings, Skip: v.Settings.Skip, Model: v.Engine}
	if !v.readable() {
		return out, nil
	}
	for _, text := range strings.Fields(v.Settings.Tiers) {
		t, err := planning.ParseTier(text)
		if err != nil {
			return out, fmt.Errorf("version %s: %w", v.Label, err)
		}
		out.Preset = "custom"
		out.Tiers = append(out.Tiers, RecipeTier{t.End, t.Ratio, t.Level.String()})
	}
	return out, nil
}

// KeepitStats are counts of markers. Weights counts the kept ones by weight.
type KeepitStats struct {
	Preserved  int            `json:"preserved"`
	Summarised int            `json:"summarized"`
	Weights    map[string]int `json:"weights"`
}

// KeepitStats returns how many markers v keeps and summarises, without the weights of those of a later mem.
func (v *Version) KeepitStats() (KeepitStats, error) {
	if !v.readable() {
		return KeepitStats{v.Preserved, v.Summarised, map[string]int{}}, nil
	}
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

// A Recompression describes why and with which settings a part was compressed for a composition.
type Recompression struct {
	Settings RecipeSettings `json:"settings"`
	Reason   string         `json:"reason"`
}
