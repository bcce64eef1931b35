package derive

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/state"
	trusted "github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// Previews caches the parsed sessions of the last dry runs, so that the next dry run of one of them only chooses again.
// The zero value is empty. Its methods are safe for concurrent use.
type Previews struct {
	mu   sync.Mutex
	list []preview // the newest first
}

// A preview is a session at one growth point with its markers.
type preview struct {
	key      string
	mat      markers.Material
	prepared *compress.Prepared
}

// maxPreviews is the number of cached sessions.
const maxPreviews = 2

// Clear empties the cache and reports whether it had entries.
func (p *Previews) Clear() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	some := len(p.list) > 0
	p.list = nil
	return some
}

func (p *Previews) find(key string) (preview, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.list, func(k preview) bool { return k.key == key })
	if i < 0 {
		return preview{}, false
	}
	k := p.list[i]
	p.list = slices.Insert(slices.Delete(p.list, i, i+1), 0, k)
	return k, true
}

func (p *Previews) add(k preview) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.list) == maxPreviews {
		p.list = slices.Delete(p.list, maxPreviews-1, maxPreviews)
	}
	p.list = slices.Insert(p.list, 0, k)
}

// prepared returns the input of a compression of b by an engine, cached if possible. A model reads the input without
// the lock of the cache and therefore gets its own copy.
func (m Ops) prepared(ctx context.Context, project refs.Project, s *state.Session, b trusted.Basis,
	engine compress.Summarizer) (markers.Material, *compress.Prepared, error) {
	_, own := engine.(compress.Extract)
	if m.previews == nil || b.Again || engine != nil && !own {
		mat, err := m.materialOf(ctx, project, s, b)
		return mat, compress.Prepare(mat.Input), err
	}
	var echo []int
	for _, q := range s.Chain(b.Point) {
		echo = append(echo, q.Echo...)
	}
	key := fmt.Sprint(project, s.ID, b.Point.Original, b.Point.Stamp, b.Without, echo, s.Overrides)
	if k, ok := m.previews.find(key); ok {
		return k.mat, k.prepared, nil
	}
	mat, err := m.materialOf(ctx, project, s, b)
	if err != nil {
		return mat, nil, err
	}
	k := preview{key, mat, compress.Prepare(mat.Input)}
	m.previews.add(k)
	return mat, k.prepared, nil
}
