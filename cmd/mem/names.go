package main

import (
	"context"
	"strings"

	"github.com/memvcs/mem/layers/state"
)

// What completion knows of the memory. Where there is none, or it cannot be read, nothing is completed.

// outline returns the memory and the state of the project, for completion.
func (e *Env) outline(ctx context.Context) (*state.State, bool) {
	m, err := e.memory()
	if err != nil {
		return nil, false
	}
	defer m.Close()
	p, err := e.theProject(ctx, m)
	if err != nil {
		return nil, false
	}
	st, err := m.Trusted().Outline(ctx, p.ID)
	return st, err == nil
}

// completeSession offers the sessions of the project by the start of their ids, the newest first.
func completeSession(e *Env, ctx context.Context, typed string) []candidate {
	st, ok := e.outline(ctx)
	if !ok {
		return nil
	}
	return sessionsOf(st, typed)
}

func sessionsOf(st *state.State, typed string) []candidate {
	var list []candidate
	for _, s := range st.Recent() {
		id := shortID(s.ID)
		if len(typed) > len(id) {
			id = s.ID
		}
		list = append(list, candidate{id, s.Title()})
	}
	return list
}

// completeRev offers sessions, and behind a colon their versions and layers, and compositions.
func completeRev(e *Env, ctx context.Context, typed string) []candidate {
	st, ok := e.outline(ctx)
	if !ok {
		return nil
	}
	if name, _, ok := strings.Cut(typed, ":"); ok {
		return partsOf(st, name)
	}
	list := append([]candidate{{"@", "the newest session"}}, sessionsOf(st, typed)...)
	for _, c := range st.Named() {
		if !st.FromStranger(c.Device) {
			list = append(list, candidate{c.Name, "a composition"})
		}
	}
	return list
}

// partsOf offers what stands behind the colon after a session.
func partsOf(st *state.State, name string) []candidate {
	var list []candidate
	for i, s := range st.Recent() {
		if name != s.ID && (len(name) < 4 || !strings.HasPrefix(s.ID, name)) && (name != "@" || i > 0) {
			continue
		}
		versions := st.OwnVersionsOf(s)
		for _, v := range versions {
			list = append(list, candidate{name + ":" + v.Name(), modeOf(v)})
		}
		list = append(list, candidate{name + ":original", "the original, byte for byte"}, candidate{name + ":L1", "the refined transcript"})
		if len(versions) > 0 {
			list = append(list, candidate{name + ":latest", "the newest version"})
		}
	}
	return list
}

// completeProject offers the projects in memory by name.
func completeProject(e *Env, ctx context.Context, _ string) []candidate {
	m, err := e.memory()
	if err != nil {
		return nil
	}
	defer m.Close()
	projects, err := m.Trusted().Projects(ctx)
	if err != nil {
		return nil
	}
	var list []candidate
	for _, p := range projects {
		list = append(list, candidate{p.Name, p.Identity})
	}
	return list
}
