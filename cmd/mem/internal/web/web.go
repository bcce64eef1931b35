// Package web has mem serve, which serves a memory to browsers and programs: pages under /, the API under /api/memory.
//
// A [Server] listens on the loopback interface only. Every request passes the guard (guard.go). Handlers parse, call the same
// methods of [layers.Memory] as the commands, and print. Pages and the API share package api, which a Server embeds.
//
// Each screen is one file with its template next to it. Every page works without JavaScript: it consists of links and
// forms, htmx replaces parts of a page with the same templates, and the modules in assets only add convenience.
// Transcripts are untrusted: html/template escapes everything, Markdown is rendered without raw HTML, and each page
// passes [term.Sanitize].
package web

import (
	"net/http"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
)

// newServer returns a server. Its address is set by [Server.Serve], or for tests by [Server.At].
func newServer(w api.World) (*Server, error) {
	s := &Server{API: api.New(w)}
	var err error
	if s.guard, err = newGuard(w.Store, w.Rand); err != nil {
		return nil, err
	}
	if s.pages, err = parsePages(s); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	s.routeAssets(mux)
	s.Route(mux)
	s.routePages(mux)
	s.mux = s.guard.protect(w.ReadOnly, s.fail, mux)
	return s, nil
}
