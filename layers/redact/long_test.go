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

// cleanLong cleans line in pieces of about step bytes.
func cleanLong(rules Rules, line []byte, step int) (clean []byte, cuts []Cut) {
	var n Numbers
	var l Long
	for at := 0; at < len(line); {
		end := min(len(line), at+step)
		part, c, used := l.Redact(rules, line[at:end], end == len(line), &n)
		cuts = append(cuts, Shift(c, int64(len(clean)))...)
		clean = append(clean, part...)
		at += used
	}
	return clean, cuts
}

// TestLong cleans lines of megabytes in pieces: nothing planted is left, wherever a piece ends, the cuts give the
// line back, and JSON stays valid.
func TestLong(t *testing.T) {
	t.Parallel()
	rules, err := New(scanner.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(8, 8))
	kinds := plants.All()
	for _, text := range []bool{false, true} {
		var all, missed int
		for range 3 {
			var b strings.Builder
			var planted []string
			for b.Len() < 3<<20 {
				p := kinds[rnd.IntN(len(kinds))]
				secret := p.Make(rnd)
				planted = append(planted, plants.Lines(secret)...)
				b.WriteString(strings.Repeat("결제 \\ \" \u2028 😀 and so on;\n", rnd.IntN(3000)))
				b.WriteString("\n" + plants.Fill(p.Setting, secret) + "\n")
			}
			line := []byte(plants.AsText(b.String()))
			if text {
				line = []byte(strings.ReplaceAll(b.String(), "\n", `\n`) + "\n")
			}
			clean, cuts := cleanLong(rules, line, 400_000+rnd.IntN(200_000))
			if undo(clean, cuts) != string(line) {
				t.Fatal("the cuts do not give the line back")
			}
			if !text && !json.Valid(clean) || bytes.Count(clean, []byte("\n")) != 1 {
				t.Fatal("no JSON any more")
			}
			all += len(planted)
			for _, s := range planted {
				if bytes.Contains(clean, []byte(s)) {
					missed++
					t.Logf("left: %q", s)
				}
			}
		}
		if missed*100 > all {
			t.Errorf("text %v: %d of %d are left", text, missed, all)
		}
	}
}
