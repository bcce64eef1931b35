package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/lineage"
)

// Composition returns the newest state of a composition, nil if there is none.
func (st *State) Composition(name string) *records.Composition {
	for _, c := range slices.Backward(st.Compositions) {
		if c.Name == name && !c.Deleted {
			return c
		}
	}
	return nil
}

// Named returns the compositions of a project as they are now, those first whose text is the oldest: going back
// and forth by undo changes what there is, and never its order.
func (st *State) Named() []*records.Composition {
	first, newest := map[string]int{}, map[string]*records.Composition{}
	for _, c := range st.Compositions {
		if !c.Deleted {
			newest[c.Name] = c
		}
	}
	identity := func(c *records.Composition) string { return c.Name + " " + c.Derivation.Output.String() }
	var out []*records.Composition
	for i, c := range st.Compositions {
		if _, ok := first[identity(c)]; !ok {
			first[identity(c)] = i
		}
		if newest[c.Name] == c {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b *records.Composition) int {
		return cmp.Compare(first[identity(a)], first[identity(b)])
	})
	return out
}

// Made returns the version that a derivation made, nil if there is none.
func (st *State) Made(k lineage.Key) *records.Version {
	for _, v := range slices.Backward(st.Versions) {
		if !v.Deleted && v.Key == k {
			return v
		}
	}
	return nil
}

// NextLabel returns the label of the next version of a session by a device. Numbers are never used again.
func (st *State) NextLabel(session, device string) string {
	n := 0
	for _, v := range st.Versions {
		if v.Session == session && v.Device == device {
			var k int
			if _, err := fmt.Sscanf(v.Label, "v%d", &k); err == nil {
				n = max(n, k)
			}
		}
	}
	file, _ := records.CutDevice(session)
	for _, q := range st.Purges {
		for _, l := range q.Body.Labels {
			if l.Device == device && (l.Session == PurgeKey(session) || l.Session == PurgeKey(file)) {
				n = max(n, l.Last)
			}
		}
	}
	return fmt.Sprintf("v%03d", n+1)
}

// Free reports whether a version of a session that is made again can have the label that it had.
func (st *State) Free(session, device, label string) bool {
	return label != "" && !slices.ContainsFunc(st.Versions, func(v *records.Version) bool {
		return v.Session == session && v.Device == device && v.Label == label
	})
}

// PlaceOf is where a mark stands, as a plan names it: message, start and end of its text.
func PlaceOf(mark planning.Mark) [3]int { return [3]int{mark.Message, mark.TextStart, mark.TextEnd} }

// LackingOf returns those of the compositions and removals that a project does not have already.
func (st *State) LackingOf(made []*records.Composition, sets []records.SetBody) ([]*records.Composition,
	[]records.SetBody) {
	made = slices.DeleteFunc(slices.Clone(made), func(c *records.Composition) bool {
		was := st.Composition(c.Name)
		return was != nil && was.Derivation.Output == c.Derivation.Output
	})
	return made, slices.DeleteFunc(slices.Clone(sets), func(b records.SetBody) bool {
		if name, ok := strings.CutPrefix(b.Target, "composition/"); ok {
			return st.Composition(name) == nil
		}
		id := strings.TrimPrefix(b.Target, "version/")
		return slices.ContainsFunc(st.Versions, func(v *records.Version) bool { return v.Deleted && v.ID.String() == id })
	})
}

// Recompression returns how and why a part of a composition was compressed for it, nil if it was not, or if its
// version is not of this project or no longer there.
func (st *State) Recompression(p records.CompositionPart) *records.Recompression {
	if p.Reason == "" {
		return nil
	}
	for _, v := range st.AllVersionsOf(p.Session) {
		if v.Derivation.Output != p.Output {
			continue
		}
		if settings, err := v.Compression(); err == nil {
			return &records.Recompression{Settings: settings, Reason: p.Reason}
		}
	}
	return nil
}
