package term

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestSanitizeEveryCharacter checks, for each of the 1,114,112 code points, that alone, inside a word and
// after an escape character nothing that a terminal obeys and nothing invisible comes out.
func TestSanitizeEveryCharacter(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= utf8.MaxRune; r++ {
		for _, s := range []string{string(r), "a" + string(r) + "b", "\x1b" + string(r) + "b"} {
			out := Sanitize(s)
			if why := harmful(out); why != "" {
				t.Fatalf("sanitize(%q) = %q: %s", s, out, why)
			}
			if out != s && out != Sanitize(out) {
				t.Fatalf("sanitize(%q) = %q, which it would change again", s, out)
			}
		}
		if plain := Sanitize("a" + string(r) + "b"); !strings.HasPrefix(plain, "a") || !strings.HasSuffix(plain, "b") && !eats(r) {
			t.Fatalf("sanitize around %U = %q", r, plain)
		}
	}
}

// eats reports whether r opens a control sequence, which takes what follows with it.
func eats(r rune) bool { return strings.ContainsRune("\x1b\u009b\u0090\u0098\u009d\u009e\u009f", r) }

// harmful says what a terminal should not be given in s.
func harmful(s string) string {
	if !utf8.ValidString(s) {
		return "not UTF-8"
	}
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
		case r < ' ' || r >= 0x7f && r < 0xa0:
			return "a control character"
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x61c:
			return "turns text around"
		case r == 0x200b, r == 0x2060, r == 0xfeff, r >= 0xe0000 && r < 0xe0080:
			return "invisible"
		}
	}
	return ""
}

func TestSanitize(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\ttext\n":                       "plain\ttext\n",
		"\x1b[31mred\x1b[0m":                  "red",
		"a\x1b]0;title\x07b":                  "ab",
		"a\x1b]8;;http://x\x1b\\link":         "alink",
		"a\x1b]unfinished\nb":                 "a\nb",
		"a\x1bPq#0\x1b\\b":                    "ab",
		"a\x1b(Bb\x1b7c\x1b=d":                "abcd",
		"a\x1b[12;3\nb":                       "a\nb",
		"a\u009b31mb":                         "ab",
		"a\u009dt\u009cb":                     "ab",
		"a\x9b31mb":                           "a\ufffd31mb",
		"a\rb\bc\x00\x7f":                     "abc",
		"x\x1b":                               "x",
		"user\u202egnp.exe":                   "user‹U+202E›gnp.exe",
		"zero\u200bwidth\ufeff":               "zero‹U+200B›width‹U+FEFF›",
		"tag\U000e0041":                       "tag‹U+E0041›",
		"line\u2028break":                     "line‹U+2028›break",
		"👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3":      "👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3",
		"👁\ufe0f\u200d🗨":                      "👁\ufe0f\u200d🗨",
		"a\ufe0fb\u200dc":                     "a‹U+FE0F›b‹U+200D›c",
		"می\u200cخواهم":                       "می\u200cخواهم",
		"क्\u200dष":                           "क्\u200dष",
		"辻\U000e0100 x\U000e0100":             "辻\U000e0100 x‹U+E0100›",
		"辻\U000e0100\U000e0101":               "辻\U000e0100‹U+E0101›",
		"한국어 日本語 中文":                          "한국어 日本語 中文",
		"soft\u00adhyphen":                    "soft‹U+00AD›hyphen",
		"\x1b\u202e":                          "‹U+202E›",
		"\x1b\x1b[31mx":                       "x",
		"\x1b[\x1b[31mx":                      "x",
		"\x1b]0;a\x1b[31mb\x07":               "b",
		"\u009d\u202e\n":                      "\n",
		"cafe\u0301":                          "cafe\u0301",
		strings.Repeat("\x1b[0m", 1000) + "x": "x",
	} {
		if got := Sanitize(in); got != want {
			t.Errorf("sanitize(%q) = %q, want %q", in, got, want)
		}
	}
	if got := SanitizeLine("a\nb\tc"); got != "a b c" {
		t.Errorf("sanitizeLine = %q", got)
	}
}

func FuzzSanitize(f *testing.F) {
	f.Add("\x1b[31mred\u202e\u009dx\u009c\xff")
	f.Add("👩\u200d💻\ufe0f\u200c")
	f.Fuzz(func(t *testing.T, s string) {
		out := Sanitize(s)
		if why := harmful(out); why != "" {
			t.Errorf("sanitize(%q) = %q: %s", s, out, why)
		}
		if again := Sanitize(out); again != out {
			t.Errorf("sanitize(%q) = %q, then %q", s, out, again)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var before, after string
		safe := EscapeJSON(b)
		if err := json.Unmarshal(b, &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(safe, &after); err != nil || before != after {
			t.Errorf("escapeJSON(%s) = %s means %q, want %q, %v", b, safe, after, before, err)
		}
		if why := harmful(string(safe)); why != "" {
			t.Errorf("escapeJSON(%s) = %s: %s", b, safe, why)
		}
	})
}
