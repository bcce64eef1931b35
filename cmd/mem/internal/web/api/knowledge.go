package api

import (
	"net/http"
	"slices"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/view"
)

func knowledgeEndpoints() []endpoint {
	return []endpoint{
		{http.MethodGet, "/facts", "List valid facts", pageParams(projectParam(), param{"kind", "string", "kind of the facts"}), nil,
			lists("facts", []view.Fact{}), with(queryProject, (*API).apiFacts)},
		{http.MethodGet, "/rules", "List the permanent rules", pageParams(projectParam()), nil,
			lists("rules", []view.Rule{}), with(queryProject, (*API).apiRules)},
		{http.MethodGet, "/concepts", "List the concepts", pageParams(projectParam()), nil,
			lists("concepts", []view.Concept{}), with(queryProject, (*API).apiConcepts)},
	}
}

func (s *API) apiFacts(c *call, p state.Project) (reply, error) {
	set, err := revision.Facts(c, s.Memory.DB, p.ID)
	if err != nil {
		return reply{}, err
	}
	return paged(c, "facts", Valid(set, c.r.URL.Query().Get("kind")), func(f facts.Fact) string { return f.ID },
		func(f facts.Fact) (view.Fact, error) { return view.FactOf(f), nil })
}

func (s *API) apiRules(c *call, p state.Project) (reply, error) {
	set, err := revision.Rules(c, s.Memory.DB, p.ID)
	if err != nil {
		return reply{}, err
	}
	return paged(c, "rules", ValidRules(set), func(r *permanent.Rule) string { return r.ID },
		func(r *permanent.Rule) (view.Rule, error) { return view.RuleOf(r), nil })
}

func (s *API) apiConcepts(c *call, p state.Project) (reply, error) {
	set, err := revision.Concepts(c, s.Memory.DB, p.ID)
	if err != nil {
		return reply{}, err
	}
	return paged(c, "concepts", ValidConcepts(set), func(x *concepts.Concept) string { return x.ID },
		func(x *concepts.Concept) (view.Concept, error) {
			return view.ConceptOf(x, set.DisplayLabel(x, s.Memory.DB.Refs.Device().ID)), nil
		})
}

// ValidConcepts returns the concepts that are neither deleted, merged into another one nor revoked.
func ValidConcepts(set *concepts.Set) []*concepts.Concept {
	return slices.DeleteFunc(slices.Clone(set.Concepts), func(c *concepts.Concept) bool {
		return !c.Live() || c.Revoked != ""
	})
}

// ValidRules returns the rules that are not hidden because their evidence is revoked.
func ValidRules(set *permanent.Set) []*permanent.Rule {
	return slices.DeleteFunc(slices.Clone(set.Rules), func(r *permanent.Rule) bool { return r.Revoked != "" })
}

// Valid returns the valid facts that are not hidden, newest first; kind "" means all kinds.
func Valid(set *facts.Set, kind string) []facts.Fact {
	out := slices.DeleteFunc(set.Live(), func(f facts.Fact) bool {
		return f.Revoked != "" || kind != "" && string(f.Kind) != kind
	})
	slices.SortStableFunc(out, func(a, b facts.Fact) int { return b.Time.Compare(a.Time) })
	return out
}
