package names

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/memory"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/state"
)

// here calls f with the memory and the project, for completion. Where they cannot be had nothing is completed.
func here(ctx context.Context, e *app.Env, f func(*layers.Memory, state.Project)) {
	m, err := memory.Open(e)
	if err != nil {
		return
	}
	defer m.Close()
	if p, err := TheProject(ctx, e, m); err == nil {
		f(m, p)
	}
}

// CompleteConcept offers the concepts of the project by label.
func CompleteConcept(e *app.Env, ctx context.Context, _ string) (list []Candidate) {
	here(ctx, e, func(m *layers.Memory, p state.Project) {
		set, err := m.Revision().Concepts(ctx, p.ID)
		if err != nil {
			return
		}
		for _, c := range set.Live() {
			list = append(list, Candidate{set.DisplayLabel(c, m.Repo().Device().ID), c.Name})
		}
	})
	return list
}

// CompleteRule offers the rules of the project by id.
func CompleteRule(e *app.Env, ctx context.Context, _ string) (list []Candidate) {
	here(ctx, e, func(m *layers.Memory, p state.Project) {
		set, err := m.Revision().Rules(ctx, p.ID)
		if err != nil {
			return
		}
		for _, r := range set.Rules {
			list = append(list, Candidate{r.ID, r.State + ": " + term.FirstWords(r.Text, 60)})
		}
	})
	return list
}

// mostCompleted is how many facts are offered: more are no help.
const mostCompleted = 200

// CompleteFact offers the newest facts of the project that stand, by id.
func CompleteFact(e *app.Env, ctx context.Context, _ string) (list []Candidate) {
	here(ctx, e, func(m *layers.Memory, p state.Project) {
		set, err := m.Revision().Facts(ctx, p.ID)
		if err != nil {
			return
		}
		live := set.Live()
		slices.SortStableFunc(live, func(a, b facts.Fact) int { return b.Time.Compare(a.Time) })
		for _, f := range live[:min(len(live), mostCompleted)] {
			list = append(list, Candidate{f.ID, string(f.Kind) + ": " + term.FirstWords(f.Text, 60)})
		}
	})
	return list
}

// CompleteExchange offers the newest exchanges of the project, by id.
func CompleteExchange(e *app.Env, ctx context.Context, _ string) (list []Candidate) {
	here(ctx, e, func(m *layers.Memory, p state.Project) {
		set, err := m.Revision().Facts(ctx, p.ID)
		if err != nil {
			return
		}
		for _, x := range set.Exchanges[max(0, len(set.Exchanges)-mostCompleted):] {
			list = append(list, Candidate{x.ID, term.FirstWords(cmp.Or(x.Topic, x.Summary), 60)})
		}
	})
	return list
}

// CompleteCandidate offers what could become a rule, by id.
func CompleteCandidate(e *app.Env, ctx context.Context, _ string) (list []Candidate) {
	here(ctx, e, func(m *layers.Memory, p state.Project) {
		found, err := m.Knowledge().Reflect(ctx, p, time.Time{}, true)
		if err != nil {
			return
		}
		for _, c := range found.Candidates {
			list = append(list, Candidate{c.ID, c.Type + ": " + term.FirstWords(c.Text, 60)})
		}
	})
	return list
}
