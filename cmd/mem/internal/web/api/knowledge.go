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
		{http.MethodGet, "/facts", "List valid facts",
			pageParams(projectParam(), param{"kind", "string", "kind of the facts"}), nil, answers(factList{}),
			with(queryProject, (*API).apiFacts)},
		{http.MethodGet, "/rules", "List the permanent rules", pageParams(projectParam()), nil, answers(ruleList{}),
			with(queryProject, (*API).apiRules)},
		{http.MethodGet, "/concepts", "List the concepts", pageParams(projectParam()), nil, answers(conceptList{}),
			with(queryProject, (*API).apiConcepts)},
	}
}

type factList struct {
	Facts []view.Fact `json:"facts"`
	Next  string      `json:"nextCursor,omitempty"`
}

func (s *API) apiFacts(c *call, p state.Project) (reply, error) {
	set, err := revision.Facts(c, s.Memory.DB, p.ID)
	if err != nil {
		return reply{}, err
	}
	list, next, err := paged(c, Valid(set, c.r.URL.Query().Get("kind")), func(f facts.Fact) string { return f.ID }, view.FactOf)
	return result(factList{list, next}, err)
}

type ruleList struct {
	Rules []view.Rule `json:"rules"`
	Next  string      `json:"nextCursor,omitempty"`
}

func (s *API) apiRules(c *call, p state.Project) (reply, error) {
	set, err := revision.Rules(c, s.Memory.DB, p.ID)
	if err != nil {
		return reply{}, err
	}
	list, next, err := paged(c, ValidRules(set), func(r *permanent.Rule) string { return r.ID },
		view.RuleOf)
	return result(ruleList{list, next}, err)
}

type conceptList struct {
	Concepts []view.Concept `json:"concepts"`
	Next     string         `json:"nextCursor,omitempty"`
}

func (s *API) apiConcepts(c *call, p state.Project) (reply, error) {
	set, err := revision.Concepts(c, s.Memory.DB, p.ID)
	if err != nil {
		return reply{}, err
	}
	list, next, err := paged(c, ValidConcepts(set), func(x *concepts.Concept) string { return x.ID },
		func(x *concepts.Concept) view.Concept {
			return view.ConceptOf(x, set.DisplayLabel(x, s.Memory.DB.Refs.Device().ID))
		})
	return result(conceptList{list, next}, err)
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
