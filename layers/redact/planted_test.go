package redact

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/redact/scanner"
	"github.com/memvcs/mem/testdata/gen/plants"
)

// TestPlanted plants 1,000 secrets of the classes that are listed, each in every coding, and counts what is left of
// them. What is found once must not be found again, and valid JSON stays valid.
func TestPlanted(t *testing.T) {
	t.Parallel()
	rules, err := New(scanner.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(5, 1))
	missed, all := map[string]int{}, 0
	kinds := plants.All()
	for i := range 1000 {
		p := kinds[i%len(kinds)]
		secret := p.Make(rnd)
		for _, c := range plants.Codings() {
			line, bare := c.Line(p, secret)
			var n Numbers
			clean, cuts := rules.Redact([]byte(line), &n)
			all++
			if left := leftOf(clean, bare); left != "" {
				if missed[p.Name+" as "+c.Name]++; missed[p.Name+" as "+c.Name] < 3 {
					t.Logf("%s as %s: left %q of %q", p.Name, c.Name, left, line)
				}
			}
			if undo(clean, cuts) != line {
				t.Fatalf("%s as %s: the cuts do not give the line back", p.Name, c.Name)
			}
			if !json.Valid(clean) || bytes.Count(clean, []byte("\n")) != 1 {
				t.Fatalf("%s as %s: %s is not JSON", p.Name, c.Name, clean)
			}
			if again := rules.Find(clean); len(again) > 0 {
				t.Errorf("%s as %s: a second look at %q finds %v", p.Name, c.Name, clean, again)
			}
		}
	}
	total := 0
	for what, n := range missed {
		total += n
		t.Logf("missed %d of %s", n, what)
	}
	t.Logf("%d classes, %d secrets, %d places, %d missed: recall %.2f %%", len(kinds), 1000, all, total, 100-100*float64(total)/float64(all))
	if total*100 > all {
		t.Errorf("%d of %d were missed, want at most 1 in 100", total, all)
	}
}

func leftOf(clean []byte, bare []string) string {
	for _, b := range bare {
		if bytes.Contains(clean, []byte(b)) || bytes.Contains(clean, []byte(strings.ReplaceAll(b, "&", `\u0026`))) {
			return b
		}
	}
	return ""
}
