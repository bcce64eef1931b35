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

// Previews keeps the sessions of the last dry runs in memory, read and taken apart, so that the next dry run of one of
// them only chooses again. The zero value keeps nothing yet. Its methods may be called from several goroutines.
type Previews struct {
	mu   sync.Mutex
	kept []kept // the newest first
}

// A kept is one session at one growth point with its markers as they were.
type kept struct {
	key   string
	mat   markers.Material
	ready *compress.Prepared
}

// mostKept is how many sessions are kept.
const mostKept = 2

// Drop forgets all that is kept, and reports whether there was anything.
func (p *Previews) Drop() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	some := len(p.kept) > 0
	p.kept = nil
	return some
}

func (p *Previews) find(key string) (kept, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.kept, func(k kept) bool { return k.key == key })
	if i < 0 {
		return kept{}, false
	}
	k := p.kept[i]
	p.kept = slices.Insert(slices.Delete(p.kept, i, i+1), 0, k)
	return k, true
}

func (p *Previews) keep(k kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) == mostKept {
		p.kept = slices.Delete(p.kept, mostKept-1, mostKept)
	}
	p.kept = slices.Insert(p.kept, 0, k)
}

// ready returns what a compression of b by an engine needs: what is kept, else it is read. A model reads the input
// itself, and not under the lock of what is kept, so it gets its own.
func (m Ops) ready(ctx context.Context, project refs.Project, s *state.Session, b trusted.Basis,
	engine compress.Summarizer) (markers.Material, *compress.Prepared, error) {
	_, own := engine.(compress.Extract)
	if m.kept == nil || b.Again || engine != nil && !own {
		mat, err := m.materialOf(ctx, project, s, b)
		return mat, compress.Prepare(mat.Input), err
	}
	var echo []int
	for _, q := range s.Chain(b.Point) {
		echo = append(echo, q.Echo...)
	}
	key := fmt.Sprint(project, s.ID, b.Point.Original, b.Point.Stamp, b.Without, echo, s.Overrides)
	if k, ok := m.kept.find(key); ok {
		return k.mat, k.ready, nil
	}
	mat, err := m.materialOf(ctx, project, s, b)
	if err != nil {
		return mat, nil, err
	}
	k := kept{key, mat, compress.Prepare(mat.Input)}
	m.kept.keep(k)
	return mat, k.ready, nil
}
