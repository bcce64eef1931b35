package app

import (
	"strconv"

	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/state"
)

// caps returns the daily limits on tokens and cost of models.
func caps(e *Env) (state.Caps, error) {
	c := state.Caps{Tokens: -1, Micros: -1}
	conf, err := e.Settings()
	if err != nil {
		return c, err
	}
	most, err := conf.String("llm.maxTokensPerDay")
	if err != nil {
		return c, err
	}
	if most != "none" {
		if c.Tokens, err = strconv.Atoi(most); err != nil {
			return c, err
		}
	}
	dollars, err := conf.String("llm.maxUSDPerDay")
	if err == nil && dollars != "none" {
		c.Micros, err = engines.ParseDollars(dollars)
	}
	return c, err
}
