package knowledge

import (
	"cmp"
	"context"
	"slices"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
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
func (m Ops) Held(ctx context.Context, p state.Project, id string) (h Held, err error) {
	s, err := m.SessionOf(ctx, p.ID, id)
	if err != nil || s == nil || s.Deleted {
		return h, err
	}
	h.Messages = s.Now().Scan.Values
	known, err := revision.On(m.DB).Facts(ctx, p.ID)
	if err != nil {
		return h, err
	}
	for f := range known.All() {
		if f.Session == id && f.Stands() {
			h.Facts++
		}
	}
	if h.Kept, err = m.kept(ctx, p, s, nil); err != nil {
		return h, err
	}
	if slices.ContainsFunc(s.Chain(s.Now()), func(q records.Point) bool { return len(q.Echo) > 0 }) {
		more, err := m.keptElsewhere(ctx, p, id)
		if err != nil {
			return h, err
		}
		h.Kept = append(h.Kept, more...)
	}
	slices.SortStableFunc(h.Kept, func(a, b KeptText) int { return cmp.Compare(b.Weight, a.Weight) })
	return h, nil
}

// keptElsewhere returns the markers in messages that a session has from others, as a fork has them: they count
// there, and stand in what the fork is about to compact.
func (m Ops) keptElsewhere(ctx context.Context, p state.Project, id string) ([]KeptText, error) {
	st, err := trust.On(m.DB).State(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	s, echoed := st.Session(id), map[transcript.Key]bool{}
	for _, q := range s.Chain(s.Now()) {
		for _, t := range q.Typed {
			if slices.Contains(q.Echo, t.N) {
				echoed[t.Key] = true
			}
		}
	}
	var out []KeptText
	for _, o := range st.Sessions {
		if o.ID == id || o.Deleted {
			continue
		}
		more, err := m.kept(ctx, p, o, echoed)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// kept returns the markers of a session; with keys, those in messages that it typed first and that have one of them.
func (m Ops) kept(ctx context.Context, p state.Project, s *state.Session,
	keys map[transcript.Key]bool) ([]KeptText, error) {
	if s.Marked() == 0 {
		return nil, nil
	}
	in := map[int]bool{}
	for _, q := range s.Chain(s.Now()) {
		for _, t := range q.Typed {
			if keys[t.Key] && !slices.Contains(q.Echo, t.N) {
				in[t.N] = true
			}
		}
	}
	if keys != nil && len(in) == 0 {
		return nil, nil
	}
	marks, err := markers.On(m.DB).Keepits(ctx, state.Rev{Project: p, Session: s})
	if err != nil {
		return nil, err
	}
	var out []KeptText
	for _, k := range marks {
		if keys == nil || in[k.Mark.Message] {
			out = append(out, KeptText{k.Mark.Weight, k.Mark.Text})
		}
	}
	return out, nil
}
