package web

import (
	"net/http"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/state"
)

// routePages adds the screens to mux.
func (s *Server) routePages(mux *http.ServeMux) {
	for pattern, do := range map[string]screen{
		"GET /{$}":                             s.home,
		"GET /go":                              s.goProject,
		"GET /p/{project}":                     with(s.pathProject, s.browser),
		"POST /p/{project}/add":                with(s.pathProject, s.addSessions),
		"POST /p/{project}/select":             with(s.pathProject, s.selected),
		"GET /s/{session}":                     s.sessionScreen,
		"POST /s/{session}/names":              with(s.pathSession, s.nameSession),
		"POST /s/{session}/relate":             with(s.pathSession, s.relateSession),
		"POST /s/{session}/remove":             with(s.pathSession, s.dropSession),
		"GET /s/{session}/file":                with(s.pathSession, s.sessionFile),
		"GET /s/{session}/m/{n}":               s.message,
		"GET /s/{session}/compress":            s.compressScreen,
		"POST /s/{session}/compress":           with(s.pathSession, s.createCompression),
		"GET /s/{session}/v/{version}":         with(s.pathVersion, s.versionScreen),
		"GET /s/{session}/v/{version}/file":    with(s.pathVersion, s.versionFile),
		"POST /s/{session}/v/{version}/verify": with(s.pathVersion, s.verifyVersion),
		"POST /s/{session}/delete":             with(s.pathSession, s.deleteVersions),
		"GET /compare/{spec}":                  s.compareScreen,
		"GET /compare":                         s.compareScreen,
		"GET /search":                          s.searchScreen,
		"GET /p/{project}/next":                with(s.pathProject, s.nextScreen),
		"POST /p/{project}/next":               with(s.pathProject, s.dropLine),
		"GET /s/{session}/keepits/{marker}":    s.editor,
		"POST /s/{session}/keepits/{marker}":   with(s.pathSession, s.setMarker),
		"POST /s/{session}/keepits":            with(s.pathSession, s.addMarker),
		"GET /p/{project}/markers":             with(s.pathProject, s.board),
		"GET /p/{project}/compositions":        with(s.pathProject, s.compositions),
		"GET /p/{project}/compose":             with(s.pathProject, s.builder),
		"POST /p/{project}/compose":            with(s.pathProject, s.createComposition),
		"GET /p/{project}/c/{name...}":         with(s.pathProject, s.compositionScreen),
		"POST /p/{project}/drop/{name...}":     with(s.pathProject, s.dropComposition),
		"GET /p/{project}/facts":               with(s.pathProject, s.knowledge),
		"POST /p/{project}/facts":              with(s.pathProject, s.judgeFact),
		"POST /p/{project}/rules":              with(s.pathProject, s.actOnRule),
		"POST /p/{project}/concepts":           with(s.pathProject, s.editConcept),
		"GET /p/{project}/history":             with(s.pathProject, s.history),
		"POST /p/{project}/history":            with(s.pathProject, s.undoRedo),
		"GET /p/{project}/stats":               with(s.pathProject, s.statsScreen),
		"GET /p/{project}/usage":               with(s.pathProject, s.usageScreen),
		"GET /p/{project}/notes":               with(s.pathProject, s.notesScreen),
		"GET /settings":                        s.settingsScreen,
		"POST /settings":                       s.changeSettings,
		"GET /sync":                            s.sync,
		"POST /sync":                           s.startSync,
		"GET /doctor":                          s.doctor,
		"POST /doctor":                         s.fix,
		"POST /theme":                          s.setTheme,
		"GET /keys":                            s.keys,
		"GET /jobs/{job}":                      s.jobScreen,
		"POST /jobs/{job}/cancel":              s.cancelJob,
	} {
		mux.HandleFunc(pattern, s.show(do))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, api.NewProblem(http.StatusNotFound, "not_found", "there is no such page"))
	})
}

// goProject redirects to the project selected in a form, for browsers without JavaScript.
func (s *Server) goProject(w http.ResponseWriter, r *http.Request) (string, page, error) {
	return redirect(w, r, r.URL.Query().Get("go"))
}

// with resolves the project, session or version in the path of a request before do handles it.
func with[T any](find func(*http.Request) (T, error),
	do func(http.ResponseWriter, *http.Request, T) (string, page, error)) screen {
	return func(w http.ResponseWriter, r *http.Request) (string, page, error) {
		subject, err := find(r)
		if err != nil {
			return "", page{}, err
		}
		return do(w, r, subject)
	}
}

func (s *Server) pathProject(r *http.Request) (state.Project, error) {
	return s.Project(r.Context(), r.PathValue("project"))
}

func (s *Server) pathSession(r *http.Request) (state.Rev, error) {
	return s.Session(r.Context(), r.PathValue("session"))
}

func (s *Server) pathVersion(r *http.Request) (state.Rev, error) {
	return s.Version(r.Context(), r.PathValue("session"), r.PathValue("version"))
}
