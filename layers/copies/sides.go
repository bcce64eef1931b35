package copies

import (
	"context"
	"errors"
	"io"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// Sides returns a session as it went on on other devices, where it has turns that it lacks as it is now. Their common part is
// the session's, see [Among].
func Sides(ctx context.Context, db *state.DB, p refs.Project, s *state.Session) (out []*state.Session, err error) {
	for i := range s.Points {
		q := &s.Points[i]
		if q != s.Last(q.Stamp.Device) || q.Stamp.Device == s.Now().Stamp.Device {
			continue
		}
		more := true
		for _, had := range append([]*state.Session{s}, out...) {
			if more, err = goesOn(ctx, db, p, had.Now(), q); err != nil {
				return nil, err
			}
			if !more {
				break
			}
		}
		if more {
			out = append(out, s.On(q.Stamp.Device))
		}
	}
	return out, nil
}

// WithSides returns the sessions that are shown, each followed by its sides.
func WithSides(ctx context.Context, db *state.DB, st *state.State) (out []*state.Session, err error) {
	for _, s := range st.Sessions {
		if !s.Shown() {
			continue
		}
		sides, err := Sides(ctx, db, st.Project, s)
		if err != nil {
			return nil, err
		}
		out = append(append(out, s), sides...)
	}
	return out, nil
}

// goesOn reports whether a session has turns at the growth point b that it lacks at a.
func goesOn(ctx context.Context, db *state.DB, p refs.Project, a, b *records.Point) (more bool, err error) {
	if a.Original == b.Original {
		return false, nil
	}
	key := objects.NewHasher()
	key.Write([]byte("goes on\n" + a.Original.String() + b.Original.String()))
	file := db.CachePath("copies", key.Sum().String())
	if state.ReadCache(file, version, &more) {
		db.Touch(file)
		return more, nil
	}
	err = originals.Stream(ctx, db, p, a.Original, func(ra io.Reader) error {
		return originals.Stream(ctx, db, p, b.Original, func(rb io.Reader) error {
			common, err := transcript.Compare(ra, rb)
			more = common.MoreB
			return err
		})
	})
	if errors.Is(err, objects.ErrNotFound) || errors.Is(err, objects.ErrCorrupt) {
		return false, nil // fsck reports it
	}
	if err == nil {
		db.WriteCache(file, version, &more)
	}
	return more, err
}
