package layers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memvcs/mem/refs"
)

// Now returns the growth point that the session is at now, the same one on every device: of what each
// device captured last, the furthest. A copy that another device captured earlier, or an older file
// that it has, takes nothing away.
func (s *Session) Now() *Point { return &s.Points[s.now] }

// settle decides which growth point is now. Points must be in the order of records.
func (s *Session) settle() {
	type head struct {
		device     string
		generation int
	}
	var heads []head // by device; a rewritten session is in the generation that its device wrote last
	s.now = -1
	for i := len(s.Points) - 1; i >= 0; i-- {
		p := &s.Points[i]
		k := slices.IndexFunc(heads, func(h head) bool { return h.device == p.Stamp.Device })
		if k < 0 {
			k = len(heads)
			heads = append(heads, head{p.Stamp.Device, p.Generation})
		}
		if heads[k].generation == p.Generation && (s.now < 0 || p.further(&s.Points[s.now]) > 0) {
			s.now = i
		}
	}
}

// further compares how far two growth points of a session reach: a later generation further than one
// before it, inside of it more values, whatever was taken out of them, then more bytes, then the later record.
func (p *Point) further(q *Point) int {
	return cmp.Or(p.reaches(q), cmp.Compare(p.Size, q.Size), p.Stamp.compare(q.Stamp))
}

// reaches is further without what differs between two captures of the same file.
func (p *Point) reaches(q *Point) int {
	return cmp.Or(cmp.Compare(p.Generation, q.Generation), cmp.Compare(p.Scan.Values, q.Scan.Values))
}

// last returns what a device captured last, nil if it never did.
func (s *Session) last(device string) *Point {
	for i := len(s.Points) - 1; i >= 0; i-- {
		if s.Points[i].Stamp.Device == device {
			return &s.Points[i]
		}
	}
	return nil
}

// A BehindError says that the exact bytes of a session as it is now are on another device only. It wraps
// [ErrWithheld].
type BehindError struct {
	Session *Session
	Have    *Point // the furthest growth point whose exact bytes are here
}

func (e *BehindError) Error() string {
	now := e.Session.Now()
	of := fmt.Sprintf("%d of its %d records are here", e.Have.Scan.Values, now.Scan.Values)
	if e.Have.Generation != now.Generation {
		of = fmt.Sprintf("those of an earlier file, of %d records, are here", e.Have.Scan.Values)
	}
	return fmt.Sprintf("the exact bytes of session %s as it is now were kept on device %s, which captured it; %s", ShortID(e.Session.ID), now.Stamp.Device[:min(8, len(now.Stamp.Device))], of)
}

// Unwrap returns [ErrWithheld].
func (e *BehindError) Unwrap() error { return ErrWithheld }

// Exact returns the growth point whose exact bytes this device has for the session as it is now. Where it
// has only those of an earlier one, it returns that with a [*BehindError]; where none, the error is [ErrWithheld].
func (m *Memory) Exact(ctx context.Context, project refs.Project, s *Session) (*Point, error) {
	now := s.Now()
	order := make([]*Point, len(s.Points))
	for i := range s.Points {
		order[i] = &s.Points[i]
	}
	slices.SortFunc(order, func(a, b *Point) int { return b.further(a) })
	order = slices.DeleteFunc(order, func(p *Point) bool { return p == now })
	for _, p := range append([]*Point{now}, order...) {
		if p.Withheld {
			_, err := m.patches(ctx, project, s, p)
			if errors.Is(err, ErrWithheld) {
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		if p != now && p.reaches(now) < 0 {
			return p, &BehindError{s, p}
		}
		return p, nil
	}
	return nil, fmt.Errorf("session %s: %w", ShortID(s.ID), ErrWithheld)
}
