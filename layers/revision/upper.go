package revision

import (
	"context"
	"errors"
	"strings"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// Concepts returns the concepts of a project.
func Concepts(ctx context.Context, db *state.DB, p refs.Project) (*concepts.Set, error) {
	all, err := trust.Known(ctx, db, p)
	return all.Concepts, err
}

// FindConcept returns the concept of a project with a name: c002, c002~d3f1, c:9f2c61ab or its title.
func FindConcept(ctx context.Context, db *state.DB, p refs.Project, name string) (*concepts.Concept, error) {
	set, err := Concepts(ctx, db, p)
	if err != nil {
		return nil, err
	}
	return ConceptIn(db, set, name)
}

func ConceptIn(db *state.DB, set *concepts.Set, name string) (*concepts.Concept, error) {
	device := db.Refs.Device().ID
	found := set.Find(name, device)
	if len(found) == 1 {
		return found[0], nil
	}
	var names []string
	if len(found) == 0 {
		for _, c := range set.Live() {
			names = append(names, set.DisplayLabel(c, device))
		}
		return nil, &state.NotFoundError{What: "concept", Name: name, Candidates: names}
	}
	for _, c := range found {
		names = append(names, c.Label+"~"+c.Device[:8])
	}
	return nil, &state.AmbiguousError{What: "concept", Name: name, Candidates: names}
}

// Rules returns the permanent rules of a project.
func Rules(ctx context.Context, db *state.DB, p refs.Project) (*permanent.Set, error) {
	all, err := trust.Known(ctx, db, p)
	return all.Rules, err
}

// upperPrefixes maps prefixes of IDs above L1 to kinds.
var upperPrefixes = [][2]string{{"f:", "fact"}, {"c:", "concept"}, {"r:", "rule"}, {"e:", "exchange"}}

// upperNamed returns the kind of an ID: "fact", "concept", "rule", "exchange" or "".
func upperNamed(s string) string {
	for _, p := range upperPrefixes {
		if rest, ok := strings.CutPrefix(s, p[0]); ok && rest != "" {
			return p[1]
		}
	}
	return ""
}

// resolveUpper resolves an ID above L1.
func resolveUpper(ctx context.Context, db *state.DB, sc state.Scope, what, s string) (rev state.Rev, err error) {
	if what == "fact" {
		return resolveFact(ctx, db, sc, s)
	}
	missing := error(&state.NotFoundError{What: what, Name: s})
	find, ok := map[string]func(state.Project) (state.Rev, error){
		"concept": func(p state.Project) (state.Rev, error) {
			c, err := FindConcept(ctx, db, p.ID, s)
			return state.Rev{Kind: state.IsConcept, Project: p, Concept: c, How: "id of a concept"}, err
		},
		"rule": func(p state.Project) (state.Rev, error) {
			r, err := FindRule(ctx, db, p.ID, s)
			return state.Rev{Kind: state.IsRule, Project: p, Rule: r, How: "id of a rule"}, err
		},
	}[what]
	if !ok {
		return rev, missing
	}
	err = eachScoped(ctx, db, sc, func(p state.Project) (bool, error) {
		found, err := find(p)
		var none *state.NotFoundError
		if errors.As(err, &none) {
			if p.ID == sc.Project.ID {
				missing = err // it lists what exists
			}
			return false, nil
		}
		rev = found
		return true, err
	})
	if err == nil && rev.Kind == "" {
		err = missing
	}
	return rev, err
}

// eachScoped calls f for the scope's project and then for all others, until f returns true.
func eachScoped(ctx context.Context, db *state.DB, sc state.Scope, f func(state.Project) (done bool, err error)) error {
	var failed error
	err := Scoped(ctx, db, sc, func(p state.Project, _ *state.State) bool {
		done, err := f(p)
		failed = err
		return done || err != nil
	})
	return errors.Join(failed, err)
}

// FindRule returns the rule of a project with an ID such as r:9f2c61ab, or the one whose text begins with the name.
func FindRule(ctx context.Context, db *state.DB, p refs.Project, name string) (*permanent.Rule, error) {
	set, err := Rules(ctx, db, p)
	if err != nil {
		return nil, err
	}
	found := set.Find(name)
	if len(found) == 0 && len(name) >= 4 {
		for _, r := range set.Rules {
			if strings.HasPrefix(strings.ToLower(r.Text), strings.ToLower(name)) {
				found = append(found, r)
			}
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	var names []string
	if len(found) == 0 {
		for _, r := range set.Rules {
			names = append(names, r.ID)
		}
		return nil, &state.NotFoundError{What: "rule", Name: name, Candidates: names}
	}
	for _, r := range found {
		names = append(names, "r:"+r.Record[:16])
	}
	return nil, &state.AmbiguousError{What: "rule", Name: name, Candidates: names}
}

// FindFact returns the fact of a project with an ID such as f:9f2c61ab.
func FindFact(ctx context.Context, db *state.DB, p refs.Project, name string) (facts.Fact, error) {
	known, err := Facts(ctx, db, p)
	if err != nil {
		return facts.Fact{}, err
	}
	found := known.Find(name)
	if len(name) < len("f:")+4 {
		found = nil
	}
	switch len(found) {
	case 0:
		return facts.Fact{}, &state.NotFoundError{What: "fact", Name: name}
	case 1:
		return found[0], nil
	}
	var names []string
	for _, f := range found {
		names = append(names, f.ID)
	}
	return facts.Fact{}, &state.AmbiguousError{What: "fact", Name: name, Candidates: names}
}
