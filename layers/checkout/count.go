package checkout

import (
	"bytes"
	"context"

	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
)

// Count counts the content of rev. The counts of sessions are cached.
func Count(ctx context.Context, db *state.DB, rev state.Rev) (markers.Count, error) {
	switch rev.Kind {
	case state.IsSession, state.IsOriginal:
		now := rev.Session.Now()
		c, err := markers.Counts(ctx, db, rev.Project.ID, rev.Session, now)
		by := markers.Counter(db, now)
		return markers.Count{Tokens: by.Scale(c.Raw), Method: by.ID(), Messages: now.Scan.Messages, Bytes: now.Size}, err
	}
	var b bytes.Buffer
	if err := Write(ctx, db, rev, "", &b); err != nil {
		return markers.Count{}, err
	}
	size := int64(b.Len())
	switch {
	case rev.Kind == state.IsVersion:
		return markers.Count{Tokens: rev.Version.TokensOut, Method: rev.Version.Counter, Messages: rev.Version.MessagesOut,
			Bytes: size}, nil
	case rev.Kind == state.IsComposition:
		return markers.Count{Tokens: rev.Composition.Tokens, Method: rev.Composition.Counter,
			Messages: rev.Composition.Messages, Bytes: size}, nil
	}
	c, err := markers.CountBytes(ctx, b.Bytes(), db.Opts.Model, db.Opts.Workers)
	if rev.Kind == state.IsL1 {
		c.Messages = rev.Session.Now().Scan.Messages // a transcript has one for each
	}
	return c, err
}

// NameOf returns the hash of the content of rev. It computes a layer to hash it.
func NameOf(ctx context.Context, db *state.DB, rev state.Rev) (objects.Hash, error) {
	if rev.Kind != state.IsL1 && rev.Kind != state.IsMessages {
		return rev.Hash, nil
	}
	h := objects.NewHasher()
	err := Write(ctx, db, rev, JSONL, h)
	return h.Sum(), err
}
