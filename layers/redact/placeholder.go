package redact

import (
	"bytes"
	"strings"
)

// isPlaceholder reports whether value is a placeholder of an example, such as xxxx or your-token. A word such as
// "fake" inside a random value does not make it one.
func isPlaceholder(value []byte) bool {
	var room [96]byte
	v := room[:0]
	for _, c := range value[:min(len(value), len(room))] {
		v = append(v, lower[c])
	}
	s := string(v)
	for _, filler := range [...]string{"xxxx", "****", "....", "____", "----", "••••", "…", "‹", "0000000", "1111111",
		"aaaaaa"} {
		if strings.Contains(s, filler) {
			return true
		}
	}
	if bytes.HasSuffix(value, []byte("EXAMPLE")) ||
		bytes.HasSuffix(value, []byte("EXAMPLEKEY")) {
		return true
	}
	return isExample(s, value) || repeats(v)
}

// isExample reports whether value contains a word of examples and, besides such words, nothing random. low is the
// beginning of value in lower case.
func isExample(low string, value []byte) bool {
	rest := ""
	for _, word := range [...]string{"example", "placeholder", "changeme", "change-me", "change_me", "your-", "your_",
		"yourapi", "yourtoken", "yoursecret", "yourpassword",
		"redacted", "dummy", "insert", "replace", "todo", "fixme", "abcdefgh", "12345678", "23456789", "deadbeef",
		"undefined",
		"foobar", "foo-bar", "sample", "notreal", "not-real", "not_real", "fake", "mock", "abc123", "goes-here", "goes_here",
		"gohere"} {
		if n := strings.Index(low, word); n >= 0 {
			if rest == "" {
				rest = string(value)
			}
			for ; n >= 0 && n+len(word) <= len(rest); n = strings.Index(strings.ToLower(rest), word) {
				rest = rest[:n] + " " + rest[n+len(word):]
			}
		}
	}
	return rest != "" && !Random([]byte(rest)) && traitsOf([]byte(rest)).Strange < 4
}

// common reports whether password is a common one, such as the default of a local server.
func common(password []byte) bool {
	if weak(password) {
		return true
	}
	for _, p := range [...]string{"password", "passwd", "pass", "pwd", "secret", "postgres", "root", "admin", "user",
		"guest", "test", "mysql", "redis", "token", "example",
		"pw", "foo", "bar", "abc", "xyz", "dev", "local", "localhost", "username", "mypass", "key", "auth", "hunter2",
		"foobar", "changeit"} {
		if string(bytes.ToLower(password)) == p {
			return true
		}
	}
	return false
}

// weak reports whether value consists mostly of words that tests and examples use.
func weak(value []byte) bool {
	if len(value) > 40 || passphrase(value, 4) {
		return false
	}
	s := strings.ToLower(string(value))
	rest := s
	left := 0
	for _, word := range [...]string{"p@ssw0rd", "p@ssword", "pa$$word", "passw0rd", "pa55w0rd", "s3cr3t", "s3cret"} {
		if strings.Contains(rest, word) {
			rest, left = strings.ReplaceAll(rest, word, " "), 3 // alone it is weak, as a part less so
		}
	}
	for _, word := range [...]string{"1234567890", "123456", "12345", "1234", "123"} {
		rest = strings.ReplaceAll(rest, word, " ")
	}
	found := len(rest) < len(s)
	for len(rest) > 0 {
		n := 0
		for n < len(rest) && 'a' <= rest[n] && rest[n] <= 'z' {
			n++
		}
		if n == 0 {
			if '0' <= rest[0] && rest[0] <= '9' {
				left++
			}
			rest = rest[1:]
			continue
		}
		k := lettersOutsideWords(rest[:n])
		found, left, rest = found || k < n, left+k, rest[n:]
	}
	left += max(0, traitsOf(value).Strange-2)
	return found && (left <= 4 || left*2 <= len(s) && left < 10)
}

// lettersOutsideWords returns how many letters of run, a run of lower-case letters, are not part of a weak word. A word
// inside another one, such as key in monkey, does not count.
func lettersOutsideWords(run string) int {
	rest := run
	for _, word := range weakWords() {
		if len(word) <= len(rest) {
			rest = strings.ReplaceAll(rest, word, "")
		}
	}
	if len(rest)*2 >= len(run) {
		return len(run)
	}
	return len(rest)
}

// weakWords returns the weak words. No word is a part of a later one.
func weakWords() []string {
	return []string{"authorization", "authentication", "credentials", "credential", "administrator", "organization",
		"application", "development", "production", "integration",
		"passwords", "password", "passwort", "passphrase", "passwd", "refresh", "access", "bearer", "invalid", "correct",
		"wrong", "client", "server", "webhook", "session", "private", "public",
		"encryption", "signing", "database", "postgres", "github", "gitlab", "google", "stripe", "openai", "anthropic",
		"claude", "slack", "system", "account", "company",
		"secret", "tokens", "token", "apikey", "custom", "string", "number", "boolean", "testing", "tests", "test", "hello",
		"world", "admin", "value", "simple", "basic", "local", "super",
		"valid", "first", "second", "third", "other", "another", "default", "expired", "user", "root", "demo", "temp", "auth",
		"pass", "some", "with", "this", "that", "from", "very", "long", "short",
		"name", "type", "text", "header", "code", "data", "file", "mysql", "redis", "mongo", "qwerty", "letmein", "welcome",
		"login", "guest", "my", "key", "api", "jwt", "env", "new", "old", "id"}
}
