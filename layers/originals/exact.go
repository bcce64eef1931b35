package originals

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// A BehindError reports that the exact bytes of the current state of a session are only on another device. It wraps
// [ErrWithheld].
type BehindError struct {
	Session *state.Session
	Have    *records.Point // the furthest growth point with exact bytes on this device
}

func (e *BehindError) Error() string {
	now := e.Session.Now()
	of := fmt.Sprintf("%d of its %d lines are here", e.Have.Scan.Values, now.Scan.Values)
	if e.Have.Generation != now.Generation {
		of = fmt.Sprintf("those of an earlier file, of %d lines, are here", e.Have.Scan.Values)
	}
	return fmt.Sprintf("the exact bytes of session %s as it is now were kept on device %s, which captured it; %s",
		records.ShortID(e.Session.ID), now.Stamp.Device[:min(8, len(now.Stamp.Device))], of)
}

// Unwrap returns [ErrWithheld].
func (e *BehindError) Unwrap() error { return ErrWithheld }

// Exact returns the current growth point of the session if this device has its exact bytes, or one that reaches as far.
// Otherwise it returns the furthest one with a [*BehindError]; if there is none, the error wraps [ErrWithheld].
func Exact(ctx context.Context, db *state.DB, project refs.Project, s *state.Session) (*records.Point, error) {
	now := s.Now()
	order := make([]*records.Point, len(s.Points))
	for i := range s.Points {
		order[i] = &s.Points[i]
	}
	slices.SortFunc(order, func(a, b *records.Point) int { return b.Further(a) })
	order = slices.DeleteFunc(order, func(p *records.Point) bool { return p == now })
	for _, p := range append([]*records.Point{now}, order...) {
		if p.Withheld {
			_, err := Patches(ctx, db, project, s, p)
			if errors.Is(err, ErrWithheld) {
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		if p != now && p.Reaches(now) < 0 {
			return p, &BehindError{s, p}
		}
		return p, nil
	}
	return nil, fmt.Errorf("session %s: %w", records.ShortID(s.ID), ErrWithheld)
}
