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
	"net/http"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
)

// New returns a server. Its address is set by [Server.Serve], or for tests by [Server.At].
func New(w api.World) (*Server, error) {
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
