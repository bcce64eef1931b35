package originals

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// L1Name returns the name of the L1 of a growth point in the cache.
func L1Name(original objects.Hash, mode refine.Mode) string {
	return fmt.Sprintf("%s-%d-%d.jsonl", original, refine.Version, mode)
}

// L1 opens the L1 of a growth point. It makes it if it is not cached. A long one is read from the disk, unless the
// cache cannot be written.
func (m Ops) L1(ctx context.Context, project refs.Project, original objects.Hash,
	mode refine.Mode) (io.ReadCloser, error) {
	file := m.CachePath("l1", L1Name(original, mode))
	if r, ok := state.OpenCached(file); ok {
		m.Touch(file)
		return r, nil
	}
	if r, err := m.makeL1(ctx, project, original, mode, state.LongCached); r != nil || err != nil {
		return r, err
	}
	return m.makeL1(ctx, project, original, mode, math.MaxInt)
}

// makeL1 makes an L1 with a buffer of up to most bytes. It returns nil if the L1 is longer and cannot be cached.
func (m Ops) makeL1(ctx context.Context, project refs.Project, original objects.Hash, mode refine.Mode,
	most int) (io.ReadCloser, error) {
	w := &state.CacheWriter{M: m.DB, File: m.CachePath("l1", L1Name(original, mode)), Most: most}
	err := m.Stream(ctx, project, original, func(r io.Reader) error {
		_, err := refine.Stream(r, mode, w)
		return err
	})
	if err != nil {
		w.Drop()
		return nil, fmt.Errorf("refine %s: %w", original.Short(), err)
	}
	return w.Finish(), nil
}
