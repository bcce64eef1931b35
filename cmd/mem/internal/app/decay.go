package app

import (
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/refs/config"
)

// DecayOf reads the constants of marker decay from the settings.
func DecayOf(conf *config.Config) keepit.Decay {
	weight := func(key string) keepit.Weight { return keepit.Weight(conf.Hundredths("keepitDecay." + key)) }
	return keepit.Decay{Minimal: weight("compressionBase.light"), Moderate: weight("compressionBase.moderate"),
		Aggressive: weight("compressionBase.aggressive"), Pinned: weight("pinnedWeight"),
		MaxDistance: conf.Int("keepitDecay.maxSessionDistance")}
}

// Decay returns the constants of marker decay of a run.
func Decay(e *Env) (keepit.Decay, error) {
	conf, err := e.Settings()
	if err != nil {
		return keepit.Decay{}, err
	}
	return DecayOf(conf), nil
}
