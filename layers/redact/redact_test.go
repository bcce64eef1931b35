package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects"
)

var token = regexp.MustCompile(`TOKEN_[a-z0-9]{8}`)

// toy is a rule that finds TOKEN_ and eight letters or digits.
func toy(value []byte) iter.Seq[Finding] { return matches(token, "toy")(value) }

func matches(re *regexp.Regexp, name string) Rule {
	return func(value []byte) iter.Seq[Finding] {
		return func(yield func(Finding) bool) {
			for _, m := range re.FindAllIndex(value, -1) {
				if !yield(Finding{Start: m[0], End: m[1], Rule: name}) {
					return
				}
			}
		}
	}
}

func toys(rules ...Rule) Rules { return Rules{ID: "toy 1", Rules: append([]Rule{toy}, rules...)} }

func TestRedact(t *testing.T) {
	t.Parallel()
	number := matches(regexp.MustCompile(`8{6}`), "Card No")
	wide := matches(regexp.MustCompile(`"key": *"[^"]*"`), "wide")
	half := matches(regexp.MustCompile(`x[\\]u005`), "half")
	bare := matches(regexp.MustCompile(`pre‹secret:toy:[0-9]+›post`), "bare")
	tests := []struct{ name, raw, want string }{
		{"nothing", `{"a":"b"}` + "\n", `{"a":"b"}` + "\n"},
		{"string", `{"a":"see TOKEN_abcd1234."}`, `{"a":"see ‹secret:toy:1›."}`},
		{"key", `{"TOKEN_abcd1234":1}`, `{"‹secret:toy:1›":1}`},
		{"equal", `{"a":"TOKEN_abcd1234 TOKEN_ffff0000 TOKEN_abcd1234"}`, `{"a":"‹secret:toy:1› ‹secret:toy:2› ‹secret:toy:1›"}`},
		{"next value", "{\"a\":\"TOKEN_abcd1234\"}{\"b\":\"TOKEN_ffff0000\"}\n", "{\"a\":\"‹secret:toy:1›\"}{\"b\":\"‹secret:toy:2›\"}\n"},
		{"number", `[1,12888888.5e3,-2]`, `[1,"‹secret:-ard--o:1›",-2]`},
		{"quotes stay", `{"key": "v"}`, `{"‹secret:wide:1›": "‹secret:wide:2›"}`},
		{"empty string", `{"key": "", "x":2}`, `{"‹secret:wide:1›": "", "x":2}`},
		{"escape whole", `["ax\u005cb"]`, `["a‹secret:half:1›b"]`},
		{"no JSON", "{\"a\" TOKEN_abcd1234\nTOKEN_abcd1234\"\n", "{\"a\" ‹secret:toy:1›\n‹secret:toy:1›\"\n"},
		{"torn then whole", "{\"a\":{\"b\":1\n{\"key\": \"v\"}\n", "{\"a\":{\"b\":1\n{\"‹secret:wide:1›\": \"‹secret:wide:2›\"}\n"},
		{"laid bare", `["preTOKEN_abcd1234post"]`, `["‹secret:bare:1›‹secret:toy:2›‹secret:bare:3›"]`},
		{"stands already", `["‹secret:toy:7› TOKEN_abcd1234"]`, `["‹secret:toy:7› ‹secret:toy:1›"]`},
	}
	rules := toys(number, wide, half, bare)
	for _, tt := range tests {
		var n Numbers
		got, cuts := rules.Redact([]byte(tt.raw), &n)
		if string(got) != tt.want {
			t.Errorf("%s: Redact(%s) = %s, want %s", tt.name, tt.raw, got, tt.want)
		}
		if back := undo(got, cuts); back != tt.raw {
			t.Errorf("%s: cuts give %s, want %s", tt.name, back, tt.raw)
		}
		if json.Valid([]byte(tt.raw)) && !json.Valid(got) {
			t.Errorf("%s: %s is not JSON", tt.name, got)
		}
	}
}

// undo puts cuts back by hand, to check Redact without Restore.
func undo(clean []byte, cuts []Cut) string {
	var b strings.Builder
	at := 0
	for _, c := range cuts {
		b.Write(clean[at:c.At])
		b.Write(c.Bytes)
		at = int(c.At) + c.Len
	}
	b.Write(clean[at:])
	return b.String()
}

// A hostile transcript must not make redaction take time that grows with the square of its length: this
// test would not end.
func TestRedactIsLinear(t *testing.T) {
	t.Parallel()
	const n = 50_000
	for _, raw := range []string{
		strings.Repeat("{\n", n),
		strings.Repeat("[", n) + "\n" + strings.Repeat("TOKEN_abcd1234\n", n),
		`["` + strings.Repeat("TOKEN_abcd1234", n) + `"]`,
		strings.Repeat("TOKEN_abcd1234", n),
	} {
		var numbered Numbers
		clean, cuts := toys().Redact([]byte(raw), &numbered)
		if token.Match(clean) || undo(clean, cuts) != raw {
			t.Errorf("%.20q is not redacted", raw)
		}
	}
}

// What looks like tables, blocks of base64 and ends of keys must not take it either.
func TestRulesAreLinear(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	const n = 20_000
	coded := strings.Repeat("YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXphYmNkZWZnaGlqa2xtbm9wcXJzdHV2\n", n)
	for name, text := range map[string]string{
		"heads": strings.Repeat("password,token,secret\n", n), "one head": strings.Repeat("password,token,", n), "bars": strings.Repeat("| password | token |\n", n),
		"base64": coded, "ends": coded + strings.Repeat("-----END PRIVATE KEY-----\n", n), "inserts": strings.Repeat("insert into t (password) values (", n),
		"copies": strings.Repeat("(password) from stdin;\n", n), "no width": strings.Repeat("pass\u200bword", n), "sentences": strings.Repeat("password ", n), "made": strings.Repeat("random_password result ", n),
		"words": strings.Repeat("password: [-a-]{+b+}", n), "lines": strings.Repeat("password:\n", n), "elements": strings.Repeat("<password ", n), "plus": strings.Repeat("%41+", n),
	} {
		raw, err := json.Marshal(map[string]string{"a": text})
		if err != nil {
			t.Fatal(err)
		}
		var numbered Numbers
		if clean, cuts := rules.Redact(raw, &numbered); undo(clean, cuts) != string(raw) {
			t.Errorf("%s is not put back", name)
		}
	}
}

func TestRedactWithoutRulesDoesNotCopy(t *testing.T) {
	t.Parallel()
	raw := []byte(`{"a":"TOKEN_abcd1234"}`)
	for _, r := range []Rules{{}, {ID: "none found", Rules: []Rule{matches(regexp.MustCompile("zzz"), "z")}}} {
		var n Numbers
		clean, cuts := r.Redact(raw, &n)
		if &clean[0] != &raw[0] || len(cuts) != 0 {
			t.Errorf("Redact with rules %q copied or cut", r.ID)
		}
	}
}

// transcript makes values with toy secrets in every place, some of them broken.
func transcript(rnd *rand.Rand, n int) (values [][]byte) {
	secret := func() string { return fmt.Sprintf("TOKEN_%08x", rnd.IntN(6)) }
	words := []string{"plain", "tab\tquote\"", "日本語", "🙂", "‹secret:toy:1›", "", "\\", "\u2028"}
	text := func() string {
		var b strings.Builder
		for range rnd.IntN(6) {
			b.WriteString(words[rnd.IntN(len(words))])
			if rnd.IntN(2) == 0 {
				b.WriteString(secret())
			}
		}
		return b.String()
	}
	for range n {
		var v []byte
		switch rnd.IntN(8) {
		case 0:
			v = []byte(`{"torn":"` + secret())
		case 1:
			v = []byte("no JSON " + secret() + "\x00\xff")
		case 2:
			v, _ = json.MarshalIndent(map[string]any{text(): text(), "n": rnd.Int()}, "", "  ")
		default:
			v, _ = json.Marshal(map[string]any{"text": text(), secret(): []any{text(), rnd.IntN(9), nil}})
		}
		values = append(values, append(v, '\n'))
	}
	return values
}

// grow redacts values in increments of random size, as adds of a growing session do, with a patch
// for each and the state of numbering taken from the patches.
func grow(rnd *rand.Rand, values [][]byte, rules Rules) (clean, raw []byte, patches []Patch) {
	for i := 0; i < len(values); {
		var numbered Numbers
		p := Patch{Rules: rules.ID, Before: int64(len(clean))}
		for _, old := range patches {
			numbered.Learn(old.Cuts)
			p.Prev = old.Name()
		}
		k := min(len(values), i+1+rnd.IntN(4))
		chunk := bytes.Join(values[i:k], nil)
		raw = append(raw, chunk...)
		c, cuts := rules.Redact(chunk, &numbered)
		clean = append(clean, c...)
		p.Cuts = Shift(cuts, p.Before)
		if k < len(values) {
			p.Tail = values[k][:rnd.IntN(len(values[k]))]
		}
		original := append(bytes.Clone(raw), p.Tail...)
		p.After, p.Clean, p.RawLen, p.Raw = int64(len(clean)), objects.Sum(clean), int64(len(original)), objects.Sum(original)
		if len(patches) > 0 && rnd.IntN(3) == 0 {
			p.Prev = objects.Hash{}
		}
		patches = append(patches, p)
		i = k
	}
	return clean, raw, patches
}

func TestAnySplitRestores(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		values := transcript(rnd, 1+rnd.IntN(12))
		whole := bytes.Join(values, nil)
		var n Numbers
		want, _ := toys().Redact(whole, &n)
		clean, _, patches := grow(rnd, values, toys())
		if !bytes.Equal(clean, want) {
			t.Fatalf("seed %d: in increments %q, at once %q", seed, clean, want)
		}
		if token.Match(clean) {
			t.Fatalf("seed %d: a secret stands in %q", seed, clean)
		}
		if again, cuts := toys().Redact(clean, &n); len(cuts) != 0 || &again[0] != &clean[0] {
			t.Fatalf("seed %d: a second pass finds %v", seed, cuts)
		}
		for i, p := range patches {
			var got bytes.Buffer
			if err := Restore(&got, bytes.NewReader(clean[:p.After]), decodeAll(t, patches[:i+1])...); err != nil {
				t.Fatalf("seed %d: restore growth point %d: %v", seed, i, err)
			}
			if !bytes.HasPrefix(whole, got.Bytes()) || int64(got.Len()) != p.RawLen {
				t.Fatalf("seed %d: growth point %d: %q is no start of %q", seed, i, got.Bytes(), whole)
			}
		}
		checkLines(t, values, clean)
	}
}

// decodeAll sends patches through their encoding.
func decodeAll(t *testing.T, patches []Patch) (out []Patch) {
	t.Helper()
	for _, p := range patches {
		q, err := Decode(p.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if q.Name() != p.Name() {
			t.Fatalf("name %s after decoding, want %s", q.Name(), p.Name())
		}
		out = append(out, q)
	}
	return out
}

// checkLines checks that clean has the lines of values, and JSON where they had it.
func checkLines(t *testing.T, values [][]byte, clean []byte) {
	t.Helper()
	for _, v := range values {
		end := 0
		for range bytes.Count(v, []byte("\n")) {
			end += bytes.IndexByte(clean[end:], '\n') + 1
		}
		if json.Valid(v) != json.Valid(clean[:end]) {
			t.Fatalf("%q became %q", v, clean[:end])
		}
		clean = clean[end:]
	}
	if len(clean) != 0 {
		t.Fatalf("%q is left over", clean)
	}
}

func FuzzRedact(f *testing.F) {
	for _, v := range transcript(rand.New(rand.NewPCG(1, 2)), 20) {
		f.Add(v)
	}
	f.Add([]byte(`["\ud83d\ude00TOKEN_abcd1234\\"] {"TOKEN_abcd1234`))
	rules := toys(matches(regexp.MustCompile(`(?s)[b-d"\\]..?.?u`), "odd"), matches(regexp.MustCompile(`[0-9]{3,}`), "no"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var n Numbers
		clean, cuts := rules.Redact(raw, &n)
		if back := undo(clean, cuts); back != string(raw) {
			t.Fatalf("cuts of %q give %q", raw, back)
		}
		if bytes.Count(raw, []byte("\n")) != bytes.Count(clean, []byte("\n")) {
			t.Fatalf("%q has other lines than %q", clean, raw)
		}
		if json.Valid(raw) && !json.Valid(clean) {
			t.Fatalf("%q became %q, no JSON", raw, clean)
		}
		if json.Valid(raw) {
			var again Numbers
			if _, more := rules.Redact(clean, &again); len(more) != 0 {
				t.Fatalf("a second pass over %q finds %v", clean, more)
			}
		}
	})
}

// Find returns the secrets that Redact would take out of raw at first sight, in order and apart.
func (r Rules) Find(raw []byte) []Finding {
	var out []Finding
	if !r.Any() {
		return nil
	}
	for start, end := range units(raw) {
		for _, s := range r.FindUnits(raw[start:end], false, nil, nil) {
			out = append(out, Finding{Start: start + s.Start, End: start + s.End, Rule: s.Rule})
		}
	}
	return out
}

// TestRedactTogether redacts the values of a text together: the result is that of one value
// after the other, also for a password that is found in one place and repeated, without its name, later.
func TestRedactTogether(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	repeated := 0
	for range 8 {
		var raw []byte
		var passwords []string
		for len(raw) < 256<<10 {
			text := strings.Repeat("word ", r.IntN(300))
			switch r.IntN(12) {
			case 0:
				p := fmt.Sprintf("Kx%08xQ!z", r.Uint32())
				passwords = append(passwords, p)
				text += "password=" + p
			case 1:
				if len(passwords) > 0 {
					text += "it was " + passwords[r.IntN(len(passwords))] + " again"
				}
			}
			line, err := json.Marshal(map[string]string{"text": text})
			if err != nil {
				t.Fatal(err)
			}
			raw = append(append(raw, line...), '\n')
		}
		var one, all Numbers
		var want []byte
		for line := range bytes.Lines(raw) {
			clean, _ := rules.Redact(line, &one)
			want = append(want, clean...)
		}
		got, _ := rules.Redact(raw, &all)
		if !bytes.Equal(got, want) {
			t.Fatal("the whole text is not redacted as its lines are")
		}
		repeated += bytes.Count(got, []byte("it was ‹secret:"))
	}
	if repeated == 0 {
		t.Error("no repeated password was redacted")
	}
}

// slowUnit is unit, byte by byte.
func slowUnit(b []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\n' && (quoted || depth == 0):
			return i + 1
		case quoted && c == '\\':
			if i+1 < len(b) && b[i+1] != '\n' {
				i++
			}
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return i + 1 + Blank(b[i+1:])
			}
		}
	}
	return len(b)
}

// TestUnit compares unit with a walk byte by byte.
func TestUnit(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(21, 22))
	for range 200_000 {
		b := make([]byte, rng.IntN(24))
		for i := range b {
			b[i] = "{}[]\"\"\\\n a,:"[rng.IntN(12)]
		}
		if got, want := unit(b, lineEnd(b)), slowUnit(b); got != want {
			t.Fatalf("unit(%q) = %d, want %d", b, got, want)
		}
	}
}
