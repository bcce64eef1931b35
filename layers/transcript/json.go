package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

var errSyntax = errors.New("no valid JSON")

// members calls fn for every member of the JSON object raw, until fn returns false. Keys are passed without quotes
// and with their escapes. The error says that raw is no object; the values in it are not validated.
func members(raw []byte, fn func(key, value []byte) bool) error {
	r := gjson.ParseBytes(raw)
	if !r.IsObject() {
		return errSyntax
	}
	r.ForEach(func(key, value gjson.Result) bool {
		return fn([]byte(key.Raw[1:len(key.Raw)-1]), raw[value.Index:value.Index+len(value.Raw)])
	})
	return nil
}

// elements calls fn for every element of the JSON array raw, until fn returns false, under the same conditions as
// [members].
func elements(raw []byte, fn func(value []byte) bool) {
	r := gjson.ParseBytes(raw)
	if !r.IsArray() {
		return
	}
	r.ForEach(func(_, value gjson.Result) bool { return fn(raw[value.Index : value.Index+len(value.Raw)]) })
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
