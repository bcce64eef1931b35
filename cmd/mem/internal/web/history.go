package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/state"

	"github.com/memvcs/mem/refs"
)

// A historyBody is the log of a project, and the operations that undo and redo apply to.
type historyBody struct {
	Rows []historyRow
	Undo *history.Operation
	Redo *history.Operation
	More string
}

type historyRow struct {
	refs.Entry
	State history.OpState
}

// historyRows is the maximum number of operations on a page.
const historyRows = 100

func (s *Server) history(_ http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	ctx := r.Context()
	entries, err := history.Log(ctx, s.Memory.DB, p.ID, api.MaxLogged)
	if err != nil {
		return "", page{}, err
	}
	ops, err := history.Operations(ctx, s.Memory.DB, p.ID)
	if err != nil {
		return "", page{}, err
	}
	b := historyBody{}
	states := map[string]history.OpState{}
	for i, op := range ops {
		states[op.Commit] = op.State
		if op.State == history.OpNext {
			b.Undo = &ops[i]
		}
		if op.State == history.OpRedoable && b.Redo == nil {
			b.Redo = &ops[i]
		}
	}
	if cursor := r.URL.Query().Get("after"); cursor != "" {
		i := slices.IndexFunc(entries, func(e refs.Entry) bool { return e.Commit == cursor })
		entries = entries[i+1:]
	}
	if len(entries) > historyRows {
		entries = entries[:historyRows]
		b.More = "?after=" + entries[historyRows-1].Commit
	}
	for _, e := range entries {
		b.Rows = append(b.Rows, historyRow{e, states[e.Commit]})
	}
	return projectPage("history", "history", "History", p, b, nil)
}

// undoRedo undoes or redoes the operation that the button named, and no other.
func (s *Server) undoRedo(w http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	do, operation := r.PostFormValue("do"), r.PostFormValue("operation")
	revert, known := history.Undo, do == "undo" || do == "redo"
	if do == "redo" {
		revert = history.Redo
	}
	if !known || operation == "" {
		return "", page{}, api.BadRequest("want undo or redo, and an operation")
	}
	done, err := revert(r.Context(), s.Memory.DB, p.ID, 1, history.Options{Of: []string{operation}})
	var refused *history.RefusedError
	switch {
	case errors.Is(err, history.ErrFiles):
		return "", page{}, api.BadRequest("the operation wrote files of Claude Code: use mem "+do+" in a terminal",
			inTerminal(do, p, operation))
	case errors.As(err, &refused) && refused.Instead != nil:
		return "", page{}, api.NewProblem(http.StatusConflict, "conflict", err.Error(),
			"the operation before it, "+refused.Instead.Subject+": "+inTerminal(do, p, refused.Instead.Commit))
	case errors.As(err, &refused):
		return "", page{}, api.NewProblem(http.StatusConflict, "conflict", err.Error())
	case err != nil:
		return "", page{}, err
	}
	said := strings.ToUpper(do[:1]) + history.Participle(do)[1:] + ": " + done[0].Operation.Subject + "."
	if left := done[0].Left; len(left) > 0 {
		said += " Left as it is, because it was changed since: " + strings.Join(left, ", ") + "."
	}
	leaveNotice(w, said, "")
	return s.changed(w, r, nil, cmp.Or(r.PostFormValue("back"), "/p/"+string(p.ID)+"/history"))
}

// inTerminal returns the command that undoes or redoes an operation in a terminal.
func inTerminal(do string, p state.Project, commit string) string {
	return fmt.Sprintf("mem %s %.7s -p %s", do, commit, p.Name)
}

// lastOperation returns the commit of the operation that an undo applies to, or "".
func (s *Server) lastOperation(ctx context.Context, p state.Project) string {
	op := s.operation(ctx, p, func(op history.Operation) bool { return op.State == history.OpNext })
	if op == nil {
		return ""
	}
	return op.Commit
}

// operation returns the newest operation of a project that is wanted, or nil.
func (s *Server) operation(ctx context.Context, p state.Project, want func(history.Operation) bool) *history.Operation {
	if p.ID == "" {
		return nil
	}
	ops, err := history.Operations(ctx, s.Memory.DB, p.ID)
	if i := slices.IndexFunc(ops, want); err == nil && i >= 0 { // the page of the history reports an error
		return &ops[i]
	}
	return nil
}
