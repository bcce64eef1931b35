package api

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/stats"
	"github.com/memvcs/mem/layers/view"
	"github.com/memvcs/mem/refs"
)

// projectParam is the parameter that [queryProject] reads.
func projectParam() param {
	return param{"project", "string", "id or name; default: the project that the server was started for"}
}

func readEndpoints() []endpoint {
	return []endpoint{
		{http.MethodGet, "/search", "Search messages, facts, rules, versions and compositions", searchParams(), nil,
			answers(SearchAnswer{}), (*API).apiSearch},
		{http.MethodGet, "/suggest", "Suggest sessions and versions for a task",
			[]param{projectParam(), {"file", "string", "a file of the task; may be repeated"},
				{"topic", "string", "words of the task; may be repeated"}, {"budget", "integer", "total tokens; default 8000"},
				{"limit", "integer", "maximum number of sessions; default 5"}},
			nil, answers(app.Object{"suggestions", []view.Suggestion{}}), (*API).apiSuggest},
		{http.MethodGet, "/stats", "Get statistics of a project", []param{projectParam()}, nil, answers(stats.Stats{}),
			with(queryProject, (*API).apiStats)},
		{http.MethodGet, "/log", "List operations, newest first", pageParams(projectParam()), nil, lists("operations", []view.Operation{}),
			with(queryProject, (*API).apiLog)},
		{http.MethodGet, "/diff", "Compare two revisions", []param{projectParam(), {"a", "string", "a revision"},
			{"b", "string", "a revision"}}, nil,
			answers(view.Comparison{}), with(queryProject, (*API).apiDiff)},
		{http.MethodGet, "/blame", "Show the source of each line of a version or composition",
			[]param{projectParam(), {"rev", "string", "a revision"}}, nil,
			answers(view.Blame{}), with(queryProject, (*API).apiBlame)},
		{http.MethodGet, "/status", "Show new and changed sessions", []param{projectParam()}, nil, answers(statusObject(state.Project{}, 0, []view.Session{}, nil, view.Progress{})),
			with(queryProject, (*API).apiStatus)},
		{http.MethodGet, "/next", "Show the context for the next session", []param{projectParam()}, nil,
			answers(view.Next{}),
			with(queryProject, (*API).apiNext)},
	}
}

func (s *API) apiSuggest(c *call) (reply, error) {
	budget, err := c.number("budget", 8000, maxNumber)
	if err != nil {
		return reply{}, err
	}
	limit, err := c.number("limit", 5, maxPage)
	if err != nil {
		return reply{}, err
	}
	projects, err := s.searchScope(c, c.r)
	if err != nil {
		return reply{}, err
	}
	q := c.r.URL.Query()
	all, err := search.SuggestSessions(c, s.Memory.DB, search.SuggestRequest{Projects: projects, Files: NonEmpty(q["file"]),
		Topics: NonEmpty(q["topic"]), Budget: budget, Limit: max(limit, 1)})
	if err != nil {
		return reply{}, err
	}
	return ok(app.Object{"suggestions", view.SuggestionsOf(all, nil)})
}

// MaxLogged is the maximum number of operations in a log.
const MaxLogged = 10_000

func (s *API) apiLog(c *call, p state.Project) (reply, error) {
	all, err := history.Log(c, s.Memory.DB, p.ID, MaxLogged)
	if err != nil {
		return reply{}, err
	}
	return paged(c, "operations", all, func(e refs.Entry) string { return e.Commit },
		func(e refs.Entry) (view.Operation, error) { return view.OperationOf(&e, p.Name), nil })
}

// statusObject is the output of mem status.
func statusObject(p state.Project, stored int, changed, untracked []view.Session, layers view.Progress) app.Object {
	return app.Object{"projectId", string(p.ID), "stored", stored, "changed", changed, "untracked", untracked, "layers", layers}
}

func (s *API) apiStatus(c *call, p state.Project) (reply, error) {
	items, st, err := s.List(c, p, capture.ListOptions{})
	if err != nil {
		return reply{}, err
	}
	stored, changed, untracked := 0, []view.Session{}, []view.Session{}
	newest := newestOf(st)
	for _, it := range items {
		switch it.Status {
		case sessions.Untracked:
			untracked = append(untracked, view.SessionOf(it, p, it.ID == newest))
			continue
		case sessions.Changed:
			changed = append(changed, view.SessionOf(it, p, it.ID == newest))
		}
		stored++
	}
	d, err := knowledge.ReadProgress(c, s.Memory.DB, p.ID)
	return result(statusObject(p, stored, changed, untracked, view.ProgressOf(d)), err)
}

func (s *API) apiNext(c *call, p state.Project) (reply, error) {
	return result(s.Next(c, p))
}

// Next returns exactly what SessionStart would hand over.
func (s *API) Next(ctx context.Context, p state.Project) (view.Next, error) {
	given, err := s.given(ctx, p)
	if err != nil {
		return view.Next{}, err
	}
	return view.NextOf(given), nil
}

// DropLine drops the line with a hash from what sessions are handed, as mem next --drop does. It returns the lines that are gone.
func (s *API) DropLine(ctx context.Context, p state.Project, hash string) ([]string, error) {
	given, err := s.given(ctx, p)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(given.Lines, func(l handover.Line) bool { return l.Hash == hash })
	if i < 0 {
		return nil, NoSuch("line of the next session's text", hash)
	}
	lines, err := handover.DropLines(ctx, s.Memory.DB, p, given, i, false)
	if errors.Is(err, handover.ErrFixedLine) {
		return nil, BadRequest(err.Error())
	}
	return lines, err
}

func (s *API) given(ctx context.Context, p state.Project) (handover.Given, error) {
	o, err := app.ContextOptions(s.fresh())
	if err != nil {
		return handover.Given{}, err
	}
	if o.Program = s.Program; p.ID != s.Scope.Project.ID {
		o.Dir = ""
	}
	return handover.Context(ctx, s.Memory.DB, p, o)
}
