package redact

import (
	"fmt"
)

// Compose merges two lists of cuts: first in the original, later in the resulting clean text. Both are sorted. The
// offsets of the result are in the final clean text. The error wraps [errPatch] if a later cut contains only a part of
// a placeholder.
func Compose(first, later []Cut) ([]Cut, error) {
	var out []Cut
	grown := int64(0) // how much longer the second clean text is so far
	for _, c := range later {
		at := c.At - grown // in the first clean text
		for len(first) > 0 && first[0].At < at {
			f := first[0]
			if f.At+int64(f.Len) > at {
				return nil, fmt.Errorf("%w: a cut at %d in another one", errPatch, at)
			}
			f.At += grown
			out, first = append(out, f), first[1:]
		}
		if len(first) > 0 && first[0].At < at+int64(len(c.Bytes)) {
			return nil, fmt.Errorf("%w: a cut at %d around another one", errPatch, at)
		}
		out = append(out, c)
		grown += int64(c.Len - len(c.Bytes))
	}
	return append(out, Shift(append([]Cut(nil), first...), grown)...), nil
}
