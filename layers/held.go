package layers

import (
	"cmp"
	"context"
	"slices"

	"github.com/memvcs/mem/layers/keepit"
)

// Held is what memory holds of a session.
type Held struct {
	Messages int
	Facts    int
	Kept     []KeptText // the heaviest first
}

// A KeptText is what a marker that counts stands before.
type KeptText struct {
	Weight keepit.Weight
	Text   string
}

// Held returns what memory holds of a session as it was captured last. The zero Held says that it holds nothing.
func (m *Memory) Held(ctx context.Context, p Project, id string) (h Held, err error) {
	s, err := m.SessionOf(ctx, p.ID, id)
	if err != nil || s == nil || s.Deleted {
		return h, err
	}
	h.Messages = s.Now().Scan.Values
	known, err := m.Facts(ctx, p.ID)
	if err != nil {
		return h, err
	}
	for f := range known.All() {
		if f.Session == id && f.Stands() {
			h.Facts++
		}
	}
	if s.marked() == 0 {
		return h, nil
	}
	marks, err := m.Keepits(ctx, Rev{Project: p, Session: s})
	if err != nil {
		return h, err
	}
	for _, k := range marks {
		h.Kept = append(h.Kept, KeptText{k.Mark.Weight, k.Mark.Text})
	}
	slices.SortStableFunc(h.Kept, func(a, b KeptText) int { return cmp.Compare(b.Weight, a.Weight) })
	return h, nil
}
