package redact

import (
	"bytes"
	"slices"
	"sync"
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
		if !ok && random(value) && !uuid(value) && !weak(value) && !bytes.HasPrefix(value, []byte("pk_")) {
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
	if secretName(name) == "" || weak(value) {
		return Known{}, false
	}
	return Know(envRule, value)
}

// uuid reports whether value is one, which names a thing rather than opens it.
func uuid(value []byte) bool {
	if len(value) != 36 {
		return false
	}
	for i, c := range value {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && !hexAny.has(c) {
			return false
		}
	}
	return true
}

// With returns r with some more values that are secrets wherever they stand. The ID is the same.
func (r Rules) With(known []Known) Rules {
	if r.set == nil || len(known) == 0 {
		return r
	}
	set := &ruleset{allowed: r.set.allowed, custom: r.set.custom}
	for _, k := range slices.Concat(r.set.values, known) {
		set.know(k)
	}
	set.scans = sync.Pool{New: func() any { return &scan{rules: set, names: nameCache{}} }}
	r.set = set
	return r
}
