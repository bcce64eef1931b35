package view

import (
	"context"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// A Project is a project with the numbers of its things. ID is there twice: programs read it as id.
type Project struct {
	ID           string `json:"id"`
	ProjectID    string `json:"projectId"`
	Name         string `json:"displayName"`
	Identity     string `json:"identity"`
	Sessions     int    `json:"sessions"`  // without those of subagents
	Subagents    int    `json:"subagents"` // sessions of subagents
	Versions     int    `json:"versions"`
	Compositions int    `json:"compositions"`
	LastAccessed Time   `json:"lastAccessed"`
	Current      bool   `json:"current"`
}

// ProjectOf returns a project.
func ProjectOf(ctx context.Context, db *state.DB, p state.Project, current bool) (Project, error) {
	out := Project{ID: string(p.ID), ProjectID: string(p.ID), Name: p.Name, Identity: p.Identity, Current: current}
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return out, err
	}
	for _, s := range st.Sessions {
		switch {
		case s.Deleted:
		case s.Parent() != "":
			out.Subagents++
		default:
			out.Sessions++
			out.LastAccessed.Time = later(out.LastAccessed.Time, s.Accessed())
		}
	}
	for _, v := range st.Versions {
		if !v.Deleted {
			out.Versions++
		}
	}
	out.Compositions = len(st.Named())
	return out, nil
}
