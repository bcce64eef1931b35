package capture

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// compositionUses returns the compositions that a captured session was started from, as uses. A session uses a
// composition if it contains the composition's first message, which names it and its sources, and messages of its own.
func compositionUses(st *state.State, c *Capture) []records.Use {
	typed, echo := c.snap.Typed, len(c.snap.Echo)
	if c.Base != nil {
		for _, p := range c.known.Chain(c.Base) {
			typed, echo = append(slices.Clone(typed), p.Typed...), echo+len(p.Echo)
		}
	}
	if echo == 0 || echo >= len(typed) {
		return nil
	}
	var out []records.Use
	for _, k := range slices.Backward(st.Compositions) {
		if k.Deleted || len(k.Typed) == 0 || !slices.ContainsFunc(typed, func(t records.TypedKey) bool {
			return t.Key == k.Typed[0]
		}) {
			continue
		}
		u := records.Use{By: c.snap.Session, At: c.snap.Scan.Last, Targets: st.Targets(state.Rev{Composition: k})}
		if !st.Used(u) {
			out = append(out, u)
		}
	}
	slices.SortFunc(out, func(a, b records.Use) int {
		return cmp.Compare(strings.Join(a.Targets, " "), strings.Join(b.Targets, " "))
	})
	return slices.CompactFunc(out, func(a, b records.Use) bool { return slices.Equal(a.Targets, b.Targets) })
}
