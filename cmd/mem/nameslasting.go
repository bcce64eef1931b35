package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/state"
)

// here calls f with the memory and the project, for completion. Where they cannot be had nothing is completed.
func (e *Env) here(ctx context.Context, f func(*layers.Memory, state.Project)) {
	m, err := e.memory()
	if err != nil {
		return
	}
	defer m.Close()
	if p, err := e.theProject(ctx, m); err == nil {
		f(m, p)
	}
}

// completeConcept offers the concepts of the project by label.
func completeConcept(e *Env, ctx context.Context, _ string) (list []candidate) {
	e.here(ctx, func(m *layers.Memory, p state.Project) {
		set, err := m.Revision().Concepts(ctx, p.ID)
		if err != nil {
			return
		}
		for _, c := range set.Live() {
			list = append(list, candidate{set.Shown(c, m.Repo().Device().ID), c.Name})
		}
	})
	return list
}

// completeRule offers the rules of the project by id.
func completeRule(e *Env, ctx context.Context, _ string) (list []candidate) {
	e.here(ctx, func(m *layers.Memory, p state.Project) {
		set, err := m.Revision().Rules(ctx, p.ID)
		if err != nil {
			return
		}
		for _, r := range set.Rules {
			list = append(list, candidate{r.ID, r.State + ": " + firstWords(r.Text, 60)})
		}
	})
	return list
}

// mostCompleted is how many facts are offered: more are no help.
const mostCompleted = 200

// completeFact offers the newest facts of the project that stand, by id.
func completeFact(e *Env, ctx context.Context, _ string) (list []candidate) {
	e.here(ctx, func(m *layers.Memory, p state.Project) {
		set, err := m.Revision().Facts(ctx, p.ID)
		if err != nil {
			return
		}
		live := set.Live()
		slices.SortStableFunc(live, func(a, b facts.Fact) int { return b.Time.Compare(a.Time) })
		for _, f := range live[:min(len(live), mostCompleted)] {
			list = append(list, candidate{f.ID, string(f.Kind) + ": " + firstWords(f.Text, 60)})
		}
	})
	return list
}

// completeExchange offers the newest exchanges of the project, by id.
func completeExchange(e *Env, ctx context.Context, _ string) (list []candidate) {
	e.here(ctx, func(m *layers.Memory, p state.Project) {
		set, err := m.Revision().Facts(ctx, p.ID)
		if err != nil {
			return
		}
		for _, x := range set.Exchanges[max(0, len(set.Exchanges)-mostCompleted):] {
			list = append(list, candidate{x.ID, firstWords(cmp.Or(x.Topic, x.Summary), 60)})
		}
	})
	return list
}

// completeCandidate offers what could become a rule, by id.
func completeCandidate(e *Env, ctx context.Context, _ string) (list []candidate) {
	e.here(ctx, func(m *layers.Memory, p state.Project) {
		found, err := m.Knowledge().Reflect(ctx, p, time.Time{}, true)
		if err != nil {
			return
		}
		for _, c := range found.Candidates {
			list = append(list, candidate{c.ID, c.Type + ": " + firstWords(c.Text, 60)})
		}
	})
	return list
}
