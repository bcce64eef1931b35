package capture

import (
	"slices"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/state"
)

// guardOf returns the guard that keeps forgotten text out of the captures of a project, nil if nothing was ever
// forgotten.
func (m Ops) guardOf(st *state.State) (*originals.Guard, error) {
	s, err := originals.On(m.DB).ReadSeals()
	if err != nil {
		return nil, err
	}
	if s.Count()+len(st.Purged.Ids) == 0 && !s.Lost {
		return nil, nil
	}
	g := &originals.Guard{M: originals.On(m.DB), Purged: st.Purged, Seals: s, Key: originals.On(m.DB).RollKey()}
	for _, v := range s.Values {
		g.Lengths = append(g.Lengths, v.Length)
	}
	slices.Sort(g.Lengths)
	g.Lengths = slices.Compact(g.Lengths)
	return g, nil
}

// Forgotten returns a function that reports whether a text contains a forgotten value.
func (m Ops) Forgotten() (func(text string) bool, error) {
	g, err := m.guardOf(&state.State{Purged: &state.Purges{}})
	if g == nil || err != nil {
		return func(string) bool { return false }, err
	}
	return func(text string) bool { return len(g.Values([]byte(text))) > 0 }, nil
}
