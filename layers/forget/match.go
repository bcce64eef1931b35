package forget

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
)

// A matcher decides what an expression selects. Without metadata it looks only at what was said and done, see
// [transcript.Content], and at the same text in what was derived from it.
type matcher struct {
	re       *regexp.Regexp
	metadata bool
}

func (o ForgetOptions) matcher() matcher { return matcher{o.Match, o.Metadata} }

// record reports whether a record of a transcript matches.
func (m matcher) record(raw []byte) bool {
	if m.re == nil || IsForgotten(raw) {
		return false
	}
	if m.metadata && m.re.Match(raw) {
		return true
	}
	for s := range transcript.Content(raw) {
		if m.re.MatchString(s) {
			return true
		}
	}
	return false
}

// records reports whether a record in a line of a transcript matches.
func (m matcher) records(line []byte) bool {
	for v := range transcript.Values(line) {
		if m.record(v.Raw) {
			return true
		}
	}
	return false
}

// derived reports whether a line of a derived text or of a file in the cache matches.
func (m matcher) derived(line []byte) bool {
	if m.re == nil || m.metadata || !bytes.HasPrefix(line, []byte("{")) || !json.Valid(line) {
		return m.re != nil && m.re.Match(line)
	}
	return slices.ContainsFunc(m.strings(line), m.re.MatchString)
}

// body reports whether a string in the body of a record of mem matches. ignore selects strings that do not count.
func (m matcher) body(b []byte, ignore func(string) bool) bool {
	return m.re != nil && slices.ContainsFunc(m.strings(b), func(s string) bool {
		return !ignore(s) && m.re.MatchString(s)
	})
}

// formFields are the members of derived texts and of records of mem with strings that mem chooses.
var formFields = []string{"act", "by", "cause", "counter", "device", "engine", "for", "format", "kind", "label",
	"level", "lines", "project", "role", "rules", "settings", "strategy", "type"}

// clientFields are the members with strings that come from the client's fields in a transcript.
var clientFields = []string{"agent", "branch", "cwd", "lastID", "lastUUID", "model", "session", "version"}

// strings returns the strings of a JSON value in any order, without the names of members, times, and what formFields
// and clientFields name.
func (m matcher) strings(b []byte) (out []string) {
	var v any
	if json.Unmarshal(b, &v) != nil {
		return []string{string(b)}
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if !isTime(v) {
				out = append(out, v)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for k, x := range v {
				if !slices.Contains(formFields, k) && (m.metadata || !slices.Contains(clientFields, k)) {
					walk(x)
				}
			}
		}
	}
	walk(v)
	return out
}

func isTime(s string) bool {
	if len(s) < len(time.DateTime) || s[4] != '-' {
		return false
	}
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}

const hexDigits = "0123456789abcdef"

// isHash reports whether a text is the name of an object or a record.
func isHash(s string) bool { return len(s) == 2*objects.Size && strings.Trim(s, hexDigits) == "" }

// isID reports whether a text is a hash, the ID of a device or of a session, or such a name after its kind, for example
// session/ID. A shorter number, for example of a telephone, is none.
func isID(s string) bool {
	if kind, name, ok := strings.Cut(s, "/"); ok &&
		slices.Contains([]string{"concept", "exchange", "rule", "session", "version"}, kind) {
		s = name
	}
	return isHash(s) || len(s) == 32 && strings.Trim(s, hexDigits) == "" ||
		len(s) == 36 && s[8] == '-' && strings.Trim(s, hexDigits+"-") == ""
}
