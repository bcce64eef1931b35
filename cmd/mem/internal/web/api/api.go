// Package api serves a memory to programs, under /api/memory.
//
// An endpoint is a row of one table (routes.go). The routes, the OpenAPI file and the test of both come from
// it, so no handler is undocumented. Package web uses the methods of [API] for its pages.
package api

import (
	"context"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
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
	Dir      string      // the working directory, whose sessions count as the project's too
	Claude   string      // the configuration directory of Claude Code; "" looks at no files there
	Program  string      // how to call mem, for commands that are shown
	ReadOnly bool        // refuse all changes
	Now      func() time.Time
	Rand     io.Reader
	Clean    func(string) string // makes invisible and control characters of a page visible
	Hints    func(error) []string

	// Settings reads the settings as they are now; Set changes one, or with an empty value unsets it.
	Settings func() (*config.Config, error)
	Set      func(ctx context.Context, key, value string) error
	// Engine returns the engine of that name, nil for extract; "" is the one of the settings.
	Engine func(ctx context.Context, rev state.Rev, name, model string) (compress.Summarizer, error)
	Decay  func(*config.Config) (keepit.Decay, error)
	// Examine runs the checks of "mem doctor"; with fix it mends what can be mended without harm.
	Examine func(ctx context.Context, fix bool) ([]Check, error)
	Hooks   func() (HooksState, error)
	// Activity returns what hooks did, for statistics.
	Activity stats.Activity
}

// An API serves the endpoints, and the operations that the pages share with them. Create one with [New].
type API struct {
	World
	Events *Events
	Jobs   *Jobs
	quit   chan struct{} // closed when the server ends: streams end at once
	ended  sync.Once

	previews derive.Previews
	lists    lists
	idle     *time.Timer // drops previews and lists
}

// New returns the API of a world.
func New(w World) *API {
	s := &API{World: w, quit: make(chan struct{})}
	s.Events = newEvents(w.Store, s.quit)
	s.Jobs = newJobs(s.Events, s.ProblemOf)
	s.idle = time.AfterFunc(idleAfter, s.dropKept)
	return s
}

// Close ends streams and jobs. It does not close the memory: that is up to its owner's.
func (s *API) Close() {
	s.ended.Do(func() {
		close(s.quit)
		s.idle.Stop()
		s.Jobs.end()
		s.lists.work.Wait()
	})
}

// idleAfter is the time after which unused caches of previews and lists are dropped.
const idleAfter = 30 * time.Second

// keepIdle restarts the timer that drops the caches of previews and lists.
func (s *API) keepIdle() { s.idle.Reset(idleAfter) }

// dropKept drops the caches of previews and lists.
func (s *API) dropKept() {
	previews, lists := s.previews.Clear(), s.lists.drop()
	if previews || lists {
		debug.FreeOSMemory() // otherwise an idle server keeps the memory for minutes
	}
}
