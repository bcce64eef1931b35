// Package web serves a memory to a browser and to programs: pages under /, the API of the seeds under /api/memory.
//
// A [Server] answers on the loopback interface only. Every request passes the guard (guard.go): the host is one of
// ours, no other site sent it, and it carries the cookie that the one-time token of the printed address was exchanged for,
// or a token of "mem token". Handlers parse, call the same methods of [layers.Memory] as the commands, and print.
//
// Each screen is one file with its template beside it. Every page works without JavaScript: links and forms do all the work,
// htmx swaps parts of the same templates, and the modules in assets only add convenience. Transcripts are hostile text:
// html/template escapes everything, Markdown is rendered without raw HTML, and each page passes [World.Clean].
//
// The API is one table (api.go). The routes, the OpenAPI file and the test of both come from it, so no handler is undocumented.
package web

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs/config"
)

// A World is what a server needs of the program that runs it.
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
}

// A Server serves one memory. Make one with [New].
type Server struct {
	World
	guard  *guard
	events *events
	jobs   *jobs
	pages  *pages
	mux    http.Handler
	quit   chan struct{} // closed when the server ends: streams end at once
	ended  sync.Once
}

// New returns a server. Its address is set by [Server.Serve], or for tests by [Server.At].
func New(w World) (*Server, error) {
	s := &Server{World: w, quit: make(chan struct{})}
	var err error
	if s.guard, err = newGuard(w); err != nil {
		return nil, err
	}
	if s.pages, err = parsePages(s); err != nil {
		return nil, err
	}
	s.events = newEvents(w.Store, s.quit)
	s.jobs = newJobs(s)
	mux := http.NewServeMux()
	s.routeAssets(mux)
	s.routeAPI(mux)
	s.routePages(mux)
	s.mux = s.guard.protect(s, mux)
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close ends streams and jobs. The memory stays open: it is its owner's.
func (s *Server) Close() {
	s.ended.Do(func() {
		close(s.quit)
		s.jobs.end()
	})
}
