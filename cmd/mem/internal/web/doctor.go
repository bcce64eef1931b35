package web

import (
	"net/http"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
)

// A doctorBody is the state of the hooks and, once the user asks for them, the checks of the doctor.
type doctorBody struct {
	api.HooksState
	Checks  []api.Check
	Checked bool
	Wrong   int // checks that warn or fail
	Fixable bool
}

// doctor shows the hooks. The checks read the whole store, so they run only when asked for.
func (s *Server) doctor(_ http.ResponseWriter, r *http.Request) (string, page, error) {
	return s.doctorPage(r, r.URL.Query().Get("check") != "", false)
}

// mend runs the checks and mends what can be mended without harm.
func (s *Server) mend(_ http.ResponseWriter, r *http.Request) (string, page, error) {
	name, p, err := s.doctorPage(r, true, true)
	s.Events.Changed()
	return name, p, err
}

func (s *Server) doctorPage(r *http.Request, check, fix bool) (string, page, error) {
	b := doctorBody{Checked: check}
	var err error
	if b.HooksState, err = s.Hooks(); err != nil {
		return "", page{}, err
	}
	if check {
		if b.Checks, err = s.Examine(r.Context(), fix); err != nil {
			return "", page{}, err
		}
	}
	for _, c := range b.Checks {
		if c.Level == "warn" || c.Level == "fail" {
			b.Wrong++
			b.Fixable = b.Fixable || c.Mend == "mem doctor --fix"
		}
	}
	return "doctor", page{Title: "Hooks and doctor", Tab: "settings",
		Crumbs: []crumb{{"Memory", "/"}, {"Hooks and doctor", ""}}, Body: b}, nil
}
