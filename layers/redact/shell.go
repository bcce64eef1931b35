package redact

import (
	"bytes"
)

// Quote reports whether c is a single or double quote.
func Quote(c byte) bool { return c == '"' || c == '\'' }

// shellWord returns the bounds of the next word of a command at i, without its quotes. They are equal at the end of
// the command.
func shellWord(text []byte, i int) (from, end int) {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\\' && i+1 < len(text) &&
		(text[i+1] == '\n' || Quote(text[i+1]))) {
		if text[i] == '\\' && text[i+1] == '\n' {
			i++
		}
		i++
	}
	if i < len(text) && Quote(text[i]) {
		if n := bytes.IndexByte(text[i+1:], text[i]); n > 0 || n == 0 && escapedQuote(text[i+2:], text[i], 0) > 0 {
			q := text[i]
			for end = i + 1 + n; end < len(text); {
				more := escapedQuote(text[end+1:], q, 0)
				k := bytes.IndexByte(text[min(len(text), end+1+more):], q)
				if more == 0 || k < 0 {
					break
				}
				end += 1 + more + k
			}
			if end > i+2 && text[end-1] == '\\' {
				end--
			}
			return i + 1, end
		}
		return i, i
	}
	end = i
	for end < len(text) && bytes.IndexByte([]byte(" \t\r\n|;<>()`\\\"'"), text[end]) < 0 {
		end++
	}
	return i, end
}

// Assigns reports whether text ends with a command that sets the variable after it to the word after that.
func Assigns(text []byte) bool {
	if n := Visible.RunBack(text, 128); n > 2 && bytes.HasPrefix(text[len(text)-n:], []byte("//")) {
		text = text[:len(text)-n] // //registry/:
	}
	for _, words := range [...]string{"setx ", "set -x ", "set -gx ", "set -Ux ", "set -xg ", "ENV ", "bundle config ",
		"configure set ", "config set ", "secrets set ", "secret set "} {
		if bytes.HasSuffix(text, []byte(words)) {
			return true
		}
	}
	return false
}

// defines reports whether text ends with the opening of a call that sets or reads the variable whose name follows.
func defines(text []byte) bool {
	for _, words := range [...]string{"define(", "setenv(", "putenv(", "setdefault(", "set_env(", "setProperty(",
		"Setenv(", "getenv(", "environ.get(", "env(", "config(", "EnvironmentVariable("} {
		if bytes.HasSuffix(text, []byte(words)) {
			return true
		}
	}
	return false
}
