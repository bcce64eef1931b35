package originals

import (
	"context"
	"io"
	"slices"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// HugeValue is the size in bytes above which derivations do not read a value of a transcript.
const HugeValue = transcript.Longest

// Stream calls f with the content of an object.
func Stream(ctx context.Context, db *state.DB, project refs.Project, h objects.Hash, f func(io.Reader) error) error {
	return db.Refs.View(ctx, project, func(tx *refs.Tx) error {
		rc, err := tx.Get(ctx, h)
		if err != nil {
			return err
		}
		defer rc.Close()
		return f(rc)
	})
}

// Newline separates lines.
var Newline = []byte("\n")

// Outside reports whether a message is in none of the spans.
func Outside(n int, spans [][2]int) bool {
	return !slices.ContainsFunc(spans, func(s [2]int) bool { return n >= s[0] && n <= s[1] })
}
