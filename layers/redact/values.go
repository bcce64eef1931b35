package redact

import (
	"bytes"
)

// Style is the syntax in which a value follows its name. It determines how much evidence is needed that the value is
// a secret.
type Style int

const (
	loose    Style = iota // in code, or in a table cell
	Sentence              // in a sentence
	Line                  // name: value on a line of its own
	env                   // NAME=value, --name value, a connection string
	Quoted                // in quotes
)

// Plausible reports whether value, found in the position of a value of this kind and style, may be a secret.
// References, placeholders, plain words and examples are not.
func Plausible(kind string, value []byte, st Style) bool {
	if len(value) < 6 || len(value) > 4096 || isPlaceholder(value) {
		return false
	}
	if bytes.ContainsAny(value, " \t\r\n") {
		return Groups(value) == len(value) || kind == "password" && st >= env && passphrase(value, 4)
	}
	if reference(value, st) {
		return false
	}
	t := traitsOf(value)
	if t.Digits == 0 && t.Symbols == 0 && t.Upper == 0 && st != env && !Unwordly(value) && (kind != "password" || !lettersAlone(value, t, st)) {
		return false // one word
	}
	if weak(value) || st == Line && call(value) {
		return false
	}
	switch kind {
	case "password":
		return passwordLike(value, t, st) || st > Sentence && passphrase(value, 3) || st == Sentence && passphrase(value, 4) ||
			st >= Line && lettersAlone(value, t, st)
	case "secret":
		if st >= Line && t.Digits < len(value) && (passwordLike(value, t, st) || passphrase(value, 4)) {
			return true
		}
	}
	return keyLike(value, t, st)
}

// keyLike reports whether value may be a generated token or key.
func keyLike(value []byte, t traits, st Style) bool {
	if st > loose && isUUID(value) {
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

// passwordLike reports whether value may be a password.
func passwordLike(value []byte, t traits, st Style) bool {
	switch {
	case t.Digits == len(value):
		return st >= Line && len(value) >= 8
	case Entropy(value) <= 2.2 || technicalTerm(value) || validation(value):
		return false
	case st > Sentence && Unwordly(value), st > Line && t.Upper > 0 && unwordly(value, 40, 3.5) && !(identifier(value) && aboutPasswords(value)):
		return true
	case st >= Line && scrambled(value, t, st):
		return true
	case st == Sentence:
		return passwordInSentence(value, t)
	case st == loose:
		return loosePassword(value, t)
	case t.Digits > 0:
		return true
	case t.Strange > 0:
		return t.Upper > 0 || st >= env
	case t.Upper > 1 && t.Lower > 1 && Random(value):
		return !dashedWords(value)
	}
	return st == env && len(value) >= 8 && (t.Symbols == 0 || t.Upper > 1 && dashedWords(value)) && !aboutPasswords(value)
}

// scrambled reports whether value is eight letters or more that mix capitals and small ones as no name of several words
// does. On a line of its own, where types stand too, they alternate.
func scrambled(value []byte, t traits, st Style) bool {
	if t.Upper < 2 || t.Lower < 2 || t.Upper+t.Lower < len(value) || len(value) < 8 || aboutPasswords(value) {
		return false
	}
	changes, named := CaseChanges(value), identifier(value)
	if n := len(value); value[n-1] <= 'Z' && value[n-2] > 'Z' {
		changes++ // no name ends with a single capital
	}
	return st > Line && (changes > 0 || !named) || changes > 1 || changes > 0 && !named
}

// lettersAlone reports whether value, of letters behind a name for passwords, is one. In quotes and in settings neither a
// type nor a variable stands there, and any word may be a password that does not speak about passwords. On a line of its
// own a type or a variable may stand: a word in small letters counts if it is no usual one there, and others if a piece has
// no vowel.
func lettersAlone(value []byte, t traits, st Style) bool {
	if t.Upper+t.Lower < len(value) || t.Lower == 0 || aboutPasswords(value) || smallWord(value) || technicalTerm(value) {
		return false
	}
	if st > Line {
		return len(value) >= 6 && (st == Quoted || t.Upper > 0) && (t.Upper != 1 || value[0] > 'Z')
	}
	if t.Upper == 0 || len(value) < 8 {
		return len(value) >= 8 && unwordly(value, 37, 3)
	}
	start := 0
	for i := 1; i <= len(value); i++ {
		if i < len(value) && (value[i] > 'Z' || value[i-1] <= 'Z') && (value[i] <= 'Z' || value[i-1] > 'Z') {
			continue
		}
		piece := value[start:i]
		if start = i; len(piece) > 1 && !bytes.ContainsAny(piece, "aeiouyAEIOUY") {
			return true
		}
	}
	return false
}

// loosePassword reports whether value, somewhere in code, can only be a password.
func loosePassword(value []byte, t traits) bool {
	if t.Symbols == 0 && len(value) >= 12 && !identifier(value) && unwordly(value, 50, 3) {
		return true
	}
	if dashedWords(value) || t.Digits == 0 {
		return false
	}
	if t.Symbols == 0 && (t.Upper == 0 || t.Lower == 0) && len(value) < 10 {
		return false
	}
	return Random(value) || t.Strange > 1 && t.Upper > 0 && t.Lower > 0 && !code(value)
}

// passwordInSentence reports whether value, in a sentence about passwords, is unlikely to be an ordinary word: it has
// digits, mixed case, symbols, or digits between words.
func passwordInSentence(value []byte, t traits) bool {
	letters := t.Upper + t.Lower
	switch {
	case t.Digits == 0 && letters >= 10 && !upperName(value) && Unwordly(value):
		return true
	case t.Digits == 0:
		return t.Strange > 1 && t.Upper > 0 && t.Lower > 0 && len(value) >= 10
	case Random(value) && !dashedWords(value):
		return t.Symbols > 0 || t.Upper > 0 && t.Lower > 0 || len(value) >= 10
	case t.Strange > 0:
		return letters > 1 && len(value) >= 8
	case t.Symbols > 0:
		return letters >= 6 && !code(value)
	}
	return letters >= 8 && t.Upper > 1 && t.Lower > 1 && len(value) >= 12
}

// validation reports whether value is a list of rules for a field, as in required|string|min:8.
func validation(value []byte) bool {
	for rule := range bytes.SplitSeq(value, []byte("|")) {
		switch string(rule) {
		case "required", "nullable", "sometimes", "confirmed":
			return bytes.IndexByte(value, '|') > 0
		}
	}
	return false
}

// technicalTerm reports whether value is what often follows a password's name: a technical term, a version or a date, as
// sha-256, utf8, v1.2, 2026-01-02, or what describes a password, as a type, a state, a place.
func technicalTerm(value []byte) bool {
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
			"version", "level", "type", "of", "and", "to", "min", "max", "length", "plaintext", "text", "string", "pre", "post",
			"strings", "varchar", "nvarchar", "number", "integer", "boolean", "object", "optional", "nullable", "unknown",
			"undefined", "hidden", "masked", "prompt", "prompted", "ignored", "ignore", "disabled", "enabled", "missing", "absent", "removed",
			"filtered", "omitted", "unset", "cleared", "blank", "strong", "mismatch", "expired", "hashing", "updated", "changed",
			"accepted", "rejected", "verified", "verify", "stored", "cleartext", "keyring", "keychain", "vault", "environment",
			"variable", "stdin", "inputs", "input", "output", "static", "dynamic", "random", "generated", "minimum", "maximum",
			"property", "parameter", "argument", "option", "options", "setting", "settings", "config", "configured", "column", "fields", "field",
			"label", "visible", "toggle", "button", "nothing", "always", "manual", "managed", "binary", "literal", "regexp", "pattern",
			"validator", "validation", "policy", "algorithm", "method", "function", "module", "schema", "format", "username", "email":
			continue
		}
		return false
	}
	return true
}
