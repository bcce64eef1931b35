package app

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A Candidate is a completion with a short description.
type Candidate struct{ Value, About string }

// offer returns what list makes of what the project has, nothing without a readable memory.
func offer[T any](ctx context.Context, e *Env, read func(context.Context, *state.DB, refs.Project) (T, error),
	list func(T, *layers.Memory) []Candidate) []Candidate {
	m, err := OpenMemory(e)
	if err != nil {
		return nil
	}
	defer m.Close()
	p, err := TheProject(ctx, e, m)
	if err != nil {
		return nil
	}
	found, err := read(ctx, m.DB, p.ID)
	if err != nil {
		return nil
	}
	return list(found, m)
}

// about returns the description of a thing: its kind and the start of its text.
func about(kind, text string) string { return kind + ": " + tokens.OneLine(text, 60) }

// CompleteSession offers the ids of the project's sessions, the newest first.
func CompleteSession(e *Env, ctx context.Context, typed string) []Candidate {
	return offer(ctx, e, trust.Outline, func(st *state.State, _ *layers.Memory) []Candidate { return sessionsOf(st, typed) })
}

func sessionsOf(st *state.State, typed string) []Candidate {
	var list []Candidate
	for _, s := range st.Recent() {
		id := term.ShortID(s.ID)
		if len(typed) > len(id) {
			id = s.ID
		}
		list = append(list, Candidate{id, s.Title()})
	}
	return list
}

// CompleteRev offers sessions and compositions, and after a colon the versions and layers of a session.
func CompleteRev(e *Env, ctx context.Context, typed string) []Candidate {
	return offer(ctx, e, trust.Outline, func(st *state.State, _ *layers.Memory) []Candidate {
		if name, _, ok := strings.Cut(typed, ":"); ok {
			return partsOf(st, name)
		}
		list := append([]Candidate{{"@", "the newest session"}}, sessionsOf(st, typed)...)
		for _, c := range st.Named() {
			list = append(list, Candidate{c.Name, "a composition"})
		}
		return list
	})
}

// partsOf offers the versions and layers of the session name.
func partsOf(st *state.State, name string) []Candidate {
	var list []Candidate
	for i, s := range st.Recent() {
		if name != s.ID && (len(name) < 4 || !strings.HasPrefix(s.ID, name)) && (name != "@" || i > 0) {
			continue
		}
		versions := st.VersionsOf(s.ID)
		for _, v := range versions {
			list = append(list, Candidate{name + ":" + v.Name(), ModeOf(v)})
		}
		list = append(list, Candidate{name + ":original", "the original, byte for byte"},
			Candidate{name + ":L1", "the refined transcript"})
		if len(versions) > 0 {
			list = append(list, Candidate{name + ":latest", "the newest version"})
		}
	}
	return list
}

// CompleteProject offers the projects in memory by name.
func CompleteProject(e *Env, ctx context.Context, _ string) []Candidate {
	all := func(ctx context.Context, db *state.DB, _ refs.Project) ([]state.Project, error) {
		return trust.Projects(ctx, db)
	}
	return offer(ctx, e, all, func(list []state.Project, _ *layers.Memory) []Candidate {
		return Each(list, func(p state.Project) Candidate { return Candidate{p.Name, p.Identity} })
	})
}

// CompleteConcept offers the concepts of the project by label.
func CompleteConcept(e *Env, ctx context.Context, _ string) []Candidate {
	return offer(ctx, e, revision.Concepts, func(set *concepts.Set, m *layers.Memory) []Candidate {
		return Each(set.Live(), func(c *concepts.Concept) Candidate {
			return Candidate{set.DisplayLabel(c, m.Repo().Device().ID), c.Name}
		})
	})
}

// CompleteRule offers the rules of the project by id.
func CompleteRule(e *Env, ctx context.Context, _ string) []Candidate {
	return offer(ctx, e, revision.Rules, func(set *permanent.Set, _ *layers.Memory) []Candidate {
		return Each(set.Rules, func(r *permanent.Rule) Candidate { return Candidate{r.ID, about(r.State, r.Text)} })
	})
}

// mostCompleted is the maximum number of completions from a long list.
const mostCompleted = 200

// CompleteFact offers the ids of the newest live facts of the project.
func CompleteFact(e *Env, ctx context.Context, _ string) []Candidate {
	return offer(ctx, e, revision.Facts, func(set *facts.Set, _ *layers.Memory) []Candidate {
		live := set.Live()
		slices.SortStableFunc(live, func(a, b facts.Fact) int { return b.Time.Compare(a.Time) })
		return Each(live[:min(len(live), mostCompleted)], func(f facts.Fact) Candidate {
			return Candidate{f.ID, about(string(f.Kind), f.Text)}
		})
	})
}

// CompleteExchange offers the newest exchanges of the project, by id.
func CompleteExchange(e *Env, ctx context.Context, _ string) []Candidate {
	return offer(ctx, e, revision.Facts, func(set *facts.Set, _ *layers.Memory) []Candidate {
		return Each(set.Exchanges[max(0, len(set.Exchanges)-mostCompleted):], func(x facts.Exchange) Candidate {
			return Candidate{x.ID, tokens.OneLine(cmp.Or(x.Topic, x.Summary), 60)}
		})
	})
}

// CompleteCandidate offers the ids of candidates for rules.
func CompleteCandidate(e *Env, ctx context.Context, _ string) []Candidate {
	found := func(ctx context.Context, db *state.DB, p refs.Project) (knowledge.Candidates, error) {
		return knowledge.Reflect(ctx, db, state.Project{ID: p}, time.Time{}, true)
	}
	return offer(ctx, e, found, func(r knowledge.Candidates, _ *layers.Memory) []Candidate {
		return Each(r.Candidates, func(c permanent.Candidate) Candidate { return Candidate{c.ID, about(c.Type, c.Text)} })
	})
}
