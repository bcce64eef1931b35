package app

import (
	"strings"

	"github.com/memvcs/mem/refs/config"
)

// Override applies the -c options to c.
func (e *Env) Override(c *config.Config) error {
	for _, kv := range e.Opt.Set {
		key, val, ok := strings.Cut(kv, "=")
		if !ok {
			return WithHint(Usagef("option -c wants KEY=VALUE, not %q", kv), "mem -c "+kv+"=true ...")
		}
		if err := c.Override(key, val); err != nil {
			return AsSetting(err)
		}
	}
	return nil
}
