package lexical

import (
	"bytes"
)

// How a value stands next to its name says how much must speak for its being a secret.
type Style int

const (
	Loose    Style = iota // somewhere in code, or in the cell of a table
	Sentence              // in a sentence
	Line                  // name: value, alone on its line
	Env                   // NAME=value, --name value, a connection string
	Quoted                // between quotes
)

// Plausible reports whether value may be a secret of the kind. In the position of a value that is what it is,
// unless its form says otherwise: a reference, a placeholder, a word, an example.
func Plausible(kind string, value []byte, st Style) bool {
	if len(value) < 6 || len(value) > 4096 || bytes.ContainsAny(value, " \t\r\n") || Placeholderish(value) ||
		Reference(value, st) {
		return false
	}
	t := TraitsOf(value)
	if t.Digits == 0 && t.Symbols == 0 && t.Upper == 0 && st != Env {
		return false // one word
	}
	if Weak(value) || coded(value) || st == Line && call(value) {
		return false
	}
	switch kind {
	case "password":
		return passwordly(value, t, st)
	case "secret":
		if st >= Line && t.Digits < len(value) && passwordly(value, t, st) {
			return true
		}
	}
	return keylike(value, t, st)
}

// keylike reports whether value may be a token or a key: something that no person would write.
func keylike(value []byte, t traits, st Style) bool {
	if st > Loose && Uuid(value) {
		return true
	}
	if st > Sentence && len(value) >= 12 && t.Strange > 0 && t.Digits > 0 && t.Upper > 0 && t.Lower > 0 {
		return true
	}
	if len(value) < 12 || t.Digits == 0 && (len(value) < 24 || t.Upper == 0 || t.Symbols > 0) {
		return false
	}
	return Random(value)
}

// passwordly reports whether value may be a password.
func passwordly(value []byte, t traits, st Style) bool {
	switch {
	case t.Digits == len(value):
		return st >= Line && len(value) >= 8
	case keychain(value):
		return true
	case Entropy(value) <= 2.2 || technical(value):
		return false
	case st == Sentence:
		return spokenly(value, t)
	case st == Loose:
		return loosePassword(value, t)
	case t.Digits > 0:
		return true
	case t.Strange > 0:
		return t.Upper > 0 || st >= Env
	case t.Upper > 1 && t.Lower > 1 && Random(value):
		return !Dashed(value)
	}
	return st == Env && len(value) >= 8 && t.Symbols == 0 && Entropy(value) > 2.7
}

// loosePassword reports whether value, somewhere in code, is such that it can be nothing but a password.
func loosePassword(value []byte, t traits) bool {
	if Dashed(value) || t.Digits == 0 {
		return false
	}
	if t.Symbols == 0 && (t.Upper == 0 || t.Lower == 0) && len(value) < 10 {
		return false
	}
	return Random(value) || t.Strange > 1 && t.Upper > 0 && t.Lower > 0 && !code(value)
}

// spokenly reports whether value is nothing that a sentence about passwords would say: digits, with letters of
// both cases, symbols, or words around them.
func spokenly(value []byte, t traits) bool {
	letters := t.Upper + t.Lower
	switch {
	case t.Digits == 0:
		return t.Strange > 1 && t.Upper > 0 && t.Lower > 0 && len(value) >= 10
	case Random(value) && !Dashed(value):
		return t.Symbols > 0 || t.Upper > 0 && t.Lower > 0 || len(value) >= 10
	case t.Strange > 0:
		return letters > 1 && len(value) >= 8
	case t.Symbols > 0:
		return letters >= 6 && !code(value)
	}
	return letters >= 8 && (t.Upper > 1 && t.Lower > 1 && len(value) >= 12 || between(value))
}

// between reports whether digits stand between two words.
func between(value []byte) bool {
	n := 0
	for n < len(value) && value[n] > '9' {
		n++
	}
	k := n + Digits.Run(value[n:], 4)
	return n > 3 && k > n && len(value)-k > 3 && value[k] > '9'
}

// keychain reports whether value has the form of the passwords that Apple's keychain makes: three groups of six
// small letters, of which one is a capital, and one may be a digit.
func keychain(value []byte) bool {
	if len(value) != 20 || value[6] != '-' || value[13] != '-' {
		return false
	}
	t := TraitsOf(value)
	return t.Symbols == 2 && t.Upper == 1 && t.Digits <= 1
}

// technical reports whether value is one of the terms, versions and dates that stand next to passwords:
// sha-256, utf8, v1.2, 2026-01-02.
func technical(value []byte) bool {
	for part := range bytes.FieldsFuncSeq(bytes.ToLower(value), func(r rune) bool {
		return r == '-' || r == '_' || r == '.' || r == '/' || r == ':' || r == '+'
	}) {
		word := part[:len(part)-Digits.RunBack(part, len(part))]
		if len(word) <= 2 && len(part)-len(word) <= 4 {
			continue
		}
		switch string(word) {
		case "base", "sha", "utf", "md", "oauth", "http", "https", "tls", "ssl", "argon", "argon2id", "argon2i", "pbkdf",
			"pbkdf2", "aes", "rsa", "bcrypt", "scrypt", "hmac", "ascii", "iso", "rfc", "ed", "ecdsa", "x509", "utf8",
			"encoded", "encrypted", "hashed", "bit", "byte", "bytes", "char", "chars", "character", "characters", "letters",
			"digits", "factor", "step", "based", "hash", "ntlmv", "cbc", "gcm", "ctr", "pkcs", "pem", "hex", "east", "west",
			"north", "south", "central",
			"version", "level", "type", "of", "and", "to", "min", "max", "length", "plaintext", "text", "string", "pre", "post":
			continue
		}
		return false
	}
	return true
}
