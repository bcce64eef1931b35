package api

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/view"
	"github.com/memvcs/mem/refs"
)

func projectEndpoints() []endpoint {
	return []endpoint{
		{http.MethodGet, "/projects", "List all projects in memory", pageParams(), nil, lists("projects", []view.Project{}),
			(*API).apiProjects},
		{http.MethodGet, "/projects/{projectId}", "Get project details", nil, nil, answers(ProjectRecord{}),
			with(pathProject, (*API).apiProject)},
		{http.MethodPost, "/projects/{projectId}/sessions/{sessionId}", "Register session", nil, nil,
			map[int]any{http.StatusCreated: view.SessionDetails{}}, with(pathProject, (*API).apiRegister)},
		{http.MethodDelete, "/projects/{projectId}/sessions/{sessionId}",
			"Unregister a session: hide it; its data is kept",
			[]param{{"force", "boolean", "even if compositions use it"}}, nil, answers(removed("")),
			with(pathProject, (*API).apiUnregister)},
		{http.MethodGet, "/projects/{projectId}/sessions",
			"List the sessions of a project, including those not in memory",
			pageParams(param{"untracked", "boolean", "only sessions that are not in memory"}), nil, lists("sessions", []view.Session{}),
			with(pathProject, (*API).apiSessions)},
	}
}

func answers(v any) map[int]any { return map[int]any{http.StatusOK: v} }

// lists are the answers of an endpoint that lists things; none is an empty slice of them.
func lists(name string, none any) map[int]any { return answers(listOf(name, none, "")) }

// A ProjectRecord is a project with its sessions and compositions, as in the manifest.
type ProjectRecord struct {
	ID           refs.Project          `json:"projectId"`
	OriginalPath string                `json:"originalPath"`
	DisplayName  string                `json:"displayName"`
	CreatedAt    view.Time             `json:"createdAt"`
	LastAccessed view.Time             `json:"lastAccessed"`
	Sessions     []view.SessionDetails `json:"sessions"`
	Compositions []view.Composition    `json:"compositions"`
}

func (s *API) apiProjects(c *call) (reply, error) {
	all, err := s.Projects(c)
	if err != nil {
		return reply{}, err
	}
	return paged(c, "projects", all, func(p state.Project) string { return string(p.ID) },
		func(p state.Project) (view.Project, error) { return s.Summary(c, p) })
}

// Summary returns a project with the numbers of its things.
func (s *API) Summary(ctx context.Context, p state.Project) (view.Project, error) {
	return view.ProjectOf(ctx, s.Memory.DB, p, p.ID == s.Scope.Project.ID)
}

func (s *API) apiProject(c *call, p state.Project) (reply, error) {
	man, err := view.NewManifest(c, s.Memory.DB, p, view.ManifestSettings{})
	if err != nil {
		return reply{}, err
	}
	out := ProjectRecord{
		ID: p.ID, OriginalPath: man.OriginalPath, DisplayName: man.DisplayName, CreatedAt: man.CreatedAt,
		LastAccessed: man.LastAccessed,
		Sessions:     slices.AppendSeq([]view.SessionDetails{}, maps.Values(man.Sessions)),
		Compositions: slices.AppendSeq([]view.Composition{}, maps.Values(man.Compositions)),
	}
	slices.SortFunc(out.Sessions, func(a, b view.SessionDetails) int {
		return cmp.Or(b.Last.Compare(a.Last.Time), strings.Compare(b.ID, a.ID))
	})
	slices.SortFunc(out.Compositions, func(a, b view.Composition) int {
		return strings.Compare(a.Name, b.Name)
	})
	return ok(out)
}

// List returns the sessions of a project, in memory or not, the newest first.
func (s *API) List(ctx context.Context, p state.Project, o capture.ListOptions) ([]sessions.Item, *state.State, error) {
	o.Claude = s.Claude
	o.Unreadable = func(error) error { return nil } // list the others
	if p.ID == s.Scope.Project.ID {
		o.Dir = s.Dir
	}
	return sessions.ListAll(ctx, s.Memory.DB, p, o)
}

func (s *API) apiSessions(c *call, p state.Project) (reply, error) {
	only, err := c.flag("untracked")
	if err != nil {
		return reply{}, err
	}
	items, st, err := s.List(c, p, capture.ListOptions{})
	if err != nil {
		return reply{}, err
	}
	if only {
		items = slices.DeleteFunc(items, func(it sessions.Item) bool { return it.Status != sessions.Untracked })
	}
	newest := newestOf(st)
	return paged(c, "sessions", items, func(it sessions.Item) string { return it.ID },
		func(it sessions.Item) (view.Session, error) { return view.SessionOf(it, p, it.ID == newest), nil })
}

// newestOf returns the id of the newest session in memory.
func newestOf(st *state.State) string {
	if recent := st.Recent(); len(recent) > 0 {
		return recent[0].ID
	}
	return ""
}

// Register captures a session of Claude Code, or restores a hidden one. It accepts no paths from clients.
func (s *API) Register(ctx context.Context, p state.Project, id string) error {
	items, _, err := s.List(ctx, p, capture.ListOptions{Subagents: true, Removed: true, Forgotten: true})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(items, func(it sessions.Item) bool { return it.ID == id })
	switch {
	case i < 0:
		return NoSuch("session", id)
	case items[i].Path == "" && items[i].Status == sessions.Stored:
		return nil
	case items[i].Path == "":
		return NewProblem(http.StatusConflict, "conflict", "the session's file is missing", "restore it: mem undo")
	}
	added, err := capture.Add(ctx, s.Memory.DB, []capture.Source{capture.SourceOf(items[i].Path)},
		capture.AddOptions{Op: "add", Show: true})
	if err != nil {
		return err
	}
	return capture.CountAdded(ctx, s.Memory.DB, added)
}

func (s *API) apiRegister(c *call, p state.Project) (reply, error) {
	id := c.r.PathValue("sessionId")
	if !PlainName(id) {
		return reply{}, NoSuch("session", id)
	}
	if err := s.Register(c, p, id); err != nil {
		return reply{}, err
	}
	s.Events.Changed()
	rev, err := s.Session(c, id)
	if err != nil {
		return reply{}, err
	}
	out, err := view.DetailsOf(c, s.Memory.DB, rev)
	if err != nil {
		return reply{}, err
	}
	return reply{http.StatusCreated, out}, nil
}

func (s *API) apiUnregister(c *call, p state.Project) (reply, error) {
	rev, err := s.Session(c, c.r.PathValue("sessionId"))
	if err == nil && rev.Project.ID != p.ID {
		err = NoSuch("session", c.r.PathValue("sessionId"))
	}
	if err != nil {
		return reply{}, err
	}
	return s.remove(c, rev)
}

// remove hides a revision.
func (s *API) remove(c *call, rev state.Rev) (reply, error) {
	force, err := c.flag("force")
	if err != nil {
		return reply{}, err
	}
	if err := derive.Remove(c, s.Memory.DB, rev, force, false); err != nil {
		return reply{}, err
	}
	s.Events.Changed()
	return ok(removed(rev.Name()))
}
