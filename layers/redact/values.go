package redact

import "bytes"

// How a value stands next to its name says how much must speak for its being a secret.
type style int

const (
	loose    style = iota // somewhere in code, or in the cell of a table
	sentence              // in a sentence
	line                  // name: value, alone on its line
	env                   // NAME=value, --name value, a connection string
	quoted                // between quotes
)

// plausible reports whether value may be a secret of the kind. In the position of a value that is what it is, unless its form says
// otherwise: a reference, a placeholder, a word, an example.
func plausible(kind string, value []byte, st style) bool {
	if len(value) < 6 || len(value) > 4096 || bytes.ContainsAny(value, " \t\r\n") || placeholderish(value) || reference(value, st) {
		return false
	}
	t := traitsOf(value)
	if t.digits == 0 && t.symbols == 0 && t.upper == 0 && st != env {
		return false // one word
	}
	if weak(value) || coded(value) || st == line && call(value) {
		return false
	}
	switch kind {
	case "password":
		return passwordly(value, t, st)
	case "secret":
		if st >= line && t.digits < len(value) && passwordly(value, t, st) {
			return true
		}
	}
	return keylike(value, t, st)
}

// keylike reports whether value may be a token or a key: something that no person would write.
func keylike(value []byte, t traits, st style) bool {
	if st > loose && uuid(value) {
		return true
	}
	if st > sentence && len(value) >= 12 && t.strange > 0 && t.digits > 0 && t.upper > 0 && t.lower > 0 {
		return true
	}
	if len(value) < 12 || t.digits == 0 && (len(value) < 24 || t.upper == 0 || t.symbols > 0) {
		return false
	}
	return random(value)
}

// passwordly reports whether value may be a password.
func passwordly(value []byte, t traits, st style) bool {
	switch {
	case t.digits == len(value):
		return st >= line && len(value) >= 8
	case keychain(value):
		return true
	case entropy(value) <= 2.2 || technical(value):
		return false
	case st == sentence:
		return spokenly(value, t)
	case st == loose:
		return loosePassword(value, t)
	case t.digits > 0:
		return true
	case t.strange > 0:
		return t.upper > 0 || st >= env
	case t.upper > 1 && t.lower > 1 && random(value):
		return !dashed(value)
	}
	return st == env && len(value) >= 8 && t.symbols == 0 && entropy(value) > 2.7
}

// loosePassword reports whether value, somewhere in code, is such that it can be nothing but a password.
func loosePassword(value []byte, t traits) bool {
	if dashed(value) || t.digits == 0 {
		return false
	}
	if t.symbols == 0 && (t.upper == 0 || t.lower == 0) && len(value) < 10 {
		return false
	}
	return random(value) || t.strange > 1 && t.upper > 0 && t.lower > 0 && !code(value)
}

// spokenly reports whether value is nothing that a sentence about passwords would say: digits, with letters of both cases, symbols, or
// words around them.
func spokenly(value []byte, t traits) bool {
	letters := t.upper + t.lower
	switch {
	case t.digits == 0:
		return t.strange > 1 && t.upper > 0 && t.lower > 0 && len(value) >= 10
	case random(value) && !dashed(value):
		return t.symbols > 0 || t.upper > 0 && t.lower > 0 || len(value) >= 10
	case t.strange > 0:
		return letters > 1 && len(value) >= 8
	case t.symbols > 0:
		return letters >= 6 && !code(value)
	}
	return letters >= 8 && (t.upper > 1 && t.lower > 1 && len(value) >= 12 || between(value))
}

// between reports whether digits stand between two words.
func between(value []byte) bool {
	n := 0
	for n < len(value) && value[n] > '9' {
		n++
	}
	k := n + digits.run(value[n:], 4)
	return n > 3 && k > n && len(value)-k > 3 && value[k] > '9'
}

// keychain reports whether value has the form of the passwords that Apple's keychain makes: three groups of six small letters, of which
// one is a capital, and one may be a digit.
func keychain(value []byte) bool {
	if len(value) != 20 || value[6] != '-' || value[13] != '-' {
		return false
	}
	t := traitsOf(value)
	return t.symbols == 2 && t.upper == 1 && t.digits <= 1
}

// technical reports whether value is one of the terms, versions and dates that stand next to passwords: sha-256, utf8, v1.2, 2026-01-02.
func technical(value []byte) bool {
	for part := range bytes.FieldsFuncSeq(bytes.ToLower(value), func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == '/' || r == ':' || r == '+' }) {
		word := part[:len(part)-digits.runBack(part, len(part))]
		if len(word) <= 2 && len(part)-len(word) <= 4 {
			continue
		}
		switch string(word) {
		case "base", "sha", "utf", "md", "oauth", "http", "https", "tls", "ssl", "argon", "argon2id", "argon2i", "pbkdf", "pbkdf2", "aes", "rsa", "bcrypt", "scrypt", "hmac", "ascii", "iso", "rfc", "ed", "ecdsa", "x509", "utf8",
			"encoded", "encrypted", "hashed", "bit", "byte", "bytes", "char", "chars", "character", "characters", "letters", "digits", "factor", "step", "based", "hash", "ntlmv", "cbc", "gcm", "ctr", "pkcs", "pem", "hex", "east", "west", "north", "south", "central",
			"version", "level", "type", "of", "and", "to", "min", "max", "length", "plaintext", "text", "string", "pre", "post":
			continue
		}
		return false
	}
	return true
}
