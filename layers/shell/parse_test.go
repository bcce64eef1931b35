package shell

import (
	"strings"
	"testing"
)

// TestSettles gives lines that ended with 0 or not, with the commands of which that says that they succeeded, or failed.
func TestSettles(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"a && b":                               "a b / a b",
		"a; b":                                 "b / b",
		"a && b | tail":                        "a tail / a tail",
		"a && b && c 2>&1 | tail -3":           "a b tail / a b tail",
		"a | tail && b | tail && c":            "tail tail c / tail tail c",
		"(a && b) | tail":                      "tail / tail",
		"x && (a && b) | tail":                 "tail / tail",
		"bash -c 'a && b' | tail":              "tail / tail",
		"set -o pipefail; a && b | c":          "a b c / a b c",
		"a && for i in 1 2; do b; done":        "a done / a done",
		"a && for i in 1; do b; done | tail":   "a tail / a tail",
		"a && if b; then c; fi && d":           "a fi d / a fi d",
		"a && { b; c; }":                       "a } / a }",
		"while ! a; do if b; then c; fi; done": "done / done",
		"a && if b; then c":                    " / ",
		"a || b":                               " / ",
		"a && b || exit 1":                     "a b exit / a b",
		"a && b | tail || true":                " / ",
		"! a | b":                              " / ",
		"a && b &":                             " / ",
	} {
		list := Parse(line)
		ok, bad := Settles(list)
		var good, failed []string
		for i, s := range list {
			if ok[i] {
				good = append(good, s.Words[0])
			}
			if bad[i] {
				failed = append(failed, s.Words[0])
			}
		}
		if got := strings.Join(good, " ") + " / " + strings.Join(failed, " "); got != want {
			t.Errorf("Settles(%q) = %q, want %q", line, got, want)
		}
	}
}
