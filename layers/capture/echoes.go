package capture

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
)

// recordPrompts records the typed messages and their markers, and the markers in prompts that wait. It skips files of subagents, in which the "user" is
// another agent.
func (c *Capture) recordPrompts(prompts, waiting []transcript.Prompt) {
	if c.snap.Parent != "" {
		return
	}
	for _, p := range prompts {
		c.snap.Typed = append(c.snap.Typed, records.TypedKey{N: p.N, Key: p.Key, Messages: p.Before})
		for _, tag := range keepit.Malformed(p.Text) {
			c.added.Malformed = append(c.added.Malformed, MalformedTag{p.N, tag})
		}
		c.snap.Markers = append(c.snap.Markers, records.MarksIn(p)...)
	}
	for _, p := range waiting {
		c.snap.Waiting = append(c.snap.Waiting, records.MarksIn(p)...)
	}
}

// newlyRewound counts the typed messages that are withdrawn now and were not in the base.
func (c *Capture) newlyRewound() (n int) {
	typed := c.snap.Typed
	var before transcript.Spans
	if c.Base != nil {
		before = c.Base.Rewound
		for _, q := range c.known.Chain(c.Base) {
			typed = append(slices.Clip(typed), q.Typed...)
		}
	}
	for _, t := range typed {
		if c.snap.Rewound.Has(t.N) && !before.Has(t.N) {
			n++
		}
	}
	return n
}

// markEchoes finds the typed messages of captures that another session or mem itself contains already, and removes
// their markers: they were not typed in this session. Of copies in one batch, the original is in the session that
// began first; of equal times, in the one with the smaller ID.
func markEchoes(st *state.State, captures []*Capture) {
	order := slices.Clone(captures)
	slices.SortFunc(order, func(a, b *Capture) int {
		return cmp.Or(a.snap.Scan.First.Compare(b.snap.Scan.First), strings.Compare(a.snap.Session, b.snap.Session))
	})
	for _, c := range order {
		if c.added.Change == "" || c.added.Change == "unchanged" || c.added.Change == "forgotten" {
			continue
		}
		for _, t := range c.snap.Typed {
			if st.SeenElsewhere(t.Key, c.snap.Session) {
				c.snap.Echo = append(c.snap.Echo, t.N)
			}
		}
		c.snap.Markers = slices.DeleteFunc(c.snap.Markers, func(k records.Mark) bool {
			_, echo := slices.BinarySearch(c.snap.Echo, k.N) // typed messages are in order
			return echo
		})
		c.added.Echo, c.added.Now = len(c.snap.Echo), c.snap
	}
}

// compositionUses returns the compositions that a captured session was started from, as uses. A session uses a
// composition if it contains the composition's first message, which names it and its sources, and messages of its own.
func compositionUses(st *state.State, c *Capture) []records.Use {
	if len(st.Compositions) == 0 {
		return nil
	}
	typed, messages, echo := map[transcript.Key]bool{}, 0, 0
	count := func(s records.Snapshot) {
		for _, t := range s.Typed {
			typed[t.Key] = true
		}
		messages, echo = messages+len(s.Typed), echo+len(s.Echo)
	}
	count(c.snap)
	if c.Base != nil {
		for _, p := range c.known.Chain(c.Base) {
			count(p.Snapshot)
		}
	}
	if echo == 0 || echo >= messages {
		return nil
	}
	var out []records.Use
	for _, k := range slices.Backward(st.Compositions) {
		if k.Deleted || len(k.Typed) == 0 || !typed[k.Typed[0]] {
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
