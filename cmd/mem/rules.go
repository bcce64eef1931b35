package main

import (
	"regexp"
	"strings"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/redact/scanner"
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
	var c scanner.Config
	for _, s := range conf.List() {
		if name, ok := strings.CutPrefix(s.Key, allowKey); ok {
			c.Allow = append(c.Allow, name)
		}
		if name, ok := strings.CutPrefix(s.Key, ruleKey); ok {
			c.Custom = append(c.Custom, scanner.Custom{Name: name, Regexp: s.Value})
		}
	}
	if env {
		for _, v := range e.Environ() {
			name, value, _ := strings.Cut(v, "=")
			if k, ok := scanner.Variable([]byte(name), []byte(value)); ok {
				c.Known = append(c.Known, k)
			}
		}
	}
	rules, err = redact.New(c)
	return rules, env, err
}

// checkRule refuses a rule of the user's that no push would pass, and warns of one that finds times or ids, which stand in every session.
func (e *Env) checkRule(name, expr string) error {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil // the setting says so
	}
	narrower := "say what stands before it, and put what is secret in a group: mem config set " + ruleKey + name + " 'pin:? *([0-9]{4,6})'"
	part, whole, stops := redact.Overreach(re)
	switch {
	case stops:
		return withHint(usagef("rule %s finds %q in what mem itself writes (%q): no push would pass", name, part, whole), narrower)
	case whole != "":
		e.warn("rule %s finds %q in times or ids too (%q): sessions lose them, and what is made of them later may be refused by a push", name, part, whole)
		e.hint("%s", narrower)
	}
	return nil
}
