// Package redact finds the secrets in transcripts and files and replaces them by placeholders: keywords and patterns give
// candidates, and the text around a candidate decides.
package redact

import (
	"bytes"
	"encoding/json"
	"iter"
)

// A Finding is a secret in the value given to a rule: value[Start:End]. Rule is the kind in the placeholder, where
// bytes other than a-z, 0-9 and '-' become '-'.
type Finding struct {
	Start, End int
	Rule       string
}

// A Rule yields the secrets of one value in any order; they may overlap. The value is a complete JSON value of the
// transcript, with escapes and line end, or bytes that are not JSON. A Rule must be deterministic and must not retain
// or change the value.
type Rule func(value []byte) iter.Seq[Finding]

// Rules is a rule set. The zero value has no rules and finds nothing.
type Rules struct {
	ID    string // part of the recipe; different sets of rules have different IDs
	Rules []Rule

	set *ruleset // the built-in rules; nil for none
}

// Any reports whether there are any rules.
func (r Rules) Any() bool { return len(r.Rules) > 0 || r.set != nil }

// Count returns the number of rules.
func (r Rules) Count() int {
	if r.set == nil {
		return len(r.Rules)
	}
	return len(r.Rules) + len(RuleNames()) + len(r.set.Custom)
}

// A Cut is a secret that was replaced by a placeholder.
type Cut struct {
	At    int64  // the offset of the placeholder in the clean text
	Len   int    // the length of the placeholder
	No    int    // the number in the placeholder
	Bytes []byte // the secret
}

// Redact replaces the secrets in raw, which must consist of complete values (or the rest of a broken one). The cuts are
// sorted, with offsets in clean. numbered is extended; for the later part of a session it must have learned the cuts of
// the earlier parts, see [Numbers.Learn]. If nothing is found, clean is raw itself.
func (r Rules) Redact(raw []byte, numbered *Numbers) (clean []byte, cuts []Cut) {
	if !r.Any() {
		return raw, nil
	}
	kept := 0 // raw[:kept] is in clean, if there are cuts
	for start, end := range units(raw) {
		spans := r.spans(raw[start:end], false, numbered)
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

// Shift adds base to the offsets of cuts, in place, and returns cuts.
func Shift(cuts []Cut, base int64) []Cut {
	for i := range cuts {
		cuts[i].At += base
	}
	return cuts
}

// spans returns the spans to cut from value: in order, apart, each at a safe place. It searches its own result until
// nothing more is found, because a placeholder can expose text that a rule did not match before. part means that value
// is a part of a JSON value.
func (r Rules) spans(value []byte, part bool, numbered *Numbers) []Span {
	found := r.FindUnits(value, part, nil, &numbered.known)
	if len(found) == 0 {
		return nil
	}
	safe := safePlaces(value, part)
	spans := safe.Clip(value, found)
	for {
		for _, s := range spans {
			numbered.know(value[s.Start:s.End])
		}
		mark := numbered.mark()
		clean, cuts := render(value, spans, numbered)
		numbered.rollback(mark)
		more := safe.Clip(value, toRaw(r.FindUnits(clean, part, cuts, &numbered.known), spans, cuts))
		merged := merge(append(more, spans...))
		if Size(merged) == Size(spans) {
			return spans
		}
		spans = merged
	}
}

// FindUnits runs the rules over text and returns the spans they find, without the parts covered by placeholders.
func (r Rules) FindUnits(text []byte, part bool, cuts []Cut, session *knowns) []Span {
	var found []Span
	if r.set != nil {
		found = r.set.Find(text, part, session)
	}
	for _, rule := range r.Rules {
		for f := range rule(text) {
			s := Span{Start: max(f.Start, 0), End: min(f.End, len(text)), Rule: f.Rule, Quote: false}
			if s.Start < s.End {
				found = append(found, s)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	holes := placeholders(text)
	for _, c := range cuts {
		holes = append(holes, Span{Start: int(c.At), End: int(c.At) + c.Len})
	}
	return without(merge(found), merge(holes))
}

// toRaw converts spans of the clean text to spans of the value it was made from. No span begins or ends in a cut.
func toRaw(found, spans []Span, cuts []Cut) []Span {
	i, grown := 0, 0 // cuts passed, and how much longer the value is than the clean text there
	shift := func(at int) int {
		for ; i < len(cuts) && int(cuts[i].At)+cuts[i].Len <= at; i++ {
			grown += spans[i].End - spans[i].Start - cuts[i].Len
		}
		return at + grown
	}
	out := make([]Span, 0, len(found))
	for _, f := range found {
		start := shift(f.Start)
		out = append(out, Span{Start: start, End: shift(f.End-1) + 1, Rule: f.Rule, Quote: false})
	}
	return out
}

// render returns value with a placeholder for each span, and the cuts with offsets in it.
func render(value []byte, spans []Span, numbered *Numbers) (clean []byte, cuts []Cut) {
	clean = make([]byte, 0, len(value)+16*len(spans))
	at := 0
	for _, s := range spans {
		secret := value[s.Start:s.End]
		no := numbered.number(secret)
		mark := placeholder(s.Rule, no)
		if s.Quote {
			mark = `"` + mark + `"`
		}
		clean = append(clean, value[at:s.Start]...)
		cuts = append(cuts, Cut{At: int64(len(clean)), Len: len(mark), No: no, Bytes: append([]byte(nil), secret...)})
		clean = append(clean, mark...)
		at = s.End
	}
	return append(clean, value[at:]...), cuts
}

// units yields the bounds of the values in raw, which cover it. A value includes the line end after it. Text that is
// not JSON is divided into lines.
func units(raw []byte) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		broken := 0 // before this offset no value spans several lines
		line := -1  // the offset of the first line end from start on, or len(raw)
		for start := 0; start < len(raw); {
			if line < start {
				line = start + lineEnd(raw[start:])
			}
			end, next := len(raw), min(line+1, len(raw))
			if start < broken {
				end = next
			}
			end = start + unit(raw[start:end], line-start)
			if next < end && !json.Valid(raw[start:end]) {
				broken, end = end, next
			}
			if !yield(start, end) {
				return
			}
			start = end
		}
	}
}

// texts is [units], except that consecutive lines that are not JSON are one value.
func texts(raw []byte) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		from := 0 // the start of the lines that are not JSON
		for start, end := range units(raw) {
			if head := bytes.TrimLeft(raw[start:end], " \t\r\n"); len(head) == 0 || head[0] != '{' && head[0] != '[' ||
				!json.Valid(raw[start:end]) {
				continue
			}
			if from < start && !yield(from, start) || !yield(start, end) {
				return
			}
			from = end
		}
		if from < len(raw) {
			yield(from, len(raw))
		}
	}
}

// lineEnd returns the offset of the first line end in b, or len(b).
func lineEnd(b []byte) int {
	if n := bytes.IndexByte(b, '\n'); n >= 0 {
		return n
	}
	return len(b)
}

// unit returns the length of the first value of b with the line end after it. A value also ends at a line end inside a
// string. line is the [lineEnd] of b; a search for it in each value would take quadratic time.
func unit(b []byte, line int) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\n' && depth == 0:
			return i + 1
		case c == '"':
			if line < i {
				line = i + lineEnd(b[i:])
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
				return i + 1 + Blank(b[i+1:])
			}
		}
	}
	return len(b)
}
