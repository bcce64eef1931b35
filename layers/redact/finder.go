package redact

import (
	"bytes"
	"cmp"
	"slices"
)

// A finder walks over the strings of a JSON value.
type finder struct {
	scan  *Scan
	value []byte
	part  bool // of a JSON value: its brackets need not match
	spans []Span
	key   []byte // the decoded key of the next value; nil if none
	keys  []byte // buffer for key
	// the name of the value in {"name": ..., "value": ...} and name: {"value": ...}; empty if none
	outer []byte
	list  string // the kind of the strings in this list
	flag  string // the kind of the option that precedes this string in its list

	joins bool   // the strings of this list are lines of one text
	lines []byte // that text
	parts []part // the strings of its lines
}

// A part is one line of a text that a list of strings contains: its offset in the text, and the bounds of its string
// in the value.
type part struct{ at, start, end int }

// walk finds the secrets in the strings and keys of the value. It returns false if the value is not JSON; then its
// findings are not valid.
func (f *finder) walk() bool {
	depth, v := 0, f.value
	for i := 0; i < len(v); {
		switch c := v[i]; c {
		case '"':
			end, ok := endOfString(v, i+1)
			if !ok {
				return false
			}
			next := end + 1 + Blank(v[end+1:])
			f.string(i+1, end, next < len(v) && v[next] == ':')
			i = end + 1
			continue
		case '{', '[':
			depth++
			f.join()
			f.open(c)
		case '}', ']':
			depth--
			f.join()
			f.key, f.outer, f.list, f.flag = nil, f.outer[:0], "", ""
		case ',':
			f.key = nil
		case ':', ' ', '\t', '\r', '\n':
		default:
			n := outside.Run(v[i:], len(v))
			if n == 0 {
				return false
			}
			f.number(i, i+n)
			i += n
			continue
		}
		if i++; depth < 0 && !f.part {
			return false
		}
	}
	f.join()
	return depth == 0 || f.part
}

// outside are the characters of numbers, true, false and null.
var outside = setOf("0123456789+-.eEtrufalsn")

// string scans the string whose content is value[start:end].
func (f *finder) string(start, end int, isKey bool) {
	raw := f.value[start:end]
	text := raw
	if bytes.IndexByte(raw, '\\') >= 0 {
		f.scan.unquoted = unquote(f.scan.unquoted[:0], raw)
		text = f.scan.unquoted
	}
	from := len(f.spans)
	switch {
	case !isKey && f.joins:
		f.parts = append(f.parts, part{len(f.lines), start, end})
		if f.lines = append(f.lines, text...); !bytes.HasSuffix(text, []byte("\n")) {
			f.lines = append(f.lines, '\n')
		}
	case len(text) >= 8:
		f.spans = append(f.spans, f.scan.Run(text, 0)...)
	}
	if isKey {
		f.keys = append(f.keys[:0], text...)
		f.key = f.keys
	} else {
		f.named(text)
		f.key = nil
	}
	if len(f.spans) == from {
		return
	}
	f.place(f.spans[from:], raw, start, len(text) != len(raw))
}

// join scans the lines of a list as one text.
func (f *finder) join() {
	if f.joins && len(f.lines) >= 8 {
		for _, s := range f.scan.Run(f.lines, 0) {
			for i, p := range f.parts {
				to := len(f.lines)
				if i+1 < len(f.parts) {
					to = f.parts[i+1].at
				}
				if s.Start >= to || s.End <= p.at {
					continue
				}
				raw := f.value[p.start:p.end]
				at := rawOffsets(raw, []int{max(s.Start, p.at) - p.at, min(s.End, to) - p.at})
				f.spans = append(f.spans, Span{Start: p.start + at[0], End: p.start + min(at[1], len(raw)), Rule: s.Rule})
			}
		}
	}
	f.joins, f.lines, f.parts = false, f.lines[:0], f.parts[:0]
}

// isLineList reports whether a list of this name contains the lines of one text, as in a patch, a notebook, or the
// output of a command.
func isLineList(name []byte) bool {
	switch string(name) {
	case "lines", "source", "stdout_lines", "stderr_lines":
		return true
	}
	return false
}

// open begins an object or a list, the value of f.key.
func (f *finder) open(bracket byte) {
	f.outer, f.list, f.flag = f.outer[:0], "", ""
	switch {
	case f.key == nil || len(f.key) > 96:
	case bracket == '[':
		f.list, f.joins = cmp.Or(pluralKind(f.key), secretName(f.key)), isLineList(f.key)
	case f.scan.Names.Kind(f.key) != "":
		f.outer = append(f.outer, f.key...)
	}
	f.key = nil
}

// named reports the whole of text, a string that is not a key, if its name is that of a secret.
func (f *finder) named(text []byte) {
	kind := f.kind(len(text))
	if f.flag = ""; f.key == nil && !f.joins && option(text) {
		f.flag = secretName(text)
	}
	switch string(f.key) {
	case "name", "Name", "key", "Key", "ParameterKey":
		if len(text) <= 96 && secretName(text) != "" {
			f.outer = append(f.outer[:0], text...)
		}
	}
	if kind != "" && Plausible(kind, text, Quoted) && !f.scan.Rules.allows(kind, text) {
		f.spans = append(f.spans, Span{Start: 0, End: len(text), Rule: kind})
	}
}

// kind returns the kind of secret that a string with length bytes is by its name, "" if it is none.
func (f *finder) kind(length int) string {
	kind := cmp.Or(f.list, f.flag)
	switch string(f.key) {
	case "value", "Value", "ParameterValue":
		if len(f.outer) > 0 {
			kind = secretName(f.outer)
		}
	}
	if f.key != nil && kind == "" && len(f.key) <= 96 && length >= 6 {
		kind = f.scan.Names.Kind(f.key)
	}
	return kind
}

// option reports whether text is an option of a program.
func option(text []byte) bool {
	text = bytes.TrimRight(text, "=")
	return len(text) > 2 && len(text) <= 96 && text[0] == '-' && nameChars.Run(text, 96) == len(text)
}

// place converts offsets in the text of the string raw to offsets in the value.
func (f *finder) place(spans []Span, raw []byte, start int, escapes bool) {
	if escapes {
		var texts []int
		for _, s := range spans {
			texts = append(texts, s.Start, s.End)
		}
		slices.Sort(texts)
		texts = slices.Compact(texts)
		raws := rawOffsets(raw, slices.Clone(texts))
		for i, s := range spans {
			from, _ := slices.BinarySearch(texts, s.Start)
			to, _ := slices.BinarySearch(texts, s.End)
			spans[i].Start, spans[i].End = raws[from], raws[to]
		}
	}
	for i := range spans {
		spans[i].Start += start
		spans[i].End += start
	}
}

// number reports a number or word that may be a password.
func (f *finder) number(start, end int) {
	if f.key == nil || end-start < 8 {
		return
	}
	text := f.value[start:end]
	if secretName(f.key) == "password" && Plausible("password", text, Quoted) &&
		!f.scan.Rules.allows("password", text) {
		f.spans = append(f.spans, Span{Start: start, End: end, Rule: "password"})
	}
}

// Find returns the secrets of value in no order. part means that it is a part of a JSON value. session contains the known
// values of the session and may be nil.
func (r *ruleset) Find(value []byte, part bool, session *knowns) []Span {
	f := finder{scan: r.Scans.Get().(*Scan), value: value, part: part}
	defer r.Scans.Put(f.scan)
	f.scan.session = session
	if !f.walk() {
		f.spans = append([]Span(nil), f.scan.Run(value, 0)...)
	}
	return f.spans
}

// Blank returns the length of the white space at the start of b, up to and including the first line end.
func Blank(b []byte) int {
	for i, c := range b {
		switch c {
		case '\n':
			return i + 1
		case ' ', '\t', '\r':
		default:
			return i
		}
	}
	return len(b)
}
