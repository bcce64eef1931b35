package knowledge

import (
	"context"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// Progress says how far each layer of a project is. L1 follows from the transcript and is computed when it is needed,
// so a missing L1 only costs time.
type Progress struct {
	Sessions  int      // listed sessions, without subagents
	L1        int      // sessions without L1 in the cache
	L2        []string // sessions with text that was not distilled, the newest first
	Distilled int      // sessions distilled at least in part
	Facts     int      // valid facts
	Exchanges int
	L3        int       // exchanges without a concept
	L4        bool      // there are facts newer than the last reflection
	Rules     int       // active rules
	Reflected time.Time // time of the last reflection; zero if there was none
}

// minUndistilled is the estimated number of L1 tokens from which a session counts as undistilled: the client writes
// notes of its own after the last message.
const minUndistilled = 100

// overview returns the sessions of a project, what is known, and the messages of sessions that are copies.
func overview(ctx context.Context, db *state.DB, p refs.Project) (st *state.State, all trust.UpperState, same sessions.Copies,
	err error) {
	if st, err = trust.Outline(ctx, db, p); err != nil {
		return st, all, same, err
	}
	if all, err = trust.Known(ctx, db, p); err != nil {
		return st, all, same, err
	}
	same, err = sessions.CopiesIn(ctx, db, p, st)
	return st, all, same, err
}

// ReadProgress returns the progress of all layers.
func ReadProgress(ctx context.Context, db *state.DB, p refs.Project) (d Progress, err error) {
	st, all, same, err := overview(ctx, db, p)
	if err != nil {
		return d, err
	}
	for _, s := range st.Recent() {
		now := s.Now()
		d.Sessions++
		if all.Facts.ThroughOf(s.ID, now.Generation) > 0 {
			d.Distilled++
		}
		if now.Scan.Messages > 0 && UndistilledTokens(db, s, all.Facts, same[s.ID]) >= minUndistilled {
			d.L2 = append(d.L2, s.ID)
		}
	}
	d.Facts, d.Exchanges, d.L3 = len(all.Facts.Live()), len(all.Facts.Exchanges), len(all.Concepts.Unassigned(all.Facts))
	d.Rules, d.Reflected, d.L4 = len(all.Rules.InState(permanent.Active)), all.Rules.ReflectedAt, all.Unreflected() > 0
	d.L1 = len(derive.WithoutL1(db, st))
	return d, nil
}

// Pending says what the layers above L1 lack for a session as it was captured last. The tokens are estimates for what was
// said.
type Pending struct {
	From, To   int // messages that were not distilled
	Tokens     int // of them
	Total      int // of the whole session
	Facts      int // valid facts of the session
	Unassigned int // its exchanges without a concept
	Reflect    bool
}

// FindPending returns what is pending for a session, nothing if the project does not have it.
func FindPending(ctx context.Context, db *state.DB, p refs.Project, id string) (out Pending, err error) {
	st, all, same, err := overview(ctx, db, p)
	if err != nil {
		return out, err
	}
	s := st.Session(id)
	if s == nil {
		return out, nil
	}
	id = s.ID
	now := s.Now()
	out = Pending{From: all.Facts.ThroughOf(id, now.Generation) + 1, To: now.Scan.Values, Tokens: UndistilledTokens(db, s, all.Facts, same[id]),
		Total: markers.Counter(db, now).Estimate(now.Said()), Facts: len(liveOf(all.Facts, id)), Reflect: all.Unreflected() > 0}
	for _, x := range all.Concepts.Unassigned(all.Facts) {
		if x.Session == id {
			out.Unassigned++
		}
	}
	return out, nil
}

// liveOf returns the live facts of a session.
func liveOf(known *facts.Set, session string) []facts.Fact {
	return slices.DeleteFunc(known.Live(), func(f facts.Fact) bool { return f.Session != session })
}

// UndistilledTokens estimates the tokens of what was said in a session and was not distilled. The messages in same are
// copies, which are distilled in the session that has them.
func UndistilledTokens(db *state.DB, s *state.Session, known *facts.Set, same transcript.Spans) int {
	now, left := s.Now(), undistilled(s, known, same)
	if left == 0 {
		return 0
	}
	return markers.Counter(db, now).Estimate(now.Said() * int64(left) / int64(now.Scan.Values))
}

// undistilled returns the number of messages of a session that were not distilled and are not in same.
func undistilled(s *state.Session, known *facts.Set, same transcript.Spans) int {
	through, last := known.ThroughOf(s.ID, s.Now().Generation), s.Now().Scan.Values
	left := last - through
	for _, x := range same {
		left -= max(min(x[1], last)-max(x[0]-1, through), 0)
	}
	return max(left, 0)
}

// SessionOf returns the session with the full id, nil if the project has none.
func SessionOf(ctx context.Context, db *state.DB, p refs.Project, id string) (*state.Session, error) {
	st, err := trust.Outline(ctx, db, p)
	if err != nil {
		return nil, err
	}
	return st.Session(id), nil
}
