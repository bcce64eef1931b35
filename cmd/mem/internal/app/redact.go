package app

import (
	"strings"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/refs/config"
)

// RedactRules returns the rules for scanning pushes.
func RedactRules(e *Env, conf *config.Config) (redact.Rules, error) {
	var c redact.Config
	for _, s := range conf.List() {
		if name, ok := strings.CutPrefix(s.Key, AllowKey); ok {
			c.Allow = append(c.Allow, name)
		}
		if name, ok := strings.CutPrefix(s.Key, RuleKey); ok {
			c.Custom = append(c.Custom, redact.Custom{Name: name, Regexp: s.Value})
		}
	}
	if conf.Bool("redact.environment") {
		for _, v := range e.Environ() {
			name, value, _ := strings.Cut(v, "=")
			if k, ok := redact.Variable([]byte(name), []byte(value)); ok {
				c.Known = append(c.Known, k)
			}
		}
	}
	return redact.New(c)
}
