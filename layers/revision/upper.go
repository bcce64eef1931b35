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

// upperNamed returns the kind of an ID: "fact", "concept", "rule", "exchange" or "".
func upperNamed(s string) string {
	prefix, rest, ok := strings.Cut(s, ":")
	if !ok || rest == "" {
		return ""
	}
	return map[string]string{"f": "fact", "c": "concept", "r": "rule", "e": "exchange"}[prefix]
}

// FactNamed returns the fact whose ID starts with id, from the scope's project or else from another one.
func FactNamed(ctx context.Context, db *state.DB, sc state.Scope, id string) (facts.Fact, state.Project, error) {
	rev, err := resolveUpper(ctx, db, sc, "fact", id)
	if err != nil {
		return facts.Fact{}, rev.Project, err
	}
	return *rev.Fact, rev.Project, nil
}

// resolveUpper resolves an ID above L1 in the scope's project, or else in another one.
func resolveUpper(ctx context.Context, db *state.DB, sc state.Scope, what, s string) (rev state.Rev, err error) {
	missing := error(&state.NotFoundError{What: what, Name: s})
	var failed error
	err = Scoped(ctx, db, sc, func(p state.Project, _ *state.State) bool {
		found := state.Rev{Kind: state.Kind(what), Project: p, How: "id of a " + what}
		var err error
		switch what {
		case "fact":
			var f facts.Fact
			f, err = FindFact(ctx, db, p.ID, s)
			found.Fact = &f
		case "concept":
			found.Concept, err = FindConcept(ctx, db, p.ID, s)
		case "rule":
			found.Rule, err = FindRule(ctx, db, p.ID, s)
		default:
			return true
		}
		if none := (*state.NotFoundError)(nil); errors.As(err, &none) {
			if p.ID == sc.Project.ID {
				missing = err // it lists what exists
			}
			return false
		}
		rev, failed = found, err
		return true
	})
	if err = errors.Join(failed, err); err == nil && rev.Kind == "" {
		err = missing
	}
	return rev, err
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
