package redact

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestInValue computes the keywords that cannot be the name of an assignment from the rules.
func TestInValue(t *testing.T) {
	t.Parallel()
	var want []string
	for _, p := range uncovered() {
		name, _, ok := strings.Cut(p.Regexp, `(?:[ \t\w.-]{0,20})`)
		if !p.assigns || !ok {
			continue
		}
		re := regexp.MustCompile("(?i)" + name[strings.LastIndex(name, "{0,50}?")+len("{0,50}?"):])
		for _, k := range p.Keywords {
			if !re.MatchString(k) && !strings.Contains(name, k) {
				want = append(want, k)
			}
		}
	}
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(want, inValue) {
		t.Errorf("keywords of values are %q, want %q", inValue, want)
	}
}
