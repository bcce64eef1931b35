package view

import (
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// A Version is a version of a session.
type Version struct {
	ID        string                 `json:"versionId"`
	File      string                 `json:"file"`
	CreatedAt Time                   `json:"createdAt"`
	Settings  records.RecipeSettings `json:"settings"` // the model is the engine
	Tokens    int                    `json:"outputTokens"`
	Messages  int                    `json:"outputMessages"`
	Ratio     float64                `json:"compressionRatio"`
	Keepit    records.KeepitStats    `json:"keepitStats"`
	Source    string                 `json:"sourceVersion,omitempty"` // that it was made from
	Since     string                 `json:"since,omitempty"`         // that it continues
	InTokens  int                    `json:"inputTokens"`
	InMsgs    int                    `json:"inputMessages"`
	Counter   string                 `json:"tokenizer"`
	Hash      string                 `json:"hash"`
	Device    string                 `json:"deviceId"`
	UsedBy    []string               `json:"usedInCompositions"`
	UsedIn    []string               `json:"usedInSessions"`
	Accessed  Time                   `json:"lastAccessed,omitzero"`
	For       string                 `json:"for,omitempty"`     // "tier" or "composition" if mem made it for one
	Hidden    bool                   `json:"hidden,omitempty"`  // by rm, prune, undo or ageing
	Revoked   string                 `json:"revoked,omitempty"` // why it is hidden
}

// VersionOf returns a version that the compositions usedBy contain. The version must be complete, not of an outline.
func VersionOf(v *records.Version, usedBy []string) (Version, error) {
	stats, err := v.KeepitStats()
	if err != nil {
		return Version{}, err
	}
	settings, err := v.Compression()
	if err != nil {
		return Version{}, err
	}
	return Version{
		ID: v.Label, File: v.FileName(), CreatedAt: Time{v.Time}, Settings: settings, Tokens: v.TokensOut,
		Messages: v.MessagesOut, Ratio: v.Ratio, Keepit: stats, Source: v.Source, Since: v.Since, InTokens: v.TokensIn,
		InMsgs: v.MessagesIn, Counter: v.Counter, Hash: v.Derivation.Output.String(), Device: v.Device, UsedBy: list(usedBy),
		UsedIn: list(v.Used.By), Accessed: Time{v.Used.Last}, For: v.For, Hidden: v.Deleted, Revoked: v.Revoked,
	}, nil
}

// VersionsOf returns versions. The state must be complete, not an outline.
func VersionsOf(st *state.State, versions []*records.Version) ([]Version, error) {
	out := []Version{}
	for _, v := range versions {
		x, err := VersionOf(v, st.UsedBy(v))
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// A Composition is a composition.
type Composition struct {
	ID         string      `json:"compositionId"`
	Name       string      `json:"name"`
	Project    string      `json:"project"`
	ProjectID  string      `json:"projectId"`
	CreatedAt  Time        `json:"createdAt"`
	Components []Component `json:"components"`
	OutputFile string      `json:"outputFile"` // below where it is checked out
	Tokens     int         `json:"totalTokens"`
	Messages   int         `json:"totalMessages"`
	Budget     int         `json:"totalTokenBudget"`
	Strategy   string      `json:"allocationStrategy"`
	Hash       string      `json:"hash"`
	UsedIn     []string    `json:"usedInSessions"`
	Accessed   Time        `json:"lastAccessed,omitzero"`
	Hidden     string      `json:"hidden,omitempty"` // why
}

// A Component is a part of a composition.
type Component struct {
	SessionID  string                 `json:"sessionId"`
	VersionID  string                 `json:"versionId"`
	Order      int                    `json:"order"`
	Tokens     int                    `json:"tokenContribution"`
	Recompress *records.Recompression `json:"recompress,omitempty"`
}

// CompositionOf returns a composition of the project of st.
func CompositionOf(st *state.State, p state.Project, c *records.Composition) Composition {
	out := Composition{
		ID: compose.ID(c.Derivation.Output), Name: c.Name, Project: p.Name, ProjectID: string(p.ID), CreatedAt: Time{c.Time},
		Components: []Component{}, OutputFile: c.Name + "/composed.md", Tokens: c.Tokens, Messages: c.Messages,
		Budget: c.Budget, Strategy: c.Strategy, Hash: c.Derivation.Output.String(), UsedIn: list(c.Used.By),
		Accessed: Time{c.Used.Last}, Hidden: c.Revoked,
	}
	if c.Deleted {
		out.Hidden = "removed"
	}
	for i, p := range c.Parts {
		out.Components = append(out.Components, Component{p.Session, p.Label, i, p.Tokens, st.Recompression(p)})
	}
	return out
}
