package web

import (
	"net/http"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
)

// routePages names the screens by their addresses.
func (s *Server) routePages(mux *http.ServeMux) {
	for pattern, do := range map[string]screen{
		"GET /{$}":                             s.home,
		"GET /go":                              s.goProject,
		"GET /p/{project}":                     s.browser,
		"POST /p/{project}/add":                s.addSessions,
		"GET /s/{session}":                     s.sessionScreen,
		"POST /s/{session}/names":              s.nameSession,
		"POST /s/{session}/relate":             s.relateSession,
		"POST /s/{session}/remove":             s.dropSession,
		"GET /s/{session}/file":                s.sessionFile,
		"GET /s/{session}/transcript":          s.transcript,
		"GET /s/{session}/m/{n}":               s.message,
		"GET /s/{session}/compress":            s.compressScreen,
		"POST /s/{session}/compress":           s.createCompression,
		"GET /s/{session}/v/{version}":         s.versionScreen,
		"GET /s/{session}/v/{version}/file":    s.versionFile,
		"POST /s/{session}/v/{version}/verify": s.verifyVersion,
		"GET /s/{session}/manage":              s.manage,
		"POST /s/{session}/manage":             s.deleteVersions,
		"GET /compare":                         s.compareScreen,
		"GET /compare/{spec}":                  s.compareScreen,
		"GET /search":                          s.searchScreen,
		"GET /p/{project}/next":                s.nextScreen,
		"GET /s/{session}/keepits/{marker}":    s.editor,
		"POST /s/{session}/keepits/{marker}":   s.setMarker,
		"POST /s/{session}/keepits":            s.addMarker,
		"GET /p/{project}/markers":             s.board,
		"GET /p/{project}/compositions":        s.compositions,
		"GET /p/{project}/compose":             s.builder,
		"POST /p/{project}/compose":            s.createComposition,
		"GET /p/{project}/c/{name...}":         s.compositionScreen,
		"POST /p/{project}/drop/{name...}":     s.dropComposition,
		"GET /p/{project}/facts":               s.knowledge,
		"POST /p/{project}/facts":              s.judgeFact,
		"POST /p/{project}/rules":              s.actOnRule,
		"POST /p/{project}/concepts":           s.editConcept,
		"GET /p/{project}/history":             s.history,
		"POST /p/{project}/history":            s.revert,
		"GET /p/{project}/stats":               s.statsScreen,
		"GET /settings":                        s.settingsScreen,
		"POST /settings":                       s.changeSetting,
		"GET /sync":                            s.sync,
		"GET /doctor":                          s.doctor,
		"POST /doctor":                         s.mend,
		"GET /keys":                            s.keys,
		"GET /jobs/{job}":                      s.jobScreen,
		"POST /jobs/{job}/cancel":              s.cancelJob,
	} {
		mux.HandleFunc(pattern, s.show(do))
	}
	mux.HandleFunc("POST /theme", s.setTheme)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, api.NewProblem(http.StatusNotFound, "not_found", "there is no such page"))
	})
}

// goProject leads to the project that was chosen without a script.
func (s *Server) goProject(w http.ResponseWriter, r *http.Request) (string, page, error) {
	goTo(w, r, r.URL.Query().Get("go"))
	return "", page{}, nil
}
