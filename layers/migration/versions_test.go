package migration

import (
	"strings"
	"testing"
)

func TestUntagged(t *testing.T) {
	t.Parallel()
	const many = 1 << 17 // in quadratic time it would take hours
	for in, want := range map[string]string{
		"":                               "",
		"a":                              "a",
		"a ##keepit0.80##b":              "a b",
		"##keepit0.80##a##/keepit## b":   "a b",
		"##keepit0.80##a ##keepit1.00##": "a ",
		"##kee##keepit0.80##pit0.80##a":  "a",
		"```\n##keepit0.80##a\n```":      "```\n##keepit0.80##a\n```",
		strings.Repeat("##keepit0.80##a##/keepit##\n", many): strings.Repeat("a\n", many),
	} {
		if got := untagged(in); got != want {
			t.Errorf("untagged(%.40q) = %.40q, want %.40q", in, got, want)
		}
	}
}
