package redact

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"

	"github.com/memvcs/mem/layers/redact/scanner"
)

// A Text cleans a file that is not a transcript, such as the output of a tool, in pieces. It scans JSON values one by
// one, and consecutive lines that are not JSON as one text, so that a private key or a manifest of many lines is found.
// Each piece is scanned together with [Behind] bytes before it and the bytes after it that the caller has read, of
// which [Ahead] are enough. The zero value is at the start of a file.
type Text struct {
	behind []byte // the end of the cleaned raw bytes
	value  []byte // buffer
}

// Redact replaces the secrets in raw[:at], which continues the previous call and should end with a line, and returns
// the number of bytes of raw that are clean: at, or more if a secret crosses at.
func (t *Text) Redact(r Rules, raw []byte, at int, numbered *Numbers) (clean []byte, cuts []Cut, n int) {
	if !r.Any() {
		return raw[:at], nil, at
	}
	value := append(append(slices.Grow(t.value[:0], len(t.behind)+len(raw)), t.behind...), raw...)
	t.value = value
	start, end := len(t.behind), len(t.behind)+at
	var spans []scanner.Span
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

// goesOn reports whether s is the next line of the secret of the last span: a secret of several lines has a span in
// each.
func goesOn(spans []scanner.Span, value []byte, s scanner.Span, end int) bool {
	if len(spans) == 0 || s.Start < end {
		return false
	}
	last := spans[len(spans)-1]
	return last.Rule == s.Rule && len(bytes.Trim(value[last.End:s.Start], "\r\n")) == 0
}

// keep stores the end of value[:end] for the next piece, from the start of a line if possible.
func (t *Text) keep(value []byte, end int) {
	from := max(0, end-Behind)
	if n := bytes.IndexByte(value[from:end], '\n'); from > 0 && n >= 0 && from+n+1 < end {
		from += n + 1
	}
	t.behind = append(t.behind[:0], value[from:end]...)
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
