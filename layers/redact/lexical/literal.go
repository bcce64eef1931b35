package lexical

import (
	"bytes"
)

// Names reports whether text ends with the key whose value is a name: "name": ".
func Names(text []byte) bool {
	text = bytes.TrimRight(text[max(0, len(text)-64):],
		"/ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
	text = bytes.TrimRight(text, "\"'\\: ")
	for _, key := range [...]string{"name", "Name", "key", "Key"} {
		if bytes.HasSuffix(text, []byte(key)) {
			return true
		}
	}
	return false
}

// GoesBehind returns how much of rest, which stands behind a quote, takes the literal up again that seemed to
// end there: the quote doubled, as YAML, SQL and ADO.NET write one within a literal, or one that a shell is
// given as '\” or '"'"'. Slashes stand before each quote.
func GoesBehind(rest []byte, q byte, slashes int) int {
	if n := slashes; len(rest) > n && rest[n] == q && slashesBefore(rest[:n]) == n {
		return n + 1
	}
	if q != '\'' {
		return 0
	}
	n := 0
	for n < len(rest) && n < 8 && rest[n] == '\\' {
		n++
	}
	if n > 0 && bytes.HasPrefix(rest[n:], []byte("''")) {
		return n + 2
	}
	if bytes.HasPrefix(rest, []byte(`"'"'`)) {
		return len(`"'"'`)
	}
	return 0
}
