package capture

import (
	"context"

	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// TokensOf returns the tokens of a session as it is now; counted is false if they are not known.
func TokensOf(db *state.DB, p refs.Project, s *state.Session) (n int, counted bool) {
	return markers.Tokens(db, s.Now(), KnownTokens(db, p))
}

// CountAtOnce is the number of bytes of transcripts that a list counts if their tokens are unknown. It takes about a
// tenth of a second.
const CountAtOnce = 4 * markers.CountNow

// CountMissing counts the tokens of the newest sessions of a project that have no count, for example after a clone or
// after the cache was deleted, until it has read left bytes. It returns the bytes that remain. A session that cannot be
// read stays uncounted.
func CountMissing(ctx context.Context, db *state.DB, p refs.Project, left int64) int64 {
	st, err := trust.Outline(ctx, db, p)
	if err != nil {
		return left
	}
	known := KnownTokens(db, p)
	for _, s := range st.Recent() {
		now := s.Now()
		if _, ok := known[now.Original]; ok || now.Size > left || ctx.Err() != nil {
			continue
		}
		left -= now.Size
		_, _ = markers.Counts(ctx, db, p, s, now) // its count stays unknown
	}
	return left
}

// CountAdded sets the token counts of added sessions. It counts new sessions until it has read [markers.CountNow]
// bytes; the others get a count only if they have one already.
func CountAdded(ctx context.Context, db *state.DB, added []Added) error {
	known := map[refs.Project]map[objects.Hash]int{}
	left := int64(markers.CountNow)
	for i := range added {
		a := &added[i]
		if known[a.Project.ID] == nil {
			known[a.Project.ID] = KnownTokens(db, a.Project.ID)
		}
		p := &records.Point{Snapshot: a.Now}
		if _, ok := known[a.Project.ID][a.Now.Original]; !ok && a.Now.Size <= left {
			left -= a.Now.Size
			st, err := trust.Outline(ctx, db, a.Project.ID)
			if err != nil {
				return err
			}
			s := st.Session(a.Session)
			if s == nil || s.Point(a.Now.Original) == nil {
				continue // removed or grown meanwhile
			}
			c, err := markers.Counts(ctx, db, a.Project.ID, s, s.Point(a.Now.Original))
			if err != nil {
				return err
			}
			known[a.Project.ID][a.Now.Original] = c.Raw
		}
		a.Tokens, a.Counted = markers.Tokens(db, p, known[a.Project.ID])
	}
	return nil
}
