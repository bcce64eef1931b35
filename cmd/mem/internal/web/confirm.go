package web

import (
	"errors"
	"net/http"

	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/state"
)

// A confirmBody is a question before something leaves the lists.
type confirmBody struct {
	Question string
	Used     string // who uses it, "" for nobody
	Action   string // where the answer is sent
	Back     string
}

// remove takes rev out of the lists, after a question if the settings want one or compositions use it. It
// returns the page of the question, or no page if rev is gone. A form with "sure" has been asked already.
func (s *Server) remove(r *http.Request, rev state.Rev, what, back string) (string, page, error) {
	sure := r.PostFormValue("sure") != ""
	ask, err := s.asksBefore()
	if err != nil {
		return "", page{}, err
	}
	b := confirmBody{Question: "Remove " + what + " from the lists?", Action: r.URL.Path, Back: back}
	var used *derive.UsedError
	if !ask || sure {
		err = s.Memory.Derive().Remove(r.Context(), rev, sure, false)
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
