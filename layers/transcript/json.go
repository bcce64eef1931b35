package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

var errSyntax = errors.New("no valid JSON")

// members calls fn for every member of the JSON object raw, until fn returns false. Keys are passed without quotes
// and with their escapes. It does not validate the parts that fn does not read, and never reads beyond raw.
func members(raw []byte, fn func(key, value []byte) bool) error {
	i := space(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return errSyntax
	}
	for i = space(raw, i+1); i < len(raw) && raw[i] != '}'; i = space(raw, i) {
		if raw[i] == ',' {
			i++
			continue
		}
		if raw[i] != '"' {
			return errSyntax
		}
		k := i
		i = skipString(raw, i)
		key := raw[k:i]
		i = space(raw, i)
		if i >= len(raw) || raw[i] != ':' || len(key) < 2 {
			return errSyntax
		}
		v := space(raw, i+1)
		i = skipValue(raw, v)
		if i <= v {
			return errSyntax
		}
		if !fn(key[1:len(key)-1], raw[v:i]) {
			return nil
		}
	}
	if i >= len(raw) {
		return errSyntax
	}
	return nil
}

// elements calls fn for every element of the JSON array raw, until fn returns false, under the same conditions as
// [members].
func elements(raw []byte, fn func(value []byte) bool) error {
	i := space(raw, 0)
	if i >= len(raw) || raw[i] != '[' {
		return errSyntax
	}
	for i = space(raw, i+1); i < len(raw) && raw[i] != ']'; i = space(raw, i) {
		if raw[i] == ',' {
			i++
			continue
		}
		v := i
		i = skipValue(raw, v)
		if i <= v {
			return errSyntax
		}
		if !fn(raw[v:i]) {
			return nil
		}
	}
	if i >= len(raw) {
		return errSyntax
	}
	return nil
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skipString returns the index after the string that starts at b[i], or len(b).
func skipString(b []byte, i int) int {
	for i++; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		i++
		if slashes%2 == 0 {
			return i
		}
	}
	return len(b)
}

// skipValue returns the index after the value that starts at b[i], or i if there is none.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i < len(b) && !delimiter[b[i]] {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

var delimiter = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true, ',': true, ':': true, ' ': true,
	'\t': true, '\r': true, '\n': true}

// quoted returns the decoded JSON string raw, "" if raw is not a string. Invalid UTF-8 and lone surrogates become
// U+FFFD, as in encoding/json.
func quoted(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return ""
	}
	if s := raw[1 : len(raw)-1]; bytes.IndexByte(s, '\\') < 0 && utf8.Valid(s) {
		return string(s)
	}
	var s string
	_ = json.Unmarshal(raw, &s) // what is malformed is no string
	return s
}
