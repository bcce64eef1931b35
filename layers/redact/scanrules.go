package redact

import (
	"regexp"
	"sync"
)

// A Config contains the rules of a user, in addition to the built-in ones.
type Config struct {
	Known  []Known  // values that are secrets wherever they stand
	Allow  []string // rules, and fingerprints of secrets, that are left alone
	Custom []Custom
}

// A Custom rule is a user's own: the match of the regular expression, or its first group that matched, is a secret.
type Custom struct {
	Name   string
	Regexp string
}

// A ruleset is the built-in rules and those of a [Config]. It is safe for use by several goroutines.
type ruleset struct {
	Values  []Known // what known holds
	known   knowns
	Allowed map[string]bool
	Custom  []customPattern
	Scans   sync.Pool
}

// Know adds a value that is a secret wherever it occurs.
func (r *ruleset) Know(k Known) {
	r.Values = append(r.Values, k)
	r.known.Add(k)
}

// A customPattern is a compiled [Custom] rule.
type customPattern struct {
	Name string
	Re   *regexp.Regexp
}

// allows reports whether the user allowed this rule or this secret.
func (r *ruleset) allows(rule string, secret []byte) bool {
	return len(r.Allowed) > 0 && (r.Allowed[rule] || r.Allowed[Fingerprint(secret)])
}

// custom applies the custom rules.
func (s *Scan) custom() {
	for _, u := range s.Rules.Custom {
		for _, m := range u.Re.FindAllSubmatchIndex(s.Text, -1) {
			lo, hi := m[0], m[1]
			for g := 1; 2*g < len(m); g++ {
				if m[2*g+1] > m[2*g] {
					lo, hi = m[2*g], m[2*g+1]
					break
				}
			}
			s.found(lo, hi, u.Name)
		}
	}
}
