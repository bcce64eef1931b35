package redact

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/redact/scanner"
	"github.com/memvcs/mem/testdata/gen/plants"
)

// cleanText cleans a text whose pieces end at lines about step bytes apart, with ahead bytes in sight behind each.
func cleanText(rules Rules, text []byte, step, ahead int) (clean []byte, cuts []Cut) {
	var n Numbers
	var x Text
	for at := 0; at < len(text); {
		end := min(len(text), at+step)
		if i := bytes.IndexByte(text[end:], '\n'); i >= 0 {
			end += i + 1
		} else {
			end = len(text)
		}
		part, c, used := x.Redact(rules, text[at:min(len(text), end+ahead)], end-at, &n)
		cuts = append(cuts, Shift(c, int64(len(clean)))...)
		clean = append(clean, part...)
		at += used
	}
	return clean, cuts
}

// TestText cleans a text with secrets of all kinds, many over several lines, in pieces that end anywhere: what is left is what is left
// of the whole, the cuts give the text back, and the lines stand.
func TestText(t *testing.T) {
	t.Parallel()
	rules, err := New(scanner.Config{})
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
		for _, step := range []int{len(text), 20_000, 3_000 + rng.IntN(3000)} {
			clean, cuts := cleanText(rules, text, step, 10_000)
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
					t.Logf("step %d: left: %q", step, s)
				}
			}
			if missed*100 > len(planted) {
				t.Errorf("step %d: %d of %d are left", step, missed, len(planted))
			}
		}
	}
}

// TestTextOverLines finds a private key in a text whose pieces end at every line of it.
func TestTextOverLines(t *testing.T) {
	t.Parallel()
	rules, err := New(scanner.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(63, 64))
	var key strings.Builder
	for range 90 { // longer than what is looked at behind
		for range 64 {
			key.WriteByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[rng.IntN(64)])
		}
		key.WriteByte('\n')
	}
	text := "$ cat key\n-----BEGIN RSA PRIVATE KEY-----\n" + key.String() + "-----END RSA PRIVATE KEY-----\n$ ls\n{\"a\":1}\n"
	for step := 1; step < len(text); step += 61 {
		clean, cuts := cleanText(rules, []byte(text), step, 12_000)
		if undo(clean, cuts) != text {
			t.Fatal("the cuts do not give the text back")
		}
		for line := range strings.Lines(key.String()) {
			if strings.Contains(string(clean), strings.TrimSpace(line)) {
				t.Fatalf("step %d: a line of the key is left: %s", step, line)
			}
		}
		if !strings.HasPrefix(string(clean), "$ cat key\n") || !strings.HasSuffix(string(clean), "$ ls\n{\"a\":1}\n") {
			t.Errorf("step %d: more than the key was cut: %.200q", step, clean)
		}
	}
}

// FuzzText: whatever the text and wherever its pieces end, the cuts give it back and the lines stand.
func FuzzText(f *testing.F) {
	f.Add("key = \"AKIAQ3EGQKLM2NOPQRST\"\n-----BEGIN PRIVATE KEY-----\nabc\n", uint16(5), uint16(100))
	f.Add("{\"a\":\n\"b\"}\n[1]\n{", uint16(1), uint16(0))
	f.Add("\x00\xff\r\n\n\n", uint16(2), uint16(1))
	rules, err := New(scanner.Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, step, ahead uint16) {
		clean, cuts := cleanText(rules, []byte(text), 1+int(step), int(ahead))
		if undo(clean, cuts) != text {
			t.Fatalf("%q became %q", text, undo(clean, cuts))
		}
		if bytes.Count(clean, []byte("\n")) != strings.Count(text, "\n") {
			t.Errorf("another number of lines: %q", clean)
		}
	})
}
