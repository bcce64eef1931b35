package web

import (
	"net/http"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
)

// A Server serves one memory. Create one with [newServer].
type Server struct {
	*api.API
	guard *guard
	pages *pages
	mux   http.Handler
}

// ServeHTTP handles one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// fail responds with an error: JSON for the API, otherwise a page.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if api.IsAPI(r) {
		s.FailJSON(w, err)
		return
	}
	s.failPage(w, r, s.ProblemOf(err))
}
