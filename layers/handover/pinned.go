package handover

import (
	"cmp"
	"context"
	"slices"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
)

// Contents summarises the stored data of a session.
type Contents struct {
	Messages int
	Facts    int
	Pinned   []PinnedText // the highest weight first
}

// A PinnedText is the text of a marker in force.
type PinnedText struct {
	Weight keepit.Weight
	Text   string
}

// ReadContents summarises the session as it was captured last. It is zero if the session is not stored.
func ReadContents(ctx context.Context, db *state.DB, p state.Project, id string) (h Contents, err error) {
	s, err := knowledge.SessionOf(ctx, db, p.ID, id)
	if err != nil || s == nil || s.Deleted {
		return h, err
	}
	h.Messages = s.Now().Scan.Values
	known, err := revision.Facts(ctx, db, p.ID)
	if err != nil {
		return h, err
	}
	for f := range known.All() {
		if f.Session == s.ID && f.Live() {
			h.Facts++
		}
	}
	if h.Pinned, err = pinned(ctx, db, p, s, nil); err != nil {
		return h, err
	}
	if slices.ContainsFunc(s.Chain(s.Now()), func(q records.Point) bool { return len(q.Echo) > 0 }) {
		more, err := pinnedInOrigins(ctx, db, p, s.ID)
		if err != nil {
			return h, err
		}
		h.Pinned = append(h.Pinned, more...)
	}
	slices.SortStableFunc(h.Pinned, func(a, b PinnedText) int { return cmp.Compare(b.Weight, a.Weight) })
	return h, nil
}

// pinnedInOrigins returns the markers in messages that a session copied from others, as a fork does. They count in the
// original session, and a compaction of the fork would remove them as well.
func pinnedInOrigins(ctx context.Context, db *state.DB, p state.Project, id string) ([]PinnedText, error) {
	st, err := trust.State(ctx, db, p.ID)
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
	var out []PinnedText
	for _, o := range st.Sessions {
		if o.ID == id || o.Deleted {
			continue
		}
		more, err := pinned(ctx, db, p, o, echoed)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// pinned returns the markers of a session. If keys is not nil, only those in messages with one of the keys that the
// session typed first.
func pinned(ctx context.Context, db *state.DB, p state.Project, s *state.Session,
	keys map[transcript.Key]bool) ([]PinnedText, error) {
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
	marks, err := markers.Keepits(ctx, db, state.Rev{Project: p, Session: s})
	if err != nil {
		return nil, err
	}
	var out []PinnedText
	for _, k := range marks {
		if keys == nil || in[k.Mark.Message] {
			out = append(out, PinnedText{k.Mark.Weight, k.Mark.Text})
		}
	}
	return out, nil
}
