package redact

import (
	"bytes"
	"iter"
	"slices"

	"github.com/memvcs/mem/layers/redact/lexical"
)

// A Text cleans what is no transcript, such as the output of a tool, piece by piece: JSON values are looked at
// for themselves, as in a transcript, and a run of lines that are no JSON as one text, so that a private key or
// a manifest over many lines is found. Each piece is looked at with [Behind] bytes before it and what the
// caller has read of what follows, of which [Ahead] bytes are enough. A line that is not cut leaves its end
// where it was. The zero value is at the start of a file.
type Text struct {
	behind []byte // the end of what was cleaned, as it was
	value  []byte // memory of what is looked at
}

// Redact takes the secrets out of raw[:at], which goes on where the last call stopped and should end a line,
// and returns how much of raw it has cleaned: at, or more if a secret goes on behind that.
func (t *Text) Redact(r Rules, raw []byte, at int, numbered *Numbers) (clean []byte, cuts []Cut, n int) {
	if !r.Any() {
		return raw[:at], nil, at
	}
	value := append(append(slices.Grow(t.value[:0], len(t.behind)+len(raw)), t.behind...), raw...)
	t.value = value
	start, end := len(t.behind), len(t.behind)+at
	var spans []lexical.Span
	for from, to := range texts(value) {
		if from >= end {
			break
		}
		if to <= start {
			continue
		}
		for _, s := range r.spans(value[from:to], r.FindUnits(value[from:to], nil, &numbered.known), numbered) {
			s.Start, s.End = s.Start+from, s.End+from
			if s.Start >= start && (s.Start < end || goesOn(spans, value, s, end)) {
				spans, end = append(spans, s), max(end, s.End)
			}
		}
	}
	t.keep(value, end)
	if len(spans) == 0 {
		return raw[:end-start], nil, end - start
	}
	clean, cuts = render(value[:end], spans, numbered)
	return clean[start:], Shift(cuts, -int64(start)), end - start
}

// goesOn reports whether s is the next line of the secret that ends the spans: a secret over several lines is a
// span in each.
func goesOn(spans []lexical.Span, value []byte, s lexical.Span, end int) bool {
	if len(spans) == 0 || s.Start < end {
		return false
	}
	last := spans[len(spans)-1]
	return last.Rule == s.Rule && len(bytes.Trim(value[last.End:s.Start], "\r\n")) == 0
}

// keep remembers the end of value[:end], from the start of a line if there is one.
func (t *Text) keep(value []byte, end int) {
	from := max(0, end-Behind)
	if n := bytes.IndexByte(value[from:end], '\n'); from > 0 && n >= 0 && from+n+1 < end {
		from += n + 1
	}
	t.behind = append(t.behind[:0], value[from:end]...)
}

// texts is [units], but of lines that are no JSON it takes as many together as there are.
func texts(raw []byte) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		from := 0 // of the lines that are no JSON
		for start, end := range units(raw) {
			if head := bytes.TrimLeft(raw[start:end], " \t\r\n"); len(head) == 0 || head[0] != '{' && head[0] != '[' ||
				!lexical.Valid(raw[start:end]) {
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
