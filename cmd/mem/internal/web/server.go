package web

import (
	"net/http"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/cmd/mem/internal/web/guard"
)

// A Server serves one memory. Make one with [New].
type Server struct {
	*api.API
	guard *guard.Guard
	pages *pages
	mux   http.Handler
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// fail answers with an error: JSON under /api/, else a page.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if api.IsAPI(r) {
		s.FailJSON(w, err)
		return
	}
	s.failPage(w, r, s.ProblemOf(err))
}
