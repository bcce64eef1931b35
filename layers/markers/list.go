package markers

import (
	"context"
	"slices"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// Keepits returns the markers of a session in force with their fates in its versions.
func Keepits(ctx context.Context, db *state.DB, rev state.Rev) ([]state.Keepit, error) {
	all, err := AllKeepits(ctx, db, rev)
	return slices.DeleteFunc(all, func(k state.Keepit) bool { return k.Removed }), err
}

// AllKeepits is Keepits with removed markers.
func AllKeepits(ctx context.Context, db *state.DB, rev state.Rev) ([]state.Keepit, error) {
	if rev.Session == nil {
		return nil, records.ErrNotCompressible
	}
	st, err := trust.State(ctx, db, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	return keepitsIn(ctx, db, st, rev)
}

// KeepitsIn is Keepits with a loaded state of the project, for calls for many sessions.
func KeepitsIn(ctx context.Context, db *state.DB, st *state.State, rev state.Rev) ([]state.Keepit, error) {
	all, err := keepitsIn(ctx, db, st, rev)
	return slices.DeleteFunc(all, func(k state.Keepit) bool { return k.Removed }), err
}

func keepitsIn(ctx context.Context, db *state.DB, st *state.State, rev state.Rev) ([]state.Keepit, error) {
	s := st.Session(rev.Session.ID)
	if s == nil {
		s = rev.Session
	}
	p := s.Now()
	items, err := Items(ctx, db, rev.Project.ID, s, p)
	if err != nil {
		return nil, err
	}
	out := s.Keepits(compress.Input{Items: items}, p)
	for _, v := range st.VersionsOf(s.ID) {
		fates := v.MarkFates()
		ignored := v.Settings.Keepit == string(planning.Ignore) && state.PointOf(s, v.Origin()) == p
		for i := range out {
			switch kept, ok := fates[state.PlaceOf(out[i].Mark)]; {
			case !ok && ignored && !out[i].Added: // it records no markers
				out[i].Lost = append(out[i].Lost, v.Label)
			case !ok:
			case kept:
				out[i].Kept = append(out[i].Kept, v.Label)
			default:
				out[i].Lost = append(out[i].Lost, v.Label)
			}
		}
	}
	return out, nil
}
