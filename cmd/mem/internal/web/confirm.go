package web

import (
	"errors"
	"net/http"

	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/state"
)

// A confirmBody is the page that asks before something is hidden.
type confirmBody struct {
	Question string
	Used     string // the compositions that use it, "" for none
	Action   string // URL of the form
	Back     string
}

// remove hides rev. If the settings require confirmation, or compositions use rev, it returns the page that asks
// instead. A form with "sure" is confirmed. It returns no page if rev is hidden now.
func (s *Server) remove(r *http.Request, rev state.Rev, what, back string) (string, page, error) {
	sure := r.PostFormValue("sure") != ""
	ask, err := s.requiresConfirmation()
	if err != nil {
		return "", page{}, err
	}
	b := confirmBody{Question: "Remove " + what + "?", Action: r.URL.EscapedPath(), Back: back}
	var used *derive.UsedError
	if !ask || sure {
		err = derive.Remove(r.Context(), s.Memory.DB, rev, sure, false)
		if err == nil {
			s.Events.Changed()
			return "", page{}, nil
		}
		if !errors.As(err, &used) {
			return "", page{}, err
		}
		b.Used = used.Error()
	}
	return "confirm", page{Title: "Confirm", Project: rev.Project, Body: b}, nil
}
