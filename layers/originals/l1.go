package originals

import (
	"context"
	"fmt"
	"io"
	"math"

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

// L1 opens the L1 of a growth point. It makes it if it is not cached. A long one is read from the disk, unless the
// cache cannot be written.
func L1(ctx context.Context, db *state.DB, project refs.Project, original objects.Hash,
	mode refine.Mode) (io.ReadCloser, error) {
	file := db.CachePath("l1", L1Name(original, mode))
	if r, ok := state.OpenCached(file); ok {
		db.Touch(file)
		return r, nil
	}
	if r, err := makeL1(ctx, db, project, original, mode, state.LongCached); r != nil || err != nil {
		return r, err
	}
	return makeL1(ctx, db, project, original, mode, math.MaxInt)
}

// makeL1 makes an L1 with a buffer of up to most bytes. It returns nil if the L1 is longer and cannot be cached.
func makeL1(ctx context.Context, db *state.DB, project refs.Project, original objects.Hash, mode refine.Mode,
	most int) (io.ReadCloser, error) {
	w, stats, err := refineSession(ctx, db, project, original, mode, nil, nil, most)
	var rewound transcript.Spans
	if err == nil && stats.Forked {
		rewound, err = Rewound(ctx, db, project, original)
	}
	if err == nil && len(rewound)+len(stats.Late) > 0 { // what only the end of the session shows
		w.Drop()
		w, _, err = refineSession(ctx, db, project, original, mode, rewound, stats.Late, most)
	}
	if err != nil {
		w.Drop()
		return nil, fmt.Errorf("refine %s: %w", original.Short(), err)
	}
	return w.Finish(), nil
}

// Rewound returns the messages that the user withdrew up to a growth point.
func Rewound(ctx context.Context, db *state.DB, project refs.Project, original objects.Hash) (out transcript.Spans, err error) {
	err = Stream(ctx, db, project, original, func(r io.Reader) (err error) {
		out, err = transcript.Rewound(r)
		return err
	})
	return out, err
}

// refineSession writes an L1. The caller finishes or drops it.
func refineSession(ctx context.Context, db *state.DB, project refs.Project, original objects.Hash, mode refine.Mode,
	rewound transcript.Spans, late []transcript.Said, most int) (w *state.CacheWriter, stats refine.Stats, err error) {
	w = &state.CacheWriter{M: db, File: db.CachePath("l1", L1Name(original, mode)), Most: most}
	err = Stream(ctx, db, project, original, func(r io.Reader) error {
		stats, err = refine.Stream(r, mode, rewound, late, w)
		return err
	})
	return w, stats, err
}
