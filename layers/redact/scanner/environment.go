package scanner

import (
	"bytes"

	"github.com/memvcs/mem/layers/redact/lexical"
)

// Environment returns the values of an environment file that are secrets, by their names or by their looks: lines
// of NAME=value, with or without "export" and quotes. What is no such line is passed over.
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
		if !ok && lexical.Random(value) && !lexical.Uuid(value) && !lexical.Weak(value) &&
			!bytes.HasPrefix(value, []byte("pk_")) {
			k, ok = Know(envRule, value)
		}
		if ok {
			out = append(out, k)
		}
	}
	return out
}

// unquoteValue returns what stands between the quotes of a value, or in front of the comment behind it.
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

// envRule is the rule that finds the values of variables.
const envRule = "env-value"

// Variable returns the Known of the value of a variable whose name says that it is a secret.
func Variable(name, value []byte) (Known, bool) {
	if lexical.SecretName(name) == "" || lexical.Weak(value) {
		return Known{}, false
	}
	return Know(envRule, value)
}
