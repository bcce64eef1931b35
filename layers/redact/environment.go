package redact

import (
	"slices"
	"sync"
)

// With returns r with more values that are secrets wherever they occur. The ID does not change.
func (r Rules) With(known []Known) Rules {
	if r.set == nil || len(known) == 0 {
		return r
	}
	set := &ruleset{Allowed: r.set.Allowed, Custom: r.set.Custom}
	for _, k := range slices.Concat(r.set.Values, known) {
		set.Know(k)
	}
	set.Scans = sync.Pool{New: func() any { return newScan(set) }}
	r.set = set
	return r
}
