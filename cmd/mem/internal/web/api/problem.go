package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/config"
)

// A Problem is an error as a client sees it.
type Problem struct {
	Status  int      `json:"-"`
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Hint    string   `json:"hint"`
	Hints   []string `json:"-"`
	cause   error
}

func (p *Problem) Error() string { return p.Message }
func (p *Problem) Unwrap() error { return p.cause }

// NewProblem returns a problem with the hints what to type.
func NewProblem(status int, code, message string, hints ...string) *Problem {
	return &Problem{Status: status, Code: code, Message: message, Hints: hints}
}

// BadRequest is a problem with what was sent.
func BadRequest(message string, hints ...string) *Problem {
	return NewProblem(http.StatusBadRequest, "bad_request", message, hints...)
}

// causes maps errors of the memory to statuses and codes. The first match applies.
func causes() []struct {
	err    error
	status int
	code   string
} {
	return []struct {
		err    error
		status int
		code   string
	}{
		{refs.ErrLocked, http.StatusConflict, "locked"},
		{config.ErrLocked, http.StatusConflict, "locked"},
		{refs.ErrConflict, http.StatusConflict, "conflict"},
		{originals.ErrInputDeleted, http.StatusConflict, "conflict"},
		{markers.ErrMarked, http.StatusConflict, "conflict"},
		{history.ErrNothingToUndo, http.StatusConflict, "nothing_to_undo"},
		{knowledge.ErrUsersRule, http.StatusForbidden, "users_rule"},
		{trust.ErrRevoked, http.StatusForbidden, "revoked"},
		{compress.ErrTooSmall, http.StatusUnprocessableEntity, "budget"},
		{planning.ErrEmpty, http.StatusUnprocessableEntity, "empty"},
		{engines.ErrCap, http.StatusUnprocessableEntity, "budget"},
		{engines.ErrSetup, http.StatusUnprocessableEntity, "engine"},
		{engines.ErrRecorded, http.StatusUnprocessableEntity, "engine"},
		{derive.ErrNoWitnesses, http.StatusUnprocessableEntity, "engine"},
		{compress.ErrEngineGone, http.StatusUnprocessableEntity, "engine"},
		{derive.ErrOtherSession, http.StatusBadRequest, "bad_request"},
		{derive.ErrOtherPast, http.StatusBadRequest, "bad_request"},
		{derive.ErrSkip, http.StatusBadRequest, "bad_request"},
		{engines.ErrAuth, http.StatusBadGateway, "engine"},
		{engines.ErrTimeout, http.StatusGatewayTimeout, "engine"},
		{planning.ErrSettings, http.StatusBadRequest, "bad_request"},
		{derive.ErrNoParts, http.StatusBadRequest, "bad_request"},
		{derive.ErrRepeated, http.StatusBadRequest, "bad_request"},
		{records.ErrNotCompressible, http.StatusBadRequest, "bad_request"},
		{state.ErrNotRemovable, http.StatusBadRequest, "bad_request"},
		{provenance.ErrNotComparable, http.StatusBadRequest, "bad_request"},
		{provenance.ErrNotBlamable, http.StatusBadRequest, "bad_request"},
		{revision.ErrLayer, http.StatusNotFound, "not_found"},
		{provenance.ErrNoVersions, http.StatusNotFound, "not_found"},
		{context.Canceled, 499, "cancelled"},
	}
}

// ProblemOf converts an error to the problem that a client sees.
func (s *API) ProblemOf(err error) *Problem {
	var own *Problem
	if errors.As(err, &own) {
		p := *own
		p.Hint = cmp.Or(p.Hints...)
		return &p
	}
	p := &Problem{Message: err.Error(), cause: err, Hints: app.HintsOf(err)}
	p.Status, p.Code = statusOf(err)
	p.Hint = cmp.Or(p.Hints...)
	return p
}

func statusOf(err error) (int, string) {
	var missing *state.NotFoundError
	var ambiguous *state.AmbiguousError
	var used *derive.UsedError
	var pins *planning.PinError
	var budget *compose.BudgetError
	var value *config.ValueError
	var unknown *config.UnknownKeyError
	var large *http.MaxBytesError
	switch {
	case app.IsUsage(err):
		return http.StatusBadRequest, "bad_request"
	case errors.As(err, &missing):
		return http.StatusNotFound, "not_found"
	case errors.As(err, &ambiguous):
		return http.StatusBadRequest, "ambiguous"
	case errors.As(err, &used):
		return http.StatusConflict, "in_use"
	case errors.As(err, &pins), errors.As(err, &budget):
		return http.StatusUnprocessableEntity, "budget"
	case errors.As(err, &value), errors.As(err, &unknown):
		return http.StatusBadRequest, "bad_request"
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, "too_large"
	}
	for _, c := range causes() {
		if errors.Is(err, c.err) {
			return c.status, c.code
		}
	}
	return http.StatusInternalServerError, "internal"
}

// FailJSON responds with an error.
func (s *API) FailJSON(w http.ResponseWriter, err error) {
	p := s.ProblemOf(err)
	writeJSON(w, p.Status, errorAnswer{*p})
}

// An errorAnswer is the body of every error response.
type errorAnswer struct {
	Error Problem `json:"error"`
}

// writeJSON responds with v. Characters that could end a script are escaped.
func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError,
			[]byte(`{"error":{"code":"internal","message":"cannot encode the response","hint":""}}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // the client may have closed the connection
}
