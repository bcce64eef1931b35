package redact

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/redact/scanner"
)

// TestInvalidUTF8 looks for words in any case in text that is not UTF-8: the offsets are those of the text.
func TestInvalidUTF8(t *testing.T) {
	t.Parallel()
	rules, err := New(scanner.Config{})
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

// TestLongEnds cleans the last piece of a long line that ends within an escape, and a piece that ends in backslashes.
func TestLongEnds(t *testing.T) {
	t.Parallel()
	rules, err := New(scanner.Config{})
	if err != nil {
		t.Fatal(err)
	}
	start := `{"content":"` + strings.Repeat("word ", 300_000) + ` PASSWORD=h7Kq2pXw9z`
	for _, line := range []string{
		start + `!\`, start + "!\\\n", start + `!\u`, start + "!\\u00\n", start + `!\ud83d\ude0`,
		start + `\n` + strings.Repeat(`\`, 1_500_000) + `"}` + "\n",
	} {
		clean, cuts := cleanLong(rules, []byte(line), 1<<20)
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
	rules, err := New(scanner.Config{})
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
		if short, long := took(1<<15), took(1<<20); long > 128*short+500*time.Millisecond {
			t.Errorf("%q: %s for 32 kB, %s for 1 MB", part, short, long)
		}
	}
}
