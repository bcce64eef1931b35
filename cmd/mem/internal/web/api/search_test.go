package api

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/memvcs/mem/refs"
)

// TestIndexing searches a project whose index is being brought up to date: the request does not wait longer than it can.
func TestIndexing(t *testing.T) {
	t.Parallel()
	var s API
	var busy sync.Mutex
	busy.Lock()
	s.indexing.Store(refs.Project("b"), &busy)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := s.searcher(ctx, []refs.Project{"b"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a search during the indexing: %v, want %v", err, context.DeadlineExceeded)
	}
}
