package secrets

import (
	"fmt"
	"sync"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/refs"
)

// A gatekeeper scans pieces on several goroutines. It returns leaks in the order of the pieces.
type gatekeeper struct {
	rules  redact.Rules
	free   chan struct{}
	wait   sync.WaitGroup
	mu     sync.Mutex
	leaks  map[int][]Leak
	pieces int
	err    error
	failed int // index of the piece of err
}

func newGatekeeper(r redact.Rules, workers int) *gatekeeper {
	return &gatekeeper{rules: r, free: make(chan struct{}, max(1, workers)), leaks: map[int][]Leak{}}
}

// take starts the scan of a piece, described by where.
func (g *gatekeeper) take(piece refs.Piece, where Leak) error {
	n := g.pieces
	g.pieces++
	g.free <- struct{}{}
	g.wait.Go(func() {
		defer func() { <-g.free }()
		found, err := LeaksIn(piece.Content, piece.From, g.rules, where)
		g.mu.Lock()
		defer g.mu.Unlock()
		switch {
		case err != nil && (g.err == nil || n < g.failed):
			g.err, g.failed = fmt.Errorf("scan %s %s: %w", piece.Kind, piece.Name.Short(), err), n
		case len(found) > 0:
			g.leaks[n] = found
		}
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// done waits for all scans.
func (g *gatekeeper) done() (leaks []Leak, err error) {
	g.wait.Wait()
	for n := range g.pieces {
		leaks = append(leaks, g.leaks[n]...)
	}
	return leaks, g.err
}
