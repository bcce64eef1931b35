package web

import (
	"net/http"

	"github.com/memvcs/mem/cmd/mem/internal/doctor"
	"github.com/memvcs/mem/cmd/mem/internal/hookcmd"
)

// A doctorBody is the state of the hooks and, if requested, the checks of "mem doctor".
type doctorBody struct {
	hookcmd.Report
	Checks  []doctor.Finding
	Checked bool
	Wrong   int // checks that warn or fail
	Fixable bool
}

// doctor shows the hooks. The checks read the whole store, so they run only on request.
func (s *Server) doctor(_ http.ResponseWriter, r *http.Request) (string, page, error) {
	return s.doctorPage(r, r.URL.Query().Get("check") != "", false)
}

// fix runs the checks and applies the safe fixes.
func (s *Server) fix(_ http.ResponseWriter, r *http.Request) (string, page, error) {
	name, p, err := s.doctorPage(r, true, true)
	s.Events.Changed()
	return name, p, err
}

func (s *Server) doctorPage(r *http.Request, check, fix bool) (string, page, error) {
	b := doctorBody{Checked: check}
	var err error
	if b.Report, err = s.Hooks(); err != nil {
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
			b.Fixable = b.Fixable || c.Fix == "mem doctor --fix"
		}
	}
	return "doctor", page{Title: "Hooks and doctor", Tab: "settings",
		Crumbs: []crumb{{"Memory", "/"}, {"Hooks and doctor", ""}}, Body: b}, nil
}
