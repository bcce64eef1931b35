package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/memvcs/mem/testdata/gen/plants"
)

// cleanLong cleans text in pieces of about step bytes, which end with a line unless it is one line.
func cleanLong(rules Rules, text []byte, line bool, step int) (clean []byte, cuts []Cut) {
	var numbers Numbers
	l := Long{Line: line}
	for from := 0; from < len(text); {
		raw := text[from:min(len(text), from+step+Ahead)]
		at := len(raw)
		if from+at < len(text) {
			if at = step; !line {
				at = 1 + bytes.LastIndexByte(raw[:step], '\n')
			}
		}
		part, c, n := l.Redact(rules, raw, at, &numbers)
		cuts = append(cuts, Shift(c, int64(len(clean)))...)
		clean = append(clean, part...)
		from += n
	}
	return clean, cuts
}

// TestLong cleans lines and files in pieces: nothing planted is left, wherever a piece ends, the cuts give the text back, and
// JSON stays valid.
func TestLong(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(8, 8))
	kinds := plants.All()
	for _, kind := range []string{"JSON", "HTML", "text", "file"} {
		var b strings.Builder
		var planted []string
		for b.Len() < 400_000 {
			p := kinds[rnd.IntN(len(kinds))]
			secret := p.Make(rnd)
			planted = append(planted, plants.Lines(secret)...)
			b.WriteString(strings.Repeat("결제 \\ \" \u2028 😀 and so on;\n", rnd.IntN(300)))
			b.WriteString("\n" + plants.Fill(p.Setting, secret) + "\n")
		}
		text := b.String()
		switch kind {
		case "JSON":
			text = plants.AsText(text)
		case "HTML":
			quoted, err := json.Marshal(map[string]string{"text": text}) // escapes <, > and &
			if err != nil {
				t.Fatal(err)
			}
			text = string(quoted) + "\n"
		case "text":
			text = strings.ReplaceAll(text, "\n", `\n`) + "\n"
		}
		clean, cuts := cleanLong(rules, []byte(text), kind != "file", 20_000+rnd.IntN(10_000))
		if undo(clean, cuts) != text {
			t.Errorf("%s: the cuts do not give the text back", kind)
		}
		if bytes.Count(clean, []byte("\n")) != strings.Count(text, "\n") || (kind == "JSON" || kind == "HTML") && !json.Valid(clean) {
			t.Errorf("%s: no JSON any more, or another number of lines", kind)
		}
		missed := 0
		for _, s := range planted {
			if bytes.Contains(clean, []byte(s)) {
				missed++
				t.Logf("%s: left: %q", kind, s)
			}
		}
		if missed*100 > len(planted) {
			t.Errorf("%s: %d of %d are left", kind, missed, len(planted))
		}
	}
}

// TestLongBorders ends a piece at every offset of a line that contains a secret.
func TestLongBorders(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	const pem = `-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7h7Kq2pXw9zR4\n` +
		`VjTb8sWq0Lm3Xc5Yd1Zf6Gh2Jk9Pn7Qr4St8Uv0Wx3Yz5Ab1Cd6Ef2Gh9Ij7Kl4M\n-----END PRIVATE KEY-----`
	for _, c := range []struct{ text, secret string }{
		{`{"a":"and so on","password": "h7Kq2pXw9zR4","b":1}`, "h7Kq2pXw9zR4"},
		{`{"a":{"b":["and so on"]},"password": 7391846205,"b":[{"c":1}]}`, "7391846205"},
		{`{"a":"and {\n  \"password\": 7391846205,\n so on"}`, "7391846205"},
		{`{"a":"and Authorization: Bearer h7Kq2pXw9zR4VjTb8sWq0Lm3 so on"}`, "h7Kq2pXw9zR4VjTb8sWq0Lm3"},
		{`{"a":"and 'password' =\u003e 'h7Kq2pXw9zR4' so on"}`, "h7Kq2pXw9zR4"},
		{`{"a":"and jdbc:mysql://db/x?user=a\u0026password=h7Kq2pXw9zR4 so on"}`, "h7Kq2pXw9zR4"},
		{`{"a":"and \\\" \ud83d\ude00\nPASSWORD=h7Kq2p\u0026Xw9zR4\nso on"}`, `h7Kq2p\u0026Xw9zR4`},
		{`{"a":"and\n` + pem + `\nso on"}`, "VjTb8sWq0Lm3Xc5Yd1Zf6Gh2Jk9Pn7Qr4St8Uv0Wx3Yz5Ab1Cd6Ef2Gh9Ij7Kl4M"},
		{`no JSON: password: "h7Kq2pXw9zR4" and so on`, "h7Kq2pXw9zR4"},
		{`{no JSON, password: "h7Kq2pXw9zR4" and so on`, "h7Kq2pXw9zR4"},
	} {
		line := c.text + "\n"
		for border := 1; border < len(line); border++ {
			var numbers Numbers
			l := Long{Line: true}
			clean, cuts, n := l.Redact(rules, []byte(line), border, &numbers)
			rest, more, m := l.Redact(rules, []byte(line[n:]), len(line)-n, &numbers)
			cuts = append(cuts, Shift(more, int64(len(clean)))...)
			clean = append(bytes.Clone(clean), rest...)
			switch at := fmt.Sprintf("%s|%s", line[:border], line[border:]); {
			case n+m != len(line) || undo(clean, cuts) != line:
				t.Errorf("%s: the cuts give %q back", at, undo(clean, cuts))
			case bytes.Contains(clean, []byte(c.secret)) || len(cuts) == 0:
				t.Errorf("%s: left in %s", at, clean)
			case json.Valid([]byte(line)) && !json.Valid(clean):
				t.Errorf("%s: no JSON any more: %s", at, clean)
			}
		}
		file := []byte("and so on\n" + strings.NewReplacer(`\n`, "\n", `\"`, `"`).Replace(c.text) + "\nand so on\n")
		for border := range file {
			if file[border] != '\n' || border+1 == len(file) {
				continue
			}
			var l Long
			clean, _, n := l.Redact(rules, file, border+1, &Numbers{})
			rest, _, _ := l.Redact(rules, file[n:], len(file)-n, &Numbers{})
			if clean = append(bytes.Clone(clean), rest...); bytes.Contains(clean, []byte(c.secret)) {
				t.Errorf("%s|%s: left in the file", file[:border+1], file[border+1:])
			}
		}
	}
}

// FuzzLong: whatever the text and wherever its pieces end, the cuts give it back, and JSON stays JSON.
func FuzzLong(f *testing.F) {
	f.Add(`{"password":"h7Kq2pXw9zR4\u0026","b":[7391846205]}`+"\n", uint16(20))
	f.Add(`"\\\ud83d\ude00`+"\xff\xf0", uint16(3))
	rules, err := New(Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, border uint16) {
		text = strings.ReplaceAll(text, "\n", " ") + "\n"
		var numbers Numbers
		l := Long{Line: true}
		clean, cuts, n := l.Redact(rules, []byte(text), min(int(border), len(text)), &numbers)
		clean = bytes.Clone(clean)
		if n < len(text) {
			rest, more, _ := l.Redact(rules, []byte(text[n:]), len(text)-n, &numbers)
			cuts, clean = append(cuts, Shift(more, int64(len(clean)))...), append(clean, rest...)
		}
		if undo(clean, cuts) != text {
			t.Fatalf("%q became %q", text, undo(clean, cuts))
		}
		if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) && !json.Valid(clean) {
			t.Errorf("%q became %q", text, clean)
		}
	})
}
