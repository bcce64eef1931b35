// Package redact splits the raw bytes of a transcript into clean bytes that may travel and a patch
// that stays at home.
//
// A [Rules] finds secrets in each JSON value and puts a placeholder in their place:
// ‹secret:rule:1›. Placeholders are numbered by first occurrence, without any key: equal secrets of
// a session get equal numbers ([Numbers]), and two stores that differ only in a secret's value hold
// the same clean bytes. What was cut out is a list of [Cut]; a [Patch] holds the cuts of one growth
// point, the tail that is not a closed JSON value yet, and the hash of the raw bytes. The clean
// bytes and the patches give back the original byte for byte ([Restore]).
//
// A rule only says where a secret stands. That valid JSON stays valid is the work of this package,
// once for all rules: inside a string a cut never splits an escape or a character, never touches
// the quotes, and a number becomes a string; brackets, commas and literals are never cut. A value
// that is no JSON is cut as text, line by line, so that the number of lines stands.
//
// Without rules the clean bytes are the raw bytes, not a copy, and nothing is scanned.
package redact

import (
	"bytes"
	"encoding/json"
	"iter"
)

// A Finding is a secret inside the value given to a rule: value[Start:End]. Rule names the kind in
// the placeholder; bytes outside a-z, 0-9 and '-' become '-'.
type Finding struct {
	Start, End int
	Rule       string
}

// A Rule yields the secrets of one value, in any order, overlapping or not. The value is a closed
// JSON value as it stands in the transcript, escapes and the line end included, or a run of bytes
// that is no JSON. A Rule must be deterministic and must not keep or change the value.
type Rule func(value []byte) iter.Seq[Finding]

// Rules is a rule set. The zero value has no rules and finds nothing.
type Rules struct {
	ID    string // goes into the recipe; another set of rules has another ID
	Rules []Rule

	set *ruleset // the built-in rules; nil for none
}

// Any reports whether there are rules at all.
func (r Rules) Any() bool { return len(r.Rules) > 0 || r.set != nil }

// Count returns how many rules there are.
func (r Rules) Count() int {
	if r.set == nil {
		return len(r.Rules)
	}
	return len(r.Rules) + len(Names()) + len(r.set.custom)
}

// A Cut is a secret taken out.
type Cut struct {
	At    int64  // where its placeholder starts in the clean text
	Len   int    // length of the placeholder
	No    int    // number in the placeholder
	Bytes []byte // what stood there
}

// Redact takes the secrets out of raw, which must hold whole values (or all that is left of a
// broken one). The cuts are in order, with offsets in clean. numbered is read and extended; the
// state of the earlier parts of a session is that of their cuts, see [Numbers.Learn]. If nothing is
// found, clean is raw itself.
func (r Rules) Redact(raw []byte, numbered *Numbers) (clean []byte, cuts []Cut) {
	if !r.Any() {
		return raw, nil
	}
	kept := 0 // raw[:kept] is in clean, if anything was cut at all
	for start, end := range units(raw) {
		spans := r.spans(raw[start:end], numbered)
		if len(spans) == 0 {
			continue
		}
		clean = append(clean, raw[kept:start]...)
		part, c := render(raw[start:end], spans, numbered)
		for _, cut := range c {
			cut.At += int64(len(clean))
			cuts = append(cuts, cut)
		}
		clean, kept = append(clean, part...), end
	}
	if len(cuts) == 0 {
		return raw, nil
	}
	return append(clean, raw[kept:]...), cuts
}

// Shift moves cuts by base, the length of the clean text before the one they were made in.
func Shift(cuts []Cut, base int64) []Cut {
	for i := range cuts {
		cuts[i].At += base
	}
	return cuts
}

// spans returns what to cut from value: in order, apart, each at a safe place. It looks again at
// its own result until a further look finds nothing, since a placeholder may lay bare what a rule
// did not see before.
func (r Rules) spans(value []byte, numbered *Numbers) []span {
	found := r.find(value, nil, &numbered.known)
	if len(found) == 0 {
		return nil
	}
	safe := safePlaces(value)
	spans := safe.clip(value, found)
	for {
		for _, s := range spans {
			numbered.know(value[s.start:s.end])
		}
		mark := numbered.mark()
		clean, cuts := render(value, spans, numbered)
		numbered.rollback(mark)
		more := safe.clip(value, toRaw(r.find(clean, cuts, &numbered.known), spans, cuts))
		merged := merge(append(more, spans...))
		if size(merged) == size(spans) {
			return spans
		}
		spans = merged
	}
}

// find runs the rules over text and leaves out what the cuts and other placeholders cover.
func (r Rules) find(text []byte, cuts []Cut, session *knowns) []span {
	var found []span
	if r.set != nil {
		found = r.set.find(text, session, false)
	}
	for _, rule := range r.Rules {
		for f := range rule(text) {
			s := span{max(f.Start, 0), min(f.End, len(text)), f.Rule, false}
			if s.start < s.end {
				found = append(found, s)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	holes := placeholders(text)
	for _, c := range cuts {
		holes = append(holes, span{start: int(c.At), end: int(c.At) + c.Len})
	}
	return without(merge(found), merge(holes))
}

// findPart is find of a part of a long line.
func (r Rules) findPart(part []byte, session *knowns) []span {
	if r.set == nil {
		return r.find(part, nil, session)
	}
	return without(merge(r.set.find(part, session, true)), placeholders(part))
}

// toRaw translates spans of the clean text, none of which touches a cut at its ends, into spans of
// the value it was made of.
func toRaw(found, spans []span, cuts []Cut) []span {
	i, grown := 0, 0 // cuts passed, and by how much the value is longer than the clean text there
	shift := func(at int) int {
		for ; i < len(cuts) && int(cuts[i].At)+cuts[i].Len <= at; i++ {
			grown += spans[i].end - spans[i].start - cuts[i].Len
		}
		return at + grown
	}
	out := make([]span, 0, len(found))
	for _, f := range found {
		start := shift(f.start)
		out = append(out, span{start, shift(f.end-1) + 1, f.rule, false})
	}
	return out
}

// render returns value with a placeholder for each span, and the cuts with offsets in it.
func render(value []byte, spans []span, numbered *Numbers) (clean []byte, cuts []Cut) {
	clean = make([]byte, 0, len(value)+16*len(spans))
	at := 0
	for _, s := range spans {
		secret := value[s.start:s.end]
		no := numbered.number(secret)
		mark := placeholder(s.rule, no)
		if s.quote {
			mark = `"` + mark + `"`
		}
		clean = append(clean, value[at:s.start]...)
		cuts = append(cuts, Cut{At: int64(len(clean)), Len: len(mark), No: no, Bytes: append([]byte(nil), secret...)})
		clean = append(clean, mark...)
		at = s.end
	}
	return append(clean, value[at:]...), cuts
}

// units yields the bounds of the values in raw, which together cover it. A value ends behind its
// line end, where there is one. What is no JSON is taken line by line.
func units(raw []byte) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		broken := 0 // up to here no value spans lines
		for start := 0; start < len(raw); {
			end := len(raw)
			line := start + bytes.IndexByte(raw[start:], '\n') + 1
			if start < broken && line > start {
				end = line
			}
			end = start + unit(raw[start:end])
			if line > start && line < end && !valid(raw[start:end]) {
				broken, end = end, line
			}
			if !yield(start, end) {
				return
			}
			start = end
		}
	}
}

// unit returns the length of the first value of b with the line end behind it. A string that a line
// end breaks off ends the value too.
func unit(b []byte) int {
	depth, line := 0, -1 // line is the first line end that was seen ahead
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\n' && depth == 0:
			return i + 1
		case c == '"':
			if line <= i {
				if line = i + indexByte(b[i:], '\n'); line < i {
					line = len(b)
				}
			}
			end, closed := endOfString(b[:line], i+1)
			if !closed {
				return min(line+1, len(b))
			}
			i = end
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return i + 1 + blank(b[i+1:])
			}
		}
	}
	return len(b)
}

// blank returns the length of the white space in front of b, up to its first line end.
func blank(b []byte) int {
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

// valid reports whether value is JSON.
func valid(value []byte) bool { return json.Valid(value) }
