package redact

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/memvcs/mem/layers/redact/scanner"
	"github.com/memvcs/mem/testdata/gen/plants"
)

// check redacts raw and fails if a promise is broken: the cuts give raw back, valid JSON stays valid, the number
// of lines stands, a second look finds nothing, and looking again gives the same.
func check(t testing.TB, rules Rules, raw []byte) {
	t.Helper()
	var n, again Numbers
	clean, cuts := rules.Redact(raw, &n)
	if got := undo(clean, cuts); got != string(raw) {
		t.Fatalf("the cuts of %q give %q", raw, got)
	}
	if bytes.Count(clean, []byte("\n")) != bytes.Count(raw, []byte("\n")) {
		t.Fatalf("%q has other lines than %q", clean, raw)
	}
	for line := range bytes.Lines(raw) {
		var n Numbers
		if part, _ := rules.Redact(line, &n); json.Valid(line) && !json.Valid(part) {
			t.Fatalf("%q is JSON, %q is not", line, part)
		}
	}
	if twice, more := rules.Redact(clean, &again); len(more) > 0 || !bytes.Equal(twice, clean) {
		t.Fatalf("%q became %q, and then %q", raw, clean, twice)
	}
	var once Numbers
	if same, _ := rules.Redact(raw, &once); !bytes.Equal(same, clean) {
		t.Fatalf("%q became %q and %q", raw, clean, same)
	}
}

// FuzzRules feeds the built-in rules with anything.
func FuzzRules(f *testing.F) {
	rnd := rand.New(rand.NewPCG(3, 3))
	for _, p := range plants.All() {
		for _, c := range plants.Codings() {
			line, _ := c.Line(p, p.Make(rnd))
			f.Add([]byte(line))
			f.Add([]byte(line[:len(line)*2/3]))
		}
	}
	rules, err := New(scanner.Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) { check(t, rules, raw) })
}

// TestRulesOnMixtures cuts and joins lines with secrets at random places.
func TestRulesOnMixtures(t *testing.T) {
	t.Parallel()
	rules, err := New(scanner.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(4, 4))
	var pool []string
	for range 6 {
		for _, p := range plants.All() {
			for _, c := range plants.Codings() {
				line, _ := c.Line(p, p.Make(rnd))
				pool = append(pool, line)
			}
		}
	}
	for range 3000 {
		var raw []byte
		for range 1 + rnd.IntN(4) {
			line := pool[rnd.IntN(len(pool))]
			from := rnd.IntN(len(line))
			if rnd.IntN(3) > 0 {
				from = 0
			}
			raw = append(raw, line[from:from+rnd.IntN(len(line)-from)+1]...)
		}
		check(t, rules, raw)
	}
}
