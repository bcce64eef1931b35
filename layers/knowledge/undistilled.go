package knowledge

import (
	"context"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// Undistilled is the part of a session that was not distilled. The tokens are estimates for what was said.
type Undistilled struct {
	From, To int // messages
	Tokens   int
	Total    int // of the whole session
}

// FindUndistilled returns the undistilled part of a session as it was captured last.
func FindUndistilled(ctx context.Context, db *state.DB, p refs.Project, id string) (Undistilled, error) {
	st, err := trust.Outline(ctx, db, p)
	if err != nil {
		return Undistilled{}, err
	}
	s := st.Session(id)
	if s == nil {
		return Undistilled{}, nil
	}
	known, err := revision.Facts(ctx, db, p)
	if err != nil {
		return Undistilled{}, err
	}
	now := s.Now()
	return Undistilled{From: known.ThroughOf(id, now.Generation) + 1, To: now.Scan.Values,
		Tokens: UndistilledTokens(db, s, known), Total: markers.Counter(db, now).Estimate(now.Said())}, nil
}

// UndistilledTokens estimates the tokens of what was said in a session and was not distilled.
func UndistilledTokens(db *state.DB, s *state.Session, known *facts.Set) int {
	now := s.Now()
	left := now.Scan.Values - known.ThroughOf(s.ID, now.Generation)
	if left <= 0 {
		return 0
	}
	return markers.Counter(db, now).Estimate(now.Said() * int64(left) / int64(now.Scan.Values))
}
