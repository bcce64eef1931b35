package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/objects/pack"
)

// maxFetchEach is the maximum number of sessions of [FetchAll].
const maxFetchEach = 256

// FetchAll fetches the wanted commits in the session s. If the remote lacks objects ([ErrMissing]), git's server sends
// nothing. Then each commit is fetched in a session of its own. Commits that still fail with it are skipped; the
// caller's check refuses lanes that depend on them.
func FetchAll(ctx context.Context, s Session, open func(context.Context, Service) (Session, error), want []pack.ID,
	fetch func(Session, []pack.ID) error) error {
	err := fetch(s, want)
	if !errors.Is(err, ErrMissing) {
		return err
	}
	if len(want) > maxFetchEach {
		return fmt.Errorf("%w, and %d are wanted", ErrMissing, len(want))
	}
	for _, id := range want {
		s, err := open(ctx, Upload)
		if err != nil {
			return err
		}
		if err = fetch(s, []pack.ID{id}); errors.Is(err, ErrMissing) && ctx.Err() == nil {
			_ = s.Close() // the server has ended the session
			continue
		}
		if err := errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	return nil
}

// reportsMissing reports whether a message of git's upload-pack means that an object is missing.
func reportsMissing(msg string) bool {
	for _, text := range []string{"not our ref", "repository corruption", "unable to read", "bad tree object",
		"missing blob object", "missing tree object", "could not parse commit", "Failed to traverse parents"} {
		if strings.Contains(msg, text) {
			return true
		}
	}
	return false
}
