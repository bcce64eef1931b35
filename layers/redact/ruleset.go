package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects"
)

// New returns the built-in rules and those of c. The ID identifies them except for the known values, since the ID is
// pushed. The error names the custom rule that is not a valid expression.
func New(c Config) (Rules, error) {
	set := &ruleset{Allowed: map[string]bool{}}
	for _, k := range c.Known {
		set.Know(k)
	}
	for _, a := range c.Allow {
		set.Allowed[a] = true
	}
	var own strings.Builder
	for _, u := range c.Custom {
		re, err := regexp.Compile(u.Regexp)
		if err != nil {
			return Rules{}, fmt.Errorf("rule %s: %w", u.Name, err)
		}
		set.Custom = append(set.Custom, customPattern{Name: u.Name, Re: re})
		fmt.Fprintf(&own, "rule %q %q\n", u.Name, u.Regexp)
	}
	for _, a := range slices.Sorted(slices.Values(c.Allow)) {
		fmt.Fprintf(&own, "allow %q\n", a)
	}
	id := RulesVersion
	if own.Len() > 0 {
		id += " own-" + objects.Sum([]byte(own.String())).String()[:8]
	}
	set.Scans.New = func() any { return newScan(set) }
	return Rules{ID: id, set: set}, nil
}
