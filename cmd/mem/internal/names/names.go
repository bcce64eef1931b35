package names

import (
	"context"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/memory"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/state"
)

// What completion knows of the memory. Where there is none, or it cannot be read, nothing is completed.

// outline returns the memory and the state of the project, for completion.
func outline(ctx context.Context, e *app.Env) (*state.State, bool) {
	m, err := memory.Open(e)
	if err != nil {
		return nil, false
	}
	defer m.Close()
	p, err := TheProject(ctx, e, m)
	if err != nil {
		return nil, false
	}
	st, err := m.Trusted().Outline(ctx, p.ID)
	return st, err == nil
}

// CompleteSession offers the sessions of the project by the start of their ids, the newest first.
func CompleteSession(e *app.Env, ctx context.Context, typed string) []Candidate {
	st, ok := outline(ctx, e)
	if !ok {
		return nil
	}
	return sessionsOf(st, typed)
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

// CompleteRev offers sessions, and behind a colon their versions and layers, and compositions.
func CompleteRev(e *app.Env, ctx context.Context, typed string) []Candidate {
	st, ok := outline(ctx, e)
	if !ok {
		return nil
	}
	if name, _, ok := strings.Cut(typed, ":"); ok {
		return partsOf(st, name)
	}
	list := append([]Candidate{{"@", "the newest session"}}, sessionsOf(st, typed)...)
	for _, c := range st.Named() {
		if !st.FromStranger(c.Device) {
			list = append(list, Candidate{c.Name, "a composition"})
		}
	}
	return list
}

// partsOf offers what stands behind the colon after a session.
func partsOf(st *state.State, name string) []Candidate {
	var list []Candidate
	for i, s := range st.Recent() {
		if name != s.ID && (len(name) < 4 || !strings.HasPrefix(s.ID, name)) && (name != "@" || i > 0) {
			continue
		}
		versions := st.OwnVersionsOf(s)
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
func CompleteProject(e *app.Env, ctx context.Context, _ string) []Candidate {
	m, err := memory.Open(e)
	if err != nil {
		return nil
	}
	defer m.Close()
	projects, err := m.Trusted().Projects(ctx)
	if err != nil {
		return nil
	}
	var list []Candidate
	for _, p := range projects {
		list = append(list, Candidate{p.Name, p.Identity})
	}
	return list
}
