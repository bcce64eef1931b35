package capture

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// started returns the uses that a capture tells of: the compositions that the session was started from. The first
// message of a composition names it and its sources, so whoever holds that message holds the composition. A copy of the
// composition that nobody went on from used nothing.
func started(st *state.State, c *Capture) []records.Use {
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
