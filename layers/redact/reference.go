package redact

import (
	"bytes"
	"strings"
)

// reference reports whether value refers to a secret that is stored elsewhere. In quotes, URLs and environment files
// only an interpolation is a reference; in code a name, a member or a call is one too.
func reference(value []byte, st Style) bool {
	if interpolated(value) || isLocation(value) || st < Quoted && encodedText(value) {
		return true
	}
	switch st {
	case Quoted:
		return false
	case env:
		end := value[len(value)-1]
		return (end == ')' || end == ']') && hasCall(value) && code(value)
	case Line:
		return code(value) && bytes.Count(value, []byte("(")) <= bytes.Count(value, []byte(")")) &&
			(hasCall(value) || !unwordly(value, 52, 3))
	case Sentence:
		return value[0] == '[' && value[len(value)-1] == ']' || hasCall(value) && code(value)
	}
	return referenceInCode(value)
}

// interpolated reports whether a shell, a template or a formatter replaces value or a part of it.
func interpolated(value []byte) bool {
	for _, mark := range [...][2]string{{"${", "}"}, {"{{", "}}"}, {"$(", ")"}, {"#{", "}"}, {"<%", "%>"}, {"%(", ")s"},
		{"%{", "}"}, {`\(`, ")"}, {"[[", "]]"}} {
		n := bytes.Index(value, []byte(mark[0]))
		if n < 0 {
			continue
		}
		rest := value[n+len(mark[0]):]
		if len(rest) == 0 && n == 0 {
			return true // {{ name }}, cut at the blank
		}
		if mark[0] == `\(` && (len(rest) == 0 || !Letters.Has(rest[0]) || rest[dottedChars.Run(rest, 64)%len(rest)] != ')') {
			continue
		}
		if opensName(rest) && bytes.Contains(rest, []byte(mark[1])) {
			return true
		}
	}
	return bytes.Contains(value, []byte("‹secret:")) || verbs(value)
}

// opensName reports whether text begins with the start of a name, or with a blank before one.
func opensName(text []byte) bool {
	return len(text) > 0 &&
		(text[0] == ' ' || text[0] == '.' || text[0] == '_' || text[0] > '9' && Alnum.Has(text[0]))
}

// encodedText reports whether value is percent-encoded text with blanks. Such text is scanned after decoding.
func encodedText(value []byte) bool {
	escapes, blank := 0, bytes.IndexByte(value, '+') >= 0
	for i := 0; i+2 < len(value); i++ {
		if value[i] == '%' && hexAny.Has(value[i+1]) && hexAny.Has(value[i+2]) {
			escapes++
			at := i + 1
			for hasFold(value[at:], "25") && at+4 <= len(value) {
				at += 2
			}
			blank = blank || hasFold(value[at:], "20") || hasFold(value[at:], "0a") || hasFold(value[at:], "09")
		}
	}
	return blank && (escapes > 1 || escapes > 0 && bytes.IndexByte(value, '+') < 0)
}

// verbs reports whether value contains a verb of printf and otherwise only words.
func verbs(value []byte) bool {
	n := bytes.IndexByte(value, '%')
	if n < 0 || n+1 == len(value) || bytes.IndexByte([]byte("sdvqxt"), value[n+1]) < 0 {
		return false
	}
	rest := bytes.ReplaceAll(value, value[n:n+2], nil)
	return len(rest) == 0 || traitsOf(rest).Strange == 0 && !Random(rest)
}

// isLocation reports whether value is a path, a URL or an identifier in a vault.
func isLocation(value []byte) bool {
	if bytes.Contains(value, []byte("://")) {
		return true
	}
	for _, scheme := range [...]string{"arn:", "vault:", "op://", "ssm:", "keychain:", "secret:", "env:", "file:", "urn:",
		"!Ref", "!Sub", "!secret", "secrets."} {
		if bytes.HasPrefix(value, []byte(scheme)) {
			return true
		}
	}
	switch {
	case value[0] == '/', bytes.HasPrefix(value, []byte("./")), bytes.HasPrefix(value, []byte("../")),
		bytes.HasPrefix(value, []byte("~/")):
		at := bytes.IndexByte(value, '/')
		return pathChars.Run(value, len(value)) == len(value) && !base64Key(value[at:])
	}
	return false
}

// pathChars are the characters of paths.
var pathChars = dottedChars.With("/~*{}$@+:")

// base64Key reports whether value, which begins like a path, is a base64 key: it contains a long piece that is not a
// word.
func base64Key(value []byte) bool {
	value = bytes.TrimRight(value, "=")
	if len(value) < 12 || Base64.Run(value, len(value)) < len(value) {
		return false
	}
	for piece := range bytes.SplitSeq(value, []byte("/")) {
		if len(piece) >= 10 && bytes.ContainsAny(piece, "ghijklmnopqrstuvwxyz") && Random(piece) {
			return true
		}
	}
	return false
}

// member reports whether value is a member expression a.b. If it ends with a digit, it may be two words of a
// password.
func member(value []byte) bool {
	dots := bytes.Count(value, []byte("."))
	if dots == 0 {
		return false
	}
	for part := range bytes.SplitSeq(value, []byte(".")) {
		part = bytes.TrimRight(part, "?!")
		if len(part) == 0 || Digits.Has(part[0]) || wordChars.Run(part, len(part)) != len(part) || !plainName(part) {
			return false
		}
	}
	return !Digits.Has(value[len(value)-1]) || objectName(value[:bytes.IndexByte(value, '.')])
}

// objectName reports whether name is a usual name of an object with values in code.
func objectName(name []byte) bool {
	switch string(bytes.ToLower(name)) {
	case "this", "self", "config", "cfg", "conf", "env", "process", "os", "secrets", "req", "request", "res", "response",
		"args", "opts", "options", "params", "props", "state", "ctx", "context", "data", "body",
		"user", "settings", "input", "values", "var", "local", "module", "std", "crypto", "test", "t", "s", "c", "m", "p",
		"r", "x", "e", "event", "window", "document", "credentials", "creds", "form", "auth", "account":
		return true
	}
	return false
}

// code reports whether value is an expression of a program: names, brackets, dots and operators. Brackets are
// balanced, except in a call that continues after value.
func code(value []byte) bool {
	if member(value) {
		return true
	}
	var open []byte
	var quotes byteSet
	names, marks, brackets := 0, 0, 0
	for i := 0; i < len(value); {
		if n := wordChars.Run(value[i:], len(value)); n > 0 {
			if !plainName(value[i : i+n]) {
				return false
			}
			i, names = i+n, names+boolInt(n > 2)
			continue
		}
		switch c := value[i]; c {
		case '(', '[', '{':
			open = append(open, c)
			marks++
			brackets++
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1] != c-1-boolByte(c != ')') {
				return false
			}
			open = open[:len(open)-1]
		case '"', '\'':
			quotes[c>>6] ^= 1 << (c & 63)
			marks++
		default:
			if !isOperator(value[i:]) {
				return false
			}
			marks += boolInt(bytes.IndexByte([]byte("<>|&!*?"), c) >= 0)
		}
		i++
	}
	if brackets == 0 && traitsOf(value).Digits > 0 && !bytes.Contains(value, []byte("::")) {
		return false
	}
	return marks > 0 && marks <= 2+2*names && quotes == byteSet{} && (names > 0 || len(value) < 10) &&
		(len(open) == 0 || hasCall(value))
}

// operators are the characters of operators in an expression.
var operatorSigns = setOf("<>|&!*?.,:;-+=/")

// isOperator reports whether the character at the start of text may be an operator.
func isOperator(text []byte) bool {
	return operatorSigns.Has(text[0]) && (text[0] != ';' || len(text) == 1)
}

func boolByte(b bool) byte { return byte(boolInt(b)) }

// plainName reports whether name may be an identifier: words with digits between or after them.
func plainName(name []byte) bool {
	if Random(name) && !versioned(name) || CaseChanges(name) > 1 || Digits.Has(name[0]) &&
		Digits.Run(name, len(name)) < len(name) {
		return false
	}
	if n := len(name); n > 3 && 'A' <= name[n-1] && name[n-1] <= 'Z' && 'a' <= name[n-2] && name[n-2] <= 'z' {
		return false // no identifier ends with a single capital
	}
	groups := 0
	for i := 0; i < len(name); {
		n := Digits.Run(name[i:], len(name))
		if n > 0 {
			groups++
		} else if n = Letters.Run(name[i:], len(name)); n == 1 && len(name) > 2 || n == 0 {
			n = max(n, 1)
			if name[i] != '_' && len(name) > 2 && (i == 0 || name[i-1] != '_') {
				return false
			}
		}
		i += n
	}
	return groups < 3
}

// versioned reports whether name is a word followed by a number and optional words, such as base64Encode.
func versioned(name []byte) bool {
	n := Letters.Run(name, len(name))
	k := n + Digits.Run(name[n:], len(name))
	rest := name[k:]
	return n > 2 && k > n && k-n < 5 && (len(rest) == 0 || len(rest) > 3 && rest[0] < 'a' &&
		Letters.Run(rest, len(rest)) == len(rest)) && !randomWord(name[:n]) && !randomWord(rest)
}

// Letters are the ASCII letters.
var Letters = setOf("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

// hasCall reports whether value contains a bracket after a name, as in a call or an index expression.
func hasCall(value []byte) bool {
	for i := 1; i < len(value); i++ {
		if (value[i] == '(' || value[i] == '[' || value[i] == '{' || value[i] == '`') && wordChars.Has(value[i-1]) {
			return true
		}
	}
	return false
}

// referenceInCode reports whether value, somewhere in code or in a sentence, refers to a secret.
func referenceInCode(value []byte) bool {
	switch value[0] {
	case '/':
		return !base64Key(value)
	case '~', '.', '<', '{', '[', '(', '@', '*', '|', '>', '#':
		return true
	case '$':
		return len(value) < 2 || value[1] != '2' && value[1] != '1' && value[1] != '5' && value[1] != '6' // a hash of crypt
	case '%':
		return value[len(value)-1] == '%' || !hexAny.Has(value[1])
	}
	if value[len(value)-1] == ']' && bytes.IndexByte(value, '[') > 0 {
		return true // an element of something
	}
	return member(value)
}

// call reports whether value is a call of a named function, such as hexB(psk): words with optional trailing digits,
// the first of which begins with a lower-case letter.
func call(value []byte) bool {
	open := bytes.IndexByte(value, '(')
	if open < 3 || value[0] < 'a' || value[len(value)-1] != ')' {
		return false
	}
	for word := range bytes.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune("(),._", r) }) {
		if Digits.Has(word[0]) || wordChars.Run(word, len(word)) < len(word) || !letterThenDigit(word) || randomWord(word) {
			return false
		}
	}
	return true
}
