package version

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/tokens"
)

// FuzzSizer holds the sums of parts against the count of the whole.
func FuzzSizer(f *testing.F) {
	for _, s := range []string{"a", "/usr/bin", " x", "…)\n", "> quoted\r\n", "\u0301", "\u2028", "", "漢字", "x\n\n", "---", "\t", "12345", "'s"} {
		f.Add(s, "b "+s, s+s, true)
		f.Add("first", s, "last", false)
	}
	f.Add(strings.Repeat("a line. Another one\n /x\n\n", 200), "b", strings.Repeat("What? no! yes. 漢字. ok\r\n", 200), false)
	f.Fuzz(func(t *testing.T, a, b, c string, typed bool) {
		role := "tool"
		if typed {
			role = "user"
		}
		segs := []Segment{{Role: "assistant", Text: a}, {Role: role, Text: b}, {Role: "tool", Text: c}, {Role: "assistant", Text: a}}
		z := Sizer{}
		for n := range len(segs) + 1 {
			if got, want := z.Size(segs[:n]), tokens.Raw(Text(segs[:n])); got != want {
				t.Fatalf("%q: %d, want %d", Text(segs[:n]), got, want)
			}
		}
	})
}
