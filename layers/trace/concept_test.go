package trace

import (
	"strings"
	"testing"
)

func TestAnchors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"see internal/store/cache.go and `go test ./x`": "go test ./x,cache.go",
		"parseWeight HTTPServer max_size Plain word":    "parseWeight,HTTPServer,max_size",
		"fix #123 in ABC-45 at 9f2c61a, v1.2.3, 8080":   "#123,9f2c61a,8080",
		"a.b e.g. 12 is it's":                           "",
	} {
		var got []string
		eachName(in, func(a string) { got = append(got, a) })
		if g := strings.Join(got, ","); g != want {
			t.Errorf("anchors of %q = %q, want %q", in, g, want)
		}
	}
}
