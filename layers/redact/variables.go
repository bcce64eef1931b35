package redact

import (
	"bytes"
)

// Environment returns the values of an environment file that are secrets by name or by form, and that can only be
// secrets elsewhere. The lines are NAME=value, with or without "export" and quotes; other lines are ignored. The file
// comes with a repository, so that a value which could be a word, a phrase or an address of other text is never among
// them, whatever its name is.
func Environment(file []byte) []Known {
	var out []Known
	for l := range bytes.Lines(file) {
		l = bytes.TrimPrefix(bytes.TrimSpace(l), []byte("export "))
		name, value, ok := bytes.Cut(l, []byte("="))
		if !ok || len(l) > 0 && l[0] == '#' {
			continue
		}
		name, value = bytes.TrimSpace(name), unquoteValue(bytes.TrimSpace(value))
		k, ok := Variable(name, value)
		if !ok && unguessable(value) && !isUUID(value) && !weak(value) &&
			!bytes.HasPrefix(value, []byte("pk_")) {
			k, ok = Know(envRule, value)
		}
		if ok {
			out = append(out, k)
		}
	}
	return out
}

// unquoteValue returns the content of a quoted value, or an unquoted value without its comment.
func unquoteValue(v []byte) []byte {
	if len(v) > 1 && (v[0] == '"' || v[0] == '\'') {
		if n := bytes.IndexByte(v[1:], v[0]); n >= 0 {
			return v[1 : 1+n]
		}
	}
	if n := bytes.Index(v, []byte(" #")); n >= 0 {
		v = bytes.TrimSpace(v[:n])
	}
	return v
}

// envRule is the rule that finds values of environment variables.
const envRule = "env-value"

// Variable returns the Known of the value of a variable. ok is false if the name is not that of a secret, or if the
// value may be ordinary text.
func Variable(name, value []byte) (Known, bool) {
	if secretName(name) == "" || weak(value) || !unguessable(value) {
		return Known{}, false
	}
	return Know(envRule, value)
}
