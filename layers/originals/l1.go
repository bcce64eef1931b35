package originals

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// L1Name returns the name of the L1 of a growth point in the cache.
func L1Name(original objects.Hash, mode refine.Mode) string {
	return fmt.Sprintf("%s-%d-%d.jsonl", original, refine.Version, mode)
}

// L1 opens the L1 of a growth point. It makes it if it is not cached.
func L1(ctx context.Context, db *state.DB, project refs.Project, original objects.Hash,
	mode refine.Mode) (io.ReadCloser, error) {
	file := db.CachePath("l1", L1Name(original, mode))
	b, ok := state.ReadCacheBytes(file)
	if ok {
		db.Touch(file)
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	b, stats, err := refineSession(ctx, db, project, original, mode, nil, nil)
	var rewound transcript.Spans
	if err == nil && stats.Forked {
		rewound, err = Rewound(ctx, db, project, original)
	}
	if err == nil && len(rewound)+len(stats.Late) > 0 { // what only the end of the session shows
		b, _, err = refineSession(ctx, db, project, original, mode, rewound, stats.Late)
	}
	if err != nil {
		return nil, fmt.Errorf("refine %s: %w", original.Short(), err)
	}
	db.WriteCacheBytes(file, b)
	return io.NopCloser(bytes.NewReader(b)), nil
}

// Rewound returns the messages that the user withdrew up to a growth point.
func Rewound(ctx context.Context, db *state.DB, project refs.Project, original objects.Hash) (out transcript.Spans, err error) {
	err = Stream(ctx, db, project, original, func(r io.Reader) (err error) {
		out, err = transcript.Rewound(r)
		return err
	})
	return out, err
}

// refineSession makes an L1.
func refineSession(ctx context.Context, db *state.DB, project refs.Project, original objects.Hash, mode refine.Mode,
	rewound transcript.Spans, late []transcript.Said) ([]byte, refine.Stats, error) {
	var b bytes.Buffer
	var stats refine.Stats
	err := Stream(ctx, db, project, original, func(r io.Reader) (err error) {
		stats, err = refine.Stream(r, mode, rewound, late, &b)
		return err
	})
	return b.Bytes(), stats, err
}
