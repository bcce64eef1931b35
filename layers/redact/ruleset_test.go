package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/testdata/gen/plants"
)

// TestInvalidUTF8 looks for words in any case in text that is not UTF-8: the offsets are those of the text.
func TestInvalidUTF8(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"identified with " + strings.Repeat("\xff", 20) + " by",
		"identified with " + strings.Repeat("\xff", 20) + ` BY "h7Kq2pXw9z"`,
		`"password",` + strings.Repeat("\xff", 50) + "value",
		`"name": "password",` + strings.Repeat("\xff", 50) + `VALUE": "h7Kq2pXw9z"`,
	} {
		check(t, rules, bytes.Clone([]byte(text)))
		check(t, rules, fmt.Appendf(nil, "{\"a\":\"\\n%s\"}\n", strings.ReplaceAll(text, `"`, `\"`)))
	}
}

// TestLongEnds cleans long lines that end within an escape, and one that ends in backslashes.
func TestLongEnds(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	start := `{"content":"` + strings.Repeat("word ", 300_000) + ` PASSWORD=h7Kq2pXw9z`
	for _, line := range []string{
		start + `!\`, start + "!\\\n", start + `!\u`, start + "!\\u00\n", start + `!\ud83d\ude0`,
		start + `\n` + strings.Repeat(`\`, 1_500_000) + `"}` + "\n",
	} {
		clean, cuts := rules.Redact([]byte(line), &Numbers{})
		if undo(clean, cuts) != line {
			t.Errorf("the cuts do not give the line that ends in %q back", line[len(line)-8:])
		}
		if bytes.Count(clean, []byte("\n")) != strings.Count(line, "\n") {
			t.Errorf("the line that ends in %q has another end", line[len(line)-8:])
		}
		if bytes.Contains(clean, []byte("h7Kq2pXw9z")) {
			t.Errorf("the line that ends in %q has its password", line[len(line)-8:])
		}
	}
}

// TestLongLinesTakeLinearTime cleans lines of one megabyte with a keyword or a value every few bytes.
func TestLongLinesTakeLinearTime(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"{}", `{"":0}`, "1 AUTH ", "a:5432:"} {
		took := func(size int) time.Duration {
			line := []byte(strings.Repeat(part, size/len(part)))
			begin := time.Now()
			rules.Redact(line, &Numbers{})
			return time.Since(begin)
		}
		if short, long := took(1<<14), took(1<<19); long > 128*short+500*time.Millisecond {
			t.Errorf("%q: %s for 16 kB, %s for 512 kB", part, short, long)
		}
	}
}

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
	rules, err := New(Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) { check(t, rules, raw) })
}

// TestRulesOnMixtures cuts and joins lines with secrets at random places.
func TestRulesOnMixtures(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
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
