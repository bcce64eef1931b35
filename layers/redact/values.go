package redact

import (
	"bytes"
	"strings"
)

// How a value stands beside its name says how much must speak for its being a secret.
type style int

const (
	loose  style = iota // somewhere in code or prose
	line                // name: value, alone on its line
	env                 // NAME=value, or --name value
	quoted              // between quotes
)

// plausible reports whether value may be a secret of the kind. It must not take for one what code says in its
// place: a type, a variable, a call, a placeholder, an example.
func plausible(kind string, value []byte, st style) bool {
	if len(value) < 6 || len(value) > 4096 || bytes.ContainsAny(value, " \t\r\n") || placeholderish(value) || reference(value) {
		return false
	}
	t := traitsOf(value)
	if t.digits == 0 && t.symbols == 0 && t.upper == 0 && st != env {
		return false // one word
	}
	if weak(value) || coded(value) || st == line && call(value) {
		return false
	}
	if kind == "password" {
		return passwordly(value, t, st)
	}
	if st > loose && uuid(value) {
		return true
	}
	if len(value) < 12 || t.digits == 0 && (len(value) < 24 || t.upper == 0 || t.symbols > 0) {
		return false
	}
	return random(value)
}

// call reports whether value calls a function by its name, as in hexB(psk): words with at most some digits behind them, the first
// of which begins with a small letter.
func call(value []byte) bool {
	open := bytes.IndexByte(value, '(')
	if open < 3 || value[0] < 'a' || value[len(value)-1] != ')' {
		return false
	}
	for word := range bytes.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune("(),._", r) }) {
		if digits.has(word[0]) || wordly.run(word, len(word)) < len(word) || !letterThenDigit(word) || randomWord(word) {
			return false
		}
	}
	return true
}

// coded reports whether value is base64 of what examples have.
func coded(value []byte) bool {
	if value[len(value)-1] != '=' || len(value)%4 != 0 || len(value) > 64 {
		return false
	}
	body := bytes.TrimRight(value, "=")
	plain := decode64(nil, body)
	return base64.run(body, len(body)) == len(body) && len(plain) > 0 && readable(plain) && (placeholderish(plain) || common(plain))
}

func passwordly(value []byte, t traits, st style) bool {
	switch {
	case t.digits == len(value):
		return st >= line && len(value) >= 8
	case t.digits > 0 && t.symbols > 0, t.digits > 0 && t.upper > 0 && t.lower > 0:
	case t.digits > 0:
		if st == loose {
			return len(value) >= 10 && random(value)
		}
	case t.strange > 0 && (t.upper > 0 || st >= env):
	case st >= line && t.upper > 1 && t.lower > 1 && random(value):
	case st == env:
		return len(value) >= 8 && t.symbols == 0 && entropy(value) > 2.7
	default:
		return false
	}
	if st == loose && !random(value) {
		return false
	}
	return entropy(value) > 2.2 && !dashed(value)
}

// traits say which characters a value is made of.
type traits struct{ lower, upper, digits, symbols, strange int }

func traitsOf(value []byte) (t traits) {
	for _, c := range value {
		switch {
		case 'a' <= c && c <= 'z':
			t.lower++
		case 'A' <= c && c <= 'Z':
			t.upper++
		case '0' <= c && c <= '9':
			t.digits++
		default:
			t.symbols++
			if !strings.ContainsRune("-_./:,=+", rune(c)) {
				t.strange++
			}
		}
	}
	return t
}

// random reports whether a part of value looks like nothing that a person would write: letters and digits mixed.
func random(value []byte) bool {
	for len(value) > 0 {
		n := alnum.run(value, len(value))
		if n == 0 {
			value = value[1:]
			continue
		}
		if randomWord(value[:n]) {
			return true
		}
		value = value[n:]
	}
	return false
}

func randomWord(w []byte) bool {
	if len(w) < 8 {
		return false
	}
	changes, last, digit, upper, low := 0, -1, 0, 0, 0
	for _, c := range w {
		class := 0
		switch {
		case c <= '9':
			class = 1
			digit++
		case c <= 'Z':
			class = 2
			upper++
		default:
			low++
		}
		if last >= 0 && class != last {
			changes++
		}
		last = class
	}
	if digit == 0 && len(w) < 20 {
		return len(w) >= 12 && lone(w) > 1
	}
	if digit == 0 {
		return len(w) >= 20 && upper > 0 && low > 0 && changes*4 >= len(w) && entropy(w) > 3.7
	}
	return changes >= 3 && changes*8 >= len(w) && entropy(w) > 2.6 || digit == len(w) && len(w) >= 24
}

// lone returns how often capitals and small letters of w follow each other as in no words in a row: a small letter alone between
// capitals, and from the second time on several capitals together.
func lone(w []byte) (n int) {
	runs := 0
	for i := 1; i+1 < len(w); i++ {
		if w[i] >= 'a' && w[i-1] < 'a' && w[i+1] < 'a' {
			n++
		}
		if w[i] < 'a' && w[i-1] < 'a' && w[i+1] >= 'a' {
			runs++
		}
	}
	return n + max(0, runs-1)
}

// dashed reports whether value is words with dashes, dots or underscores between them, each of them plain.
func dashed(value []byte) bool {
	parts := bytes.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("-_./:", r) })
	if len(parts) < 2 {
		return false
	}
	for _, p := range parts {
		letters := 0
		for _, c := range p {
			if !alnum.has(c) {
				return false
			}
			if c > '9' {
				letters++
			}
		}
		if letters > 0 && letters < len(p) && randomWord(p) {
			return false
		}
		if letters > 0 && letters < len(p) && len(p) > 3 && !letterThenDigit(p) {
			return false
		}
	}
	return true
}

// letterThenDigit reports whether word is letters with at most some digits behind them.
func letterThenDigit(word []byte) bool {
	n := 0
	for n < len(word) && word[n] > '9' {
		n++
	}
	return digits.run(word[n:], len(word)) == len(word)-n
}

// keyly reports whether value, which begins like a path, is rather a key in base64: a long piece of it is no word.
func keyly(value []byte) bool {
	value = bytes.TrimRight(value, "=")
	if len(value) < 20 || base64.run(value, len(value)) < len(value) {
		return false
	}
	for piece := range bytes.SplitSeq(value, []byte("/")) {
		if len(piece) >= 12 && bytes.ContainsAny(piece, "ghijklmnopqrstuvwxyz") && random(piece) {
			return true
		}
	}
	return false
}

// reference reports whether value names where a secret is instead of being one.
func reference(value []byte) bool {
	switch value[0] {
	case '/':
		return !keyly(value)
	case '~', '.', '<', '{', '[', '(', '@', '*', '|', '>', '#':
		return true
	case '$':
		return len(value) < 2 || value[1] != '2' && value[1] != '1' && value[1] != '5' && value[1] != '6' // a hash of crypt
	case '%':
		return value[len(value)-1] == '%' || !hexAny.has(value[1])
	case '!':
		return bytes.HasPrefix(value, []byte("!Ref")) || bytes.HasPrefix(value, []byte("!Sub"))
	}
	if bytes.Contains(value, []byte("://")) || bytes.HasPrefix(value, []byte("arn:")) || bytes.Contains(value, []byte("secret:")) {
		return true
	}
	for _, s := range [...]string{"${", "{{", "}}", "$(", "process.env", "os.environ", "getenv", "import.meta", "secrets.", "config.", "env.", "self.",
		"this.", "()", "->", "=>", "::", "‹secret:", "vault:", "op://", "ssm:", "keychain:", "&&", "||", "</"} {
		if bytes.Contains(value, []byte(s)) {
			return true
		}
	}
	if value[len(value)-1] == ']' && bytes.IndexByte(value, '[') > 0 {
		return true // an element of something
	}
	return path(value) || member(value)
}

// path reports whether value is the path of a file.
func path(value []byte) bool {
	if bytes.Contains(value, []byte(":\\")) || bytes.Count(value, []byte("/")) >= 2 && dashed(value) {
		return true
	}
	dot := bytes.LastIndexByte(value, '.')
	if dot < 1 {
		return false
	}
	switch string(bytes.ToLower(value[dot+1:])) {
	case "txt", "json", "yaml", "yml", "env", "key", "pem", "crt", "ts", "js", "tsx", "jsx", "py", "go", "rs", "md", "sh", "sql", "html", "css", "com", "org", "net", "io", "dev", "length", "test":
		return true
	}
	return false
}

// member reports whether value is a.b, as code writes it.
func member(value []byte) bool {
	dots := bytes.Count(value, []byte("."))
	if dots == 0 {
		return false
	}
	for part := range bytes.SplitSeq(value, []byte(".")) {
		part = bytes.TrimRight(part, "?!")
		if len(part) == 0 || digits.has(part[0]) || wordly.run(part, len(part)) != len(part) || randomWord(part) {
			return false
		}
	}
	return true
}

// placeholderish reports whether value stands for a secret in an example.
func placeholderish(value []byte) bool {
	var room [96]byte
	v := room[:0]
	for _, c := range value[:min(len(value), len(room))] {
		v = append(v, lower[c])
	}
	s := string(v)
	for _, word := range [...]string{"example", "placeholder", "changeme", "change-me", "change_me", "your-", "your_", "yourapi", "yourtoken", "yoursecret", "yourpassword",
		"xxxx", "****", "....", "____", "----", "••••", "…", "redacted", "dummy", "insert", "replace", "todo", "fixme", "abcdefgh", "12345678", "23456789", "deadbeef", "undefined",
		"<", "‹", "foobar", "foo-bar", "sample", "notreal", "not-real", "not_real", "fake", "mock", "0000000", "1111111", "aaaaaa", "abc123", "goes-here", "goes_here", "gohere"} {
		if strings.Contains(s, word) {
			return true
		}
	}
	return repeats(v)
}

// repeats reports whether text has at most three different characters.
func repeats(text []byte) bool {
	var seen set
	n := 0
	for _, c := range text {
		if !seen.has(c) {
			seen[c>>6] |= 1 << (c & 63)
			n++
		}
	}
	return n <= 3
}

// weak reports whether value is made of the words that tests and examples use, with little else.
func weak(value []byte) bool {
	s := strings.ToLower(string(value))
	if len(s) > 40 {
		return false
	}
	rest := s
	for _, word := range weakWords() {
		rest = strings.ReplaceAll(rest, word, "")
	}
	if len(rest) == len(s) {
		return false
	}
	left := 0
	for i := range len(rest) {
		if c := rest[i]; 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			left++
		}
	}
	return left <= 4 || left*2 <= len(s) && left < 10
}

// weakWords are in an order in which none is a part of a later one.
func weakWords() []string {
	return []string{"authorization", "authentication", "credentials", "credential", "administrator", "organization", "application", "development", "production", "integration",
		"passwords", "password", "passphrase", "passwd", "refresh", "access", "bearer", "invalid", "correct", "wrong", "client", "server", "webhook", "session", "private", "public",
		"encryption", "signing", "database", "postgres", "github", "gitlab", "google", "stripe", "openai", "anthropic", "claude", "slack", "system", "account", "company",
		"secret", "tokens", "token", "apikey", "custom", "string", "number", "boolean", "testing", "tests", "test", "hello", "world", "admin", "value", "simple", "basic", "local", "super",
		"valid", "first", "second", "third", "other", "another", "default", "expired", "user", "root", "demo", "temp", "auth", "pass", "some", "with", "this", "that", "from", "very", "long", "short",
		"name", "type", "text", "header", "code", "data", "file", "mysql", "redis", "mongo", "qwerty", "letmein", "welcome", "login", "guest", "p@ssw0rd", "passw0rd", "pa55w0rd", "s3cr3t", "s3cret", "my", "key", "api", "jwt", "env", "new", "old", "id", "1234567890", "123456", "12345", "1234", "123"}
}
