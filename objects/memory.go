package objects

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
)

// Memory is a [Store] in memory. The zero value is an empty store.
type Memory struct {
	mu sync.Mutex
	m  map[Hash][]byte
}

var _ Store = (*Memory)(nil)

// Get opens the object h.
func (m *Memory) Get(_ context.Context, h Hash) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.m[h]
	if !ok {
		return nil, fmt.Errorf("read %s: %w", h, ErrNotFound)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// Put stores what r holds.
func (m *Memory) Put(_ context.Context, r io.Reader) (Hash, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return Hash{}, err
	}
	h := Sum(b)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.m == nil {
		m.m = map[Hash][]byte{}
	}
	m.m[h] = b
	return h, nil
}

// All yields the names in increasing order, as they were when it was called.
func (m *Memory) All(context.Context) iter.Seq2[Hash, error] {
	m.mu.Lock()
	names := make([]Hash, 0, len(m.m))
	for h := range m.m {
		names = append(names, h)
	}
	m.mu.Unlock()
	slices.SortFunc(names, Hash.Compare)
	return func(yield func(Hash, error) bool) {
		for _, h := range names {
			if !yield(h, nil) {
				return
			}
		}
	}
}
