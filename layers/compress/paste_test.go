package compress

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/tokens"
)

// TestRequestAroundPaste checks that a version contains the request of a message with a long paste, at each ratio and in
// each order of the two.
func TestRequestAroundPaste(t *testing.T) {
	notShort(t)
	t.Parallel()
	var log, code strings.Builder
	for i := range 120 {
		fmt.Fprintf(&log, "2026-11-20T09:00:%02d ERROR worker[%d]: pkg/server/handler_%d.go:%d reset by peer latency=%dms\n",
			i%60, 1000+i, i%17, 3*i, 7*i)
		fmt.Fprintf(&code, "func handle%d(w http.ResponseWriter) error {\n\tif w == nil { return errMethod%d }\n}\n", i, i)
	}
	const first, second, third = "Please find out why the nightly import stalls after the second retry.",
		"Do not touch the billing module.", "Write a regression test first and keep the public API unchanged."
	pastes := map[string]string{"log": log.String(), "code": code.String(), "fence": "```go\n" + code.String() + "```\n"}
	for name, paste := range pastes {
		for _, typed := range []string{
			first + " " + second + "\n\n" + paste + "\n" + third,
			first + "\n" + paste + second + " " + third,
			paste + "\n" + first + " " + second + "\n" + third,
			first + "\n" + second + " " + third + "\n" + paste,
		} {
			items := []Item{{N: 1, Kind: User, Text: typed}}
			for i := 2; i < 40; i++ {
				items = append(items, Item{N: i, Kind: Assistant, Text: fmt.Sprintf(
					"The cause in `pkg/server/handler_%d.go` is the pool of service %d, which slow readers exhaust.", i, i)})
			}
			for _, budget := range []int{100, 200, 400, 1000} {
				p := Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: budget,
					Tiers: []Part{{From: 1, To: 40, Budget: budget, Level: 2}}}
				r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
				if err != nil {
					t.Fatal(err)
				}
				text := Text(r.Segments)
				for _, want := range []string{first, second, third} {
					if !strings.Contains(text, want) {
						t.Errorf("%s of %d bytes, %d tokens: %q is missing in\n%s", name, len(paste), budget, want, text)
					}
				}
			}
		}
	}
}
