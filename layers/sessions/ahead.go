package sessions

import (
	"context"
	"time"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// Ahead returns the session that is furthest ahead of its capture, among those that are so by more than slack.
func Ahead(ctx context.Context, db *state.DB, slack time.Duration) (s *state.Session, err error) {
	ids, err := db.Refs.Projects()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		st, err := trust.Outline(ctx, db, id)
		if err != nil {
			return nil, err
		}
		for _, x := range st.Sessions {
			if ahead := x.Now().Ahead(); !x.Deleted && ahead > slack && (s == nil || ahead > s.Now().Ahead()) {
				s = x
			}
		}
	}
	return s, nil
}
