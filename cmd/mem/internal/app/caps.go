package app

import (
	"strconv"

	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs/config"
)

// caps returns the daily limits on tokens and cost of models.
func caps(conf *config.Config) (c state.Caps, err error) {
	c = state.Caps{Tokens: -1, Micros: -1}
	if most := conf.String("llm.maxTokensPerDay"); most != "none" {
		if c.Tokens, err = strconv.Atoi(most); err != nil {
			return c, err
		}
	}
	if dollars := conf.String("llm.maxUSDPerDay"); dollars != "none" {
		c.Micros, err = engines.ParseDollars(dollars)
	}
	return c, err
}
