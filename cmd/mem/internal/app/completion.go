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
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
)

// A Candidate is a completion with a short description.
type Candidate struct{ Value, About string }

// outline returns the state of the project, for completion: an empty one without a readable memory.
func outline(ctx context.Context, e *Env) *state.State {
	out := &state.State{}
	withProject(ctx, e, func(m *layers.Memory, p state.Project) {
		if st, err := trust.Outline(ctx, m.DB, p.ID); err == nil {
			out = st
		}
	})
	return out
}

// CompleteSession offers the ids of the project's sessions, the newest first.
func CompleteSession(e *Env, ctx context.Context, typed string) []Candidate {
	return sessionsOf(outline(ctx, e), typed)
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
	st := outline(ctx, e)
	if name, _, ok := strings.Cut(typed, ":"); ok {
		return partsOf(st, name)
	}
	list := append([]Candidate{{"@", "the newest session"}}, sessionsOf(st, typed)...)
	for _, c := range st.Named() {
		list = append(list, Candidate{c.Name, "a composition"})
	}
	return list
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
	m, err := OpenMemory(e)
	if err != nil {
		return nil
	}
	defer m.Close()
	projects, err := trust.Projects(ctx, m.DB)
	if err != nil {
		return nil
	}
	return Each(projects, func(p state.Project) Candidate { return Candidate{p.Name, p.Identity} })
}

// withProject calls f with the memory and the project, for completion. Without them nothing is completed.
func withProject(ctx context.Context, e *Env, f func(*layers.Memory, state.Project)) {
	m, err := OpenMemory(e)
	if err != nil {
		return
	}
	defer m.Close()
	if p, err := TheProject(ctx, e, m); err == nil {
		f(m, p)
	}
}

// CompleteConcept offers the concepts of the project by label.
func CompleteConcept(e *Env, ctx context.Context, _ string) (list []Candidate) {
	withProject(ctx, e, func(m *layers.Memory, p state.Project) {
		set, err := revision.Concepts(ctx, m.DB, p.ID)
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
func CompleteRule(e *Env, ctx context.Context, _ string) (list []Candidate) {
	withProject(ctx, e, func(m *layers.Memory, p state.Project) {
		set, err := revision.Rules(ctx, m.DB, p.ID)
		if err != nil {
			return
		}
		for _, r := range set.Rules {
			list = append(list, Candidate{r.ID, r.State + ": " + tokens.OneLine(r.Text, 60)})
		}
	})
	return list
}

// mostCompleted is the maximum number of completions from a long list.
const mostCompleted = 200

// CompleteFact offers the ids of the newest live facts of the project.
func CompleteFact(e *Env, ctx context.Context, _ string) (list []Candidate) {
	withProject(ctx, e, func(m *layers.Memory, p state.Project) {
		set, err := revision.Facts(ctx, m.DB, p.ID)
		if err != nil {
			return
		}
		live := set.Live()
		slices.SortStableFunc(live, func(a, b facts.Fact) int { return b.Time.Compare(a.Time) })
		for _, f := range live[:min(len(live), mostCompleted)] {
			list = append(list, Candidate{f.ID, string(f.Kind) + ": " + tokens.OneLine(f.Text, 60)})
		}
	})
	return list
}

// CompleteExchange offers the newest exchanges of the project, by id.
func CompleteExchange(e *Env, ctx context.Context, _ string) (list []Candidate) {
	withProject(ctx, e, func(m *layers.Memory, p state.Project) {
		set, err := revision.Facts(ctx, m.DB, p.ID)
		if err != nil {
			return
		}
		for _, x := range set.Exchanges[max(0, len(set.Exchanges)-mostCompleted):] {
			list = append(list, Candidate{x.ID, tokens.OneLine(cmp.Or(x.Topic, x.Summary), 60)})
		}
	})
	return list
}

// CompleteCandidate offers the ids of candidates for rules.
func CompleteCandidate(e *Env, ctx context.Context, _ string) (list []Candidate) {
	withProject(ctx, e, func(m *layers.Memory, p state.Project) {
		found, err := knowledge.Reflect(ctx, m.DB, p, time.Time{}, true)
		if err != nil {
			return
		}
		for _, c := range found.Candidates {
			list = append(list, Candidate{c.ID, c.Type + ": " + tokens.OneLine(c.Text, 60)})
		}
	})
	return list
}
