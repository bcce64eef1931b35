package view

import (
	"context"

	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
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

	Session string `json:"sessionId,omitempty"` // of a version that is shown alone
	Content string `json:"content,omitempty"`   // its Markdown
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
	Hidden     string      `json:"hidden,omitempty"`  // why
	Content    string      `json:"content,omitempty"` // the Markdown of one that is shown alone
}

// A Component is a part of a composition, with its session as it is called now.
type Component struct {
	SessionID  string                 `json:"sessionId"`
	VersionID  string                 `json:"versionId"`
	Order      int                    `json:"order"`
	Tokens     int                    `json:"tokenContribution"`
	Title      string                 `json:"title,omitempty"`
	Period     string                 `json:"period,omitempty"` // the days of the session
	Recompress *records.Recompression `json:"recompress,omitempty"`
}

// CompositionsOf returns compositions of a project, with the names that the sessions of their parts have now.
func CompositionsOf(ctx context.Context, db *state.DB, p state.Project, all []*records.Composition) ([]Composition, error) {
	states := map[refs.Project]*state.State{}
	outline := func(id refs.Project) (st *state.State, err error) {
		if states[id] == nil {
			states[id], err = trust.Outline(ctx, db, id)
		}
		return states[id], err
	}
	out := []Composition{}
	for _, c := range all {
		x := Composition{
			ID: compose.ID(c.Derivation.Output), Name: c.Name, Project: p.Name, ProjectID: string(p.ID), CreatedAt: Time{c.Time},
			Components: []Component{}, OutputFile: c.Name + "/composed.md", Tokens: c.Tokens, Messages: c.Messages,
			Budget: c.Budget, Strategy: c.Strategy, Hash: c.Derivation.Output.String(), UsedIn: list(c.Used.By),
			Accessed: Time{c.Used.Last}, Hidden: c.Revoked,
		}
		if c.Deleted {
			x.Hidden = "removed"
		}
		for i, part := range c.Parts {
			st, err := outline(part.Project)
			if err != nil {
				return nil, err
			}
			y := Component{SessionID: part.Session, VersionID: part.Label, Order: i, Tokens: part.Tokens,
				Recompress: st.Recompression(part)}
			y.Title, y.Period = named(st.Session(part.Session))
			x.Components = append(x.Components, y)
		}
		out = append(out, x)
	}
	return out, nil
}

// named returns the title and the days of a session, nothing of one that is not there any more.
func named(s *state.Session) (title, period string) {
	if s == nil {
		return "", ""
	}
	return s.OwnTitle(), compose.Period(s.Now().Scan.First, s.Now().Ended())
}

// A Composed is the result of composing, or with a dry run the plan of it.
type Composed struct {
	Project  string         `json:"project"`
	Name     string         `json:"name"`
	Budget   int            `json:"totalTokenBudget"`
	Tokens   int            `json:"totalTokens"`
	Left     int            `json:"unusedTokens"`
	Frame    int            `json:"frameTokens"`   // of the tokens: headings, sources and tags
	Messages int            `json:"totalMessages"` // of composed.jsonl; 0 of a plan
	Counter  string         `json:"tokenizer"`
	Hash     string         `json:"hash"`
	Parts    []ComposedPart `json:"components"`
	Existed  bool           `json:"existed"`
	DryRun   bool           `json:"dryRun"`

	Receipt engines.Receipt `json:"receipt,omitzero"`
}

// A ComposedPart is the choice for one part.
type ComposedPart struct {
	Session string   `json:"sessionId"`
	Version string   `json:"versionId"` // a label, "original" or "(new)"
	Tokens  int      `json:"tokenContribution"`
	Title   string   `json:"title,omitempty"`
	Period  string   `json:"period,omitempty"` // the days of the session
	Share   int      `json:"share"`
	Score   *float64 `json:"score,omitempty"` // from 0 to 1, of a version that was there
	Why     string   `json:"reason"`
}

// ComposedOf returns the result of a request.
func ComposedOf(req derive.ComposeRequest, d derive.ComposeResult) Composed {
	out := Composed{Project: d.Project.Name, Name: req.Name, Budget: req.Budget, Tokens: d.Plan.Total,
		Parts: []ComposedPart{}, Existed: d.Existed, DryRun: req.DryRun, Receipt: d.Receipt}
	if c := d.Composition; c != nil {
		out.Tokens, out.Messages, out.Counter, out.Hash = c.Tokens, c.Messages, c.Counter, c.Derivation.Output.String()
	}
	out.Left, out.Frame = out.Budget-out.Tokens, out.Tokens
	for i, p := range d.Plan.Picks {
		part := ComposedPart{Session: p.Session, Version: p.Label(), Tokens: p.Tokens - p.Tags, Share: p.Share, Why: p.Why}
		if d.Composition != nil && i < len(d.Composition.Parts) { // a new version has got its label
			part.Version, part.Tokens = d.Composition.Parts[i].Label, d.Composition.Parts[i].Tokens
		}
		for _, asked := range req.Parts {
			if asked.Rev.Session.ID == p.Session {
				part.Title, part.Period = named(asked.Rev.Session)
			}
		}
		if p.Score >= 0 {
			score := float64(p.Score) / 1000
			part.Score = &score
		}
		out.Frame -= part.Tokens
		out.Parts = append(out.Parts, part)
	}
	return out
}
