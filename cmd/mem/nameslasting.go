package main

import (
	"context"

	"github.com/memvcs/mem/layers"
)

// here calls f with the memory and the project, for completion. Where they cannot be had nothing is completed.
func (e *Env) here(ctx context.Context, f func(*layers.Memory, layers.Project)) {
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
	e.here(ctx, func(m *layers.Memory, p layers.Project) {
		set, err := m.Concepts(ctx, p.ID)
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
	e.here(ctx, func(m *layers.Memory, p layers.Project) {
		set, err := m.Rules(ctx, p.ID)
		if err != nil {
			return
		}
		for _, r := range set.Rules {
			list = append(list, candidate{r.ID, r.State + ": " + firstWords(r.Text, 60)})
		}
	})
	return list
}
