package searchcmd

import (
	"context"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/refs"
)

// searcher opens the indexes of the projects to search. If related is set, it adds projects with related sessions and
// restricts the query to those sessions there. The result contains the projects, none for all.
func searcher(
	ctx context.Context, e *app.Env, m *layers.Memory, related bool, q *search.Query,
) (*search.Searcher, []refs.Project, error) {
	if e.Opt.AllProjects {
		s, err := search.SearcherOfAll(ctx, m.DB)
		return s, nil, err
	}
	projects, err := Scope(ctx, e, m)
	if err == nil && related {
		projects, q.Filter.Only, _, err = WithRelated(ctx, m, projects)
	}
	if err != nil {
		return nil, nil, err
	}
	s, err := search.NewSearcher(ctx, m.DB, projects)
	return s, projects, err
}

// WithRelated adds the projects of related sessions to projects. In the added projects only the sessions in the result
// Only are to be searched.
func WithRelated(
	ctx context.Context, m *layers.Memory, projects []refs.Project,
) ([]refs.Project, search.Only, []sessions.Relation, error) {
	whole := map[refs.Project]bool{}
	for _, p := range projects {
		whole[p] = true
	}
	only := search.Only{}
	var all []sessions.Relation
	for _, p := range projects {
		list, err := sessions.RelatedTo(ctx, m.DB, p)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, r := range list {
			from := string(r.From.ID)
			if whole[r.From.ID] {
				continue
			}
			if only[from] == nil {
				only[from] = map[string]bool{}
				projects = append(projects, r.From.ID)
			}
			only[from][r.Session.ID], all = true, append(all, r)
		}
	}
	return projects, only, all, nil
}
