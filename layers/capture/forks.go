package capture

import (
	"context"
	"errors"
	"io"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
)

// forkOf returns the ID of the session that a file was made from, by the client or by mem resume, and that session if st has
// it; "" if the file is no fork.
func forkOf(st *state.State, id string, file io.Reader) (string, *state.Session, error) {
	if s := st.Forked(id); s != nil {
		return s.ID, s, nil
	}
	of, err := transcript.ForkedFrom(file)
	if _, bad := records.ParseSession(of); of == id || bad != nil || err != nil {
		return "", nil, err
	}
	return of, st.Session(of), nil
}

// fork sets the origin of a new session. If that has all turns of the file, the file is a copy of it: nothing new was said.
func (c *Capture) fork(ctx context.Context) error {
	if c.known != nil || c.src.Parent != "" || c.src.Origin != "" {
		return nil
	}
	whole := func() io.Reader { return io.NewSectionReader(c.File, 0, c.size) }
	of, s, err := forkOf(c.st, c.src.SessionID(), whole())
	c.snap.ForkOf = of
	if s == nil || err != nil {
		return err
	}
	common, err := CompareFile(ctx, c.M, SessionPoint{c.st.Project, s, s.Now()}, whole())
	if errors.Is(err, objects.ErrNotFound) || errors.Is(err, objects.ErrCorrupt) {
		return nil // the origin is lost
	}
	if err == nil && common.Turns > 0 && !common.MoreB {
		c.older, c.known, c.Base, c.added.Session, c.added.Change = true, s, s.Now(), s.ID, "unchanged"
	}
	return err
}

// IsFork reports whether a file that is not in memory is a fork of a session in st, which has all of its turns.
func IsFork(ctx context.Context, db *state.DB, st *state.State, id string, f ClientFile, s *FileCache) bool {
	origin := st.Forked(id)
	if origin == nil {
		origin = st.Session(s.start(f).ForkOf)
	}
	return origin != nil && origin.FileID() != id && isTruncated(ctx, db, SessionPoint{st.Project, origin, origin.Now()}, f, s)
}
