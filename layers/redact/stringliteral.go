package redact

import (
	"bytes"
)

// escapedQuote returns the length of an escaped quote at the start of rest, the text after a quote q: 0 if q closes its
// literal. A quote is escaped by doubling (YAML, SQL, ADO.NET) or, in a shell, by a quoted quote between two
// literals. slashes is the number of backslashes before each quote of the literal.
func escapedQuote(rest []byte, q byte, slashes int) int {
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
