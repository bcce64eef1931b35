package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/objects/pack"
)

// maxAlone bounds how many conversations [Alone] has.
const maxAlone = 256

// Alone fetches each wanted commit in a conversation of its own, after a fetch of all of them failed with
// [ErrLacking]: a server of git sends nothing if one object is missing. Commits that still fail with it are
// left out; the caller's check refuses what depends on them.
func Alone(ctx context.Context, open func(context.Context, Service) (Session, error), want []pack.ID,
	fetch func(Session, pack.ID) error) error {
	if len(want) > maxAlone {
		return fmt.Errorf("%w, and %d are wanted", ErrLacking, len(want))
	}
	for _, id := range want {
		s, err := open(ctx, Upload)
		if err != nil {
			return err
		}
		if err = fetch(s, id); errors.Is(err, ErrLacking) && ctx.Err() == nil {
			_ = s.Close() // the server has ended the conversation
			continue
		}
		if err := errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	return nil
}

// lacks reports whether a message of git's upload-pack says that an object is missing.
func lacks(msg string) bool {
	for _, said := range []string{"not our ref", "repository corruption", "unable to read", "bad tree object",
		"missing blob object", "missing tree object", "could not parse commit", "Failed to traverse parents"} {
		if strings.Contains(msg, said) {
			return true
		}
	}
	return false
}
