// Package api serves a memory to programs, under /api/memory.
//
// An endpoint is a row of one table (routes.go). The routes, the OpenAPI file and the test of both come from
// it, so no handler is undocumented. Package web uses the methods of [API] for its pages.
package api

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/stats"
	"github.com/memvcs/mem/refs/config"
)

// A World contains what a server needs from the program that runs it.
type World struct {
	Memory   *layers.Memory
	Store    string      // the directory of the memory
	Scope    state.Scope // the project that is shown first; if it is strict, the only one
	Dir      string      // the working directory; its sessions belong to the project too
	Claude   string      // the configuration directory of Claude Code; "" looks at no files there
	Program  string      // how to call mem, for the commands shown on pages
	ReadOnly bool        // refuse all changes
	Now      func() time.Time
	Rand     io.Reader
	Clean    func(string) string // makes invisible and control characters of a page visible
	Hints    func(error) []string

	// Settings reads the current settings; Set changes one, or with an empty value unsets it.
	Settings func() (*config.Config, error)
	Set      func(ctx context.Context, key, value string) error
	// Engine returns the engine of that name, nil for extract; "" is the engine of the settings.
	Engine func(ctx context.Context, rev state.Rev, name, model string) (compress.Summarizer, error)
	Decay  func(*config.Config) (keepit.Decay, error)
	// Examine runs the checks of "mem doctor"; with fix it repairs what is safe to repair.
	Examine func(ctx context.Context, fix bool) ([]Check, error)
	Hooks   func() (HooksState, error)
	// Activity returns the activity of hooks, for statistics.
	Activity stats.Activity
}

// An API serves the endpoints, and the operations that the pages share with them. Create one with [New].
type API struct {
	World
	Events *Events
	Jobs   *Jobs
	quit   chan struct{} // closed when the server ends: streams end at once
	ended  sync.Once
}

// New returns the API of a world.
func New(w World) *API {
	s := &API{World: w, quit: make(chan struct{})}
	s.Events = newEvents(w.Store, s.quit)
	s.Jobs = newJobs(s.Events, s.ProblemOf)
	return s
}

// Close ends streams and jobs. It does not close the memory.
func (s *API) Close() {
	s.ended.Do(func() {
		close(s.quit)
		s.Jobs.end()
	})
}
