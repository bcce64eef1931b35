package names

import (
	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/refs/config"
)

// DecayOf reads the constants of marker decay from the settings.
func DecayOf(conf *config.Config) (keepit.Decay, error) {
	var d keepit.Decay
	for _, one := range []struct {
		key string
		to  *keepit.Weight
	}{
		{"keepitDecay.compressionBase.light", &d.Minimal},
		{"keepitDecay.compressionBase.moderate", &d.Moderate},
		{"keepitDecay.compressionBase.aggressive", &d.Aggressive},
		{"keepitDecay.pinnedWeight", &d.Pinned},
	} {
		n, err := conf.Hundredths(one.key)
		if err != nil {
			return d, err
		}
		*one.to = keepit.Weight(n)
	}
	n, err := conf.Int("keepitDecay.maxSessionDistance")
	d.MaxDistance = n
	return d, err
}

// Decay returns the constants of marker decay of a run.
func Decay(e *app.Env) (keepit.Decay, error) {
	conf, err := e.Settings()
	if err != nil {
		return keepit.Decay{}, err
	}
	return DecayOf(conf)
}
