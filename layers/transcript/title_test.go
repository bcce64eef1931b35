package transcript

import "testing"

func TestTitleOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Use cents.": "Use cents.",
		"Use cents. ##keepit0.80## Never floats.":            "Use cents. ",
		"##keepit1.00## Use cents. ##keepit0.80## No floats": " Use cents. ",
		"##keepit1.00##": "",
		"##keepit":       "##keepit",
		"# Memory: rr":   "# Memory: rr",
		"# Memory: rr\n\nThis is context from earlier sessions, put together by mem. [mem 1]": "",
	} {
		if got := titleOf(text); got != want {
			t.Errorf("titleOf(%q) = %q, want %q", text, got, want)
		}
	}
}
