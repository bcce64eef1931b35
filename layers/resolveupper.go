package layers

import (
	"context"
	"errors"
	"strings"
)

// upperPrefixes are how the ids of things above L1 begin, and what such a thing is called.
var upperPrefixes = [][2]string{{"f:", "fact"}, {"c:", "concept"}, {"r:", "rule"}, {"e:", "exchange"}}

// upperNamed returns what kind of thing a name is the id of: "fact", "concept", "rule", "exchange"; else "".
func upperNamed(s string) string {
	for _, p := range upperPrefixes {
		if rest, ok := strings.CutPrefix(s, p[0]); ok && rest != "" {
			return p[1]
		}
	}
	return ""
}

// resolveUpper finds a thing above L1 by its id.
func (m *Memory) resolveUpper(ctx context.Context, sc Scope, what, s string) (rev Rev, err error) {
	if what == "fact" {
		return m.resolveFact(ctx, sc, s)
	}
	missing := error(&NotFoundError{What: what, Name: s})
	find, ok := map[string]func(Project) (Rev, error){
		"concept": func(p Project) (Rev, error) {
			c, err := m.FindConcept(ctx, p.ID, s)
			return Rev{Kind: IsConcept, Project: p, Concept: c, How: "id of a concept"}, err
		},
		"rule": func(p Project) (Rev, error) {
			r, err := m.FindRule(ctx, p.ID, s)
			return Rev{Kind: IsRule, Project: p, Rule: r, How: "id of a rule"}, err
		},
	}[what]
	if !ok {
		return rev, missing
	}
	err = m.eachScoped(ctx, sc, func(p Project) (bool, error) {
		found, err := find(p)
		var none *NotFoundError
		if errors.As(err, &none) {
			if p.ID == sc.Project.ID {
				missing = err // it knows what there is
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

// eachScoped calls f for the scope's project and then, until it says it is done, for all others.
func (m *Memory) eachScoped(ctx context.Context, sc Scope, f func(Project) (done bool, err error)) error {
	var failed error
	err := m.scoped(ctx, sc, func(p Project, _ *State) bool {
		done, err := f(p)
		failed = err
		return done || err != nil
	})
	return errors.Join(failed, err)
}
