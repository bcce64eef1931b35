package redact

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/memvcs/mem/testdata/gen/plants"
)

// TestFile cleans a text with secrets of all kinds, many over several lines: nothing is left, the cuts give the text back,
// and the lines stand.
func TestFile(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(61, 62))
	kinds := plants.All()
	for range 4 {
		var b strings.Builder
		var planted []string
		for b.Len() < 60_000 {
			p := kinds[rng.IntN(len(kinds))]
			secret := p.Make(rng)
			planted = append(planted, plants.Lines(secret)...)
			fmt.Fprintf(&b, "%s\n{\"json\":[%d,\"line\"]}\n%s\n", strings.Repeat("and so on 결제;\n", rng.IntN(20)), rng.IntN(9), plants.Fill(p.Setting, secret))
		}
		text := []byte(b.String())
		clean, cuts, _ := new(Long).Redact(rules, text, len(text), &Numbers{})
		if undo(clean, cuts) != string(text) {
			t.Fatal("the cuts do not give the text back")
		}
		if bytes.Count(clean, []byte("\n")) != bytes.Count(text, []byte("\n")) {
			t.Error("another number of lines")
		}
		missed := 0
		for _, s := range planted {
			if bytes.Contains(clean, []byte(s)) {
				missed++
				t.Logf("left: %q", s)
			}
		}
		if missed*100 > len(planted) {
			t.Errorf("%d of %d are left", missed, len(planted))
		}
	}
}

// FuzzFile: whatever the text, the cuts give it back and the lines stand.
func FuzzFile(f *testing.F) {
	f.Add("key = \"AKIAQ3EGQKLM2NOPQRST\"\n-----BEGIN PRIVATE KEY-----\nabc\n")
	f.Add("{\"a\":\n\"b\"}\n[1]\n{")
	f.Add("\x00\xff\r\n\n\n")
	rules, err := New(Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		clean, cuts, _ := new(Long).Redact(rules, []byte(text), len(text), &Numbers{})
		if undo(clean, cuts) != text {
			t.Fatalf("%q became %q", text, undo(clean, cuts))
		}
		if bytes.Count(clean, []byte("\n")) != strings.Count(text, "\n") {
			t.Errorf("another number of lines: %q", clean)
		}
	})
}
