package api

import (
	"net/http"
)

// endpoints returns the whole API.
func endpoints() []endpoint {
	var all []endpoint
	for _, part := range [][]endpoint{
		projectEndpoints(), versionEndpoints(), keepitEndpoints(), compositionEndpoints(), readEndpoints(),
		knowledgeEndpoints(), jobEndpoints(),
	} {
		all = append(all, part...)
	}
	return all
}

// Route adds the endpoints to mux.
func (s *API) Route(mux *http.ServeMux) {
	for _, e := range endpoints() {
		mux.HandleFunc(e.method+" "+Prefix+e.path, func(w http.ResponseWriter, r *http.Request) {
			var out reply
			err := e.check(r.URL.Query())
			if err == nil {
				out, err = e.do(s, &call{r.Context(), w, r})
			}
			if err != nil {
				s.FailJSON(w, err)
				return
			}
			if out.status != 0 {
				writeJSON(w, out.status, out.body)
			}
		})
	}
	mux.HandleFunc("GET "+Prefix+"/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, openAPI())
	})
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		s.FailJSON(w, NewProblem(http.StatusNotFound, "not_found", "no such endpoint", "GET "+Prefix+
			"/openapi.json"))
	})
}
