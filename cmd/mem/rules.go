package main

import (
	"strings"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/refs/config"
)

// The families of settings of redaction.
const (
	allowKey = "redact.allow."
	ruleKey  = "redact.rule."
)

// redactRules returns the rules that look at what is pushed, and whether the values of .env files count too.
func (e *Env) redactRules(conf *config.Config) (rules redact.Rules, env bool, err error) {
	if env, err = conf.Bool("redact.environment"); err != nil {
		return redact.Rules{}, false, err
	}
	var c redact.Config
	for _, s := range conf.List() {
		if name, ok := strings.CutPrefix(s.Key, allowKey); ok {
			c.Allow = append(c.Allow, name)
		}
		if name, ok := strings.CutPrefix(s.Key, ruleKey); ok {
			c.Custom = append(c.Custom, redact.Custom{Name: name, Regexp: s.Value})
		}
	}
	if env {
		for _, v := range e.Environ() {
			name, value, _ := strings.Cut(v, "=")
			if k, ok := redact.Variable([]byte(name), []byte(value)); ok {
				c.Known = append(c.Known, k)
			}
		}
	}
	rules, err = redact.New(c)
	return rules, env, err
}
