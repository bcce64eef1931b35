package layers

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// l1Name is what the L1 of a growth point is called in the cache.
func l1Name(original objects.Hash, mode refine.Mode) string {
	return fmt.Sprintf("%s-%d-%d.jsonl", original, refine.Version, mode)
}

// l1 opens the L1 of a growth point, which is made if it is not in the cache. A long one is not in memory, unless the cache cannot
// be written.
func (m *Memory) l1(ctx context.Context, project refs.Project, original objects.Hash, mode refine.Mode) (io.ReadCloser, error) {
	file := m.cachePath("l1", l1Name(original, mode))
	if r, ok := openCached(file); ok {
		m.touch(file)
		return r, nil
	}
	if r, err := m.makeL1(ctx, project, original, mode, file, longCached); r != nil || err != nil {
		return r, err
	}
	return m.makeL1(ctx, project, original, mode, file, math.MaxInt)
}

// makeL1 makes an L1 and holds up to most bytes of it. It returns nil if it is longer and could not be cached.
func (m *Memory) makeL1(ctx context.Context, project refs.Project, original objects.Hash, mode refine.Mode, file string, most int) (io.ReadCloser, error) {
	w := &cacheWriter{m: m, file: file, most: most}
	err := m.stream(ctx, project, original, func(r io.Reader) error {
		_, err := refine.Stream(r, mode, w)
		return err
	})
	if err != nil {
		w.drop()
		return nil, fmt.Errorf("refine %s: %w", original.Short(), err)
	}
	return w.finish(), nil
}
