package interchange

import (
	"strings"
	"testing"
)

// TestDescription: project.md lists concepts and rules, but no summary in doubt.
func TestDescription(t *testing.T) {
	t.Parallel()
	p := shop(t)
	c := p.Concepts.Live()[0]
	c.Summary = "Codes that take money off."
	text := Description(p)
	for _, want := range []string{"# Project: ", " Version 1.4.0 (f:", "- Coupons: Codes that take money off (c001; db.go)\n", "Sign commits (r:"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if c.Doubt = "revoked"; strings.Contains(Description(p), "take money off") {
		t.Error("a summary in doubt is shown")
	}
}
