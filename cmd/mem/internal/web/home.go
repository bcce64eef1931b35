package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/state"
)

// A homeBody is the content of the start page.
type homeBody struct {
	Projects   []api.ProjectSummary
	Current    state.Project
	Recent     []*state.Session
	Operations []history.Operation
	Progress   knowledge.Progress
	Undo       *history.Operation // the operation that undo applies to
	Remotes    []syncRow
	Hooks      api.HooksState
}

// homeRows is the maximum number of sessions, and of operations, on the start page.
const homeRows = 8

func (s *Server) home(_ http.ResponseWriter, r *http.Request) (string, page, error) {
	ctx := r.Context()
	all, err := s.Projects(ctx)
	if err != nil {
		return "", page{}, err
	}
	first := s.firstProject(ctx)
	b := homeBody{Current: cmp.Or(first, s.Scope.Project)}
	for _, p := range all {
		sum, err := s.Summary(ctx, p)
		if err != nil {
			return "", page{}, err
		}
		b.Projects = append(b.Projects, sum)
	}
	slices.SortStableFunc(b.Projects, func(x, y api.ProjectSummary) int {
		return strings.Compare(y.LastAccessed, x.LastAccessed)
	})
	st, err := s.Memory.Trusted().Outline(ctx, b.Current.ID)
	if err != nil {
		return "", page{}, err
	}
	b.Recent = st.Recent()
	b.Recent = b.Recent[:min(homeRows, len(b.Recent))]
	if b.Operations, err = s.Memory.History().Operations(ctx, b.Current.ID); err != nil {
		return "", page{}, err
	}
	for i, op := range b.Operations {
		if op.State == history.OpNext {
			b.Undo = &b.Operations[i]
		}
	}
	b.Operations = b.Operations[:min(homeRows, len(b.Operations))]
	if b.Remotes, err = s.remotes(ctx); err != nil {
		return "", page{}, err
	}
	if b.Hooks, err = s.Hooks(); err != nil {
		return "", page{}, err
	}
	if b.Progress, err = s.Memory.Knowledge().Progress(ctx, b.Current.ID); err != nil {
		return "", page{}, err
	}
	return "home", page{Title: "Memory", Project: first, Body: b}, nil
}
