package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/layers/view"
)

func compositionEndpoints() []endpoint {
	return []endpoint{
		{http.MethodGet, "/projects/{projectId}/compositions", "List compositions", pageParams(), nil,
			lists("compositions", []view.Composition{}), with(pathProject, (*API).apiCompositions)},
		{http.MethodPost, "/projects/{projectId}/compositions",
			"Create a composition: 202 and a job whose result is its URL. One of that name is replaced and stays as NAME@{1}", nil,
			CompositionRequest{}, map[int]any{http.StatusAccepted: JobAnswer{}}, taking(pathProject, (*API).apiCompose)},
		{http.MethodPost, "/projects/{projectId}/compositions/preview",
			"Preview a composition without writing or calling a model", nil,
			CompositionRequest{}, answers(view.Composed{}), taking(pathProject, (*API).apiComposePreview)},
		{http.MethodGet, "/compositions/{compositionId}", "Get composition details, by id or name",
			[]param{{"format", "string", "md or jsonl: only the content"}}, nil, answers(view.Composition{}),
			with(pathComposition, (*API).apiComposition)},
		{http.MethodDelete, "/compositions/{compositionId}", "Delete a composition: hide it",
			[]param{{"force", "boolean", "even if it is used"}}, nil, answers(removed("")),
			with(pathComposition, (*API).remove)},
	}
}

// A CompositionRequest is the request for a composition, with the strategy that divides its budget.
type CompositionRequest struct {
	Name       string             `json:"name"`
	Components []ComponentRequest `json:"components"`
	Budget     int                `json:"totalTokenBudget"`
	// the format that the client downloads afterwards: md, jsonl or both
	Format   string `json:"outputFormat,omitempty"`
	Strategy string `json:"allocationStrategy,omitempty"` // equal, proportional, recency or inverse-recency
}

// A ComponentRequest is a part: an existing version, or with "auto" or settings a version that fits.
type ComponentRequest struct {
	SessionID  string               `json:"sessionId"`
	VersionID  string               `json:"versionId,omitempty"`
	Tokens     int                  `json:"tokenAllocation,omitempty"`
	Recompress *CompressionSettings `json:"recompressSettings,omitempty"`
}

// MaxParts is the maximum number of parts in a request for a composition.
const MaxParts = 200

func (s *API) apiCompositions(c *call, p state.Project) (reply, error) {
	st, err := trust.Outline(c, s.Memory.DB, p.ID)
	if err != nil {
		return reply{}, err
	}
	return paged(c, "compositions", st.Named(), func(x *records.Composition) string { return x.Name },
		func(x *records.Composition) (view.Composition, error) { return s.compositionView(c, p, x) })
}

func (s *API) compositionView(ctx context.Context, p state.Project, x *records.Composition) (view.Composition, error) {
	all, err := view.CompositionsOf(ctx, s.Memory.DB, p, []*records.Composition{x})
	if err != nil {
		return view.Composition{}, err
	}
	return all[0], nil
}

// ComposeRequest converts a request to the options of package derive.
func (s *API) ComposeRequest(ctx context.Context, p state.Project, in CompositionRequest,
	dryRun bool) (derive.ComposeRequest, error) {
	out := derive.ComposeRequest{Project: p, Name: in.Name, Budget: in.Budget, DryRun: dryRun}
	if err := versioncmd.CheckName(in.Name); err != nil {
		return out, err
	}
	if in.Budget < 1 || in.Budget > maxNumber || len(in.Components) == 0 || len(in.Components) > MaxParts {
		return out, BadRequest(fmt.Sprintf("a composition has a totalTokenBudget from 1 and 1 to %d components", MaxParts))
	}
	switch in.Format {
	case "", "md", "markdown", "jsonl", "both":
	default:
		return out, BadRequest("outputFormat is md, jsonl or both")
	}
	if in.Strategy == "" {
		in.Strategy = "equal"
	}
	var err error
	if out.Strategy, err = compose.ParseStrategy(in.Strategy); err != nil {
		return out, BadRequest(err.Error())
	}
	engines := map[string]CompressionSettings{}
	for _, c := range in.Components {
		part, err := s.part(ctx, p, c, dryRun)
		if err != nil {
			return out, err
		}
		if c.Recompress != nil {
			engines[part.Rev.Session.ID] = *c.Recompress
		}
		out.Parts = append(out.Parts, part)
	}
	if err := derive.CheckParts(out.Parts); err != nil {
		return out, err
	}
	out.Engine = func(ctx context.Context, part state.Rev) (version.Summarizer, error) {
		part.Kind, part.Version = state.IsSession, nil
		set := engines[part.Session.ID]
		return s.Engine(ctx, part, set.Engine, set.Model)
	}
	return out, nil
}

// part resolves a component. One with settings of its own is compressed first; in a preview it stays a session.
func (s *API) part(ctx context.Context, p state.Project, c ComponentRequest, dryRun bool) (derive.ComposePart, error) {
	if c.Tokens < 0 || c.Tokens > maxNumber {
		return derive.ComposePart{}, BadRequest("tokenAllocation is a whole number from 0")
	}
	out := derive.ComposePart{Share: c.Tokens}
	var err error
	if c.VersionID != "" && c.VersionID != "auto" && c.Recompress == nil {
		if c.VersionID == compose.Original {
			if out.Rev, err = s.Session(ctx, c.SessionID); err == nil {
				out.Rev, err = s.resolve(ctx, s.ScopeOf(p), out.Rev.Session.ID+":original")
			}
			return out, err
		}
		out.Rev, err = s.Version(ctx, c.SessionID, c.VersionID)
		return out, err
	}
	if out.Rev, err = s.Session(ctx, c.SessionID); err != nil || c.Recompress == nil {
		return out, err
	}
	if err = s.checkSettings(ctx, out.Rev, *c.Recompress); err != nil {
		return out, err // before a job begins
	}
	if dryRun || !c.Recompress.sized() {
		out.Recompress = true
		return out, nil
	}
	done, err := s.Compress(ctx, out.Rev, *c.Recompress, false)
	if err != nil {
		return out, err
	}
	out.Rev, err = revision.RevOf(ctx, s.Memory.DB, done.Project, done.Version, nil)
	return out, err
}

// checkSettings returns an error if a session cannot be compressed with these settings.
func (s *API) checkSettings(ctx context.Context, rev state.Rev, in CompressionSettings) error {
	if _, err := s.settings(in); err != nil {
		return err
	}
	_, err := s.Engine(ctx, rev, in.Engine, in.Model)
	return err
}

func (s *API) apiCompose(c *call, p state.Project, in CompositionRequest) (reply, error) {
	if _, err := s.ComposeRequest(c, p, in, true); err != nil { // reports errors before the job starts
		return reply{}, err
	}
	st, err := trust.Outline(c, s.Memory.DB, p.ID)
	if err != nil {
		return reply{}, err
	}
	what := "compose " + in.Name
	if st.Composition(in.Name) != nil {
		what += ", which replaces the composition of that name; that stays as " + in.Name + "@{1}"
	}
	j := s.Jobs.Start(what, func(ctx context.Context) (string, error) {
		done, err := s.Compose(ctx, p, in)
		if err != nil {
			return "", err
		}
		return Prefix + "/compositions/" + compose.ID(done.Composition.Derivation.Output), nil
	})
	return reply{http.StatusAccepted, j}, nil
}

// Compose creates the composition of a request.
func (s *API) Compose(ctx context.Context, p state.Project, in CompositionRequest) (derive.ComposeResult, error) {
	req, err := s.ComposeRequest(ctx, p, in, false)
	if err != nil {
		return derive.ComposeResult{}, err
	}
	return derive.Compose(ctx, s.Memory.DB, req)
}

func (s *API) apiComposePreview(c *call, p state.Project, in CompositionRequest) (reply, error) {
	return result(s.PreviewComposition(c, p, in))
}

// PreviewComposition plans a composition. It writes nothing and calls no model.
func (s *API) PreviewComposition(ctx context.Context, p state.Project,
	in CompositionRequest) (view.Composed, error) {
	req, err := s.ComposeRequest(ctx, p, in, true)
	if err != nil {
		return view.Composed{}, err
	}
	done, err := derive.Compose(ctx, s.Memory.DB, req)
	if err != nil {
		return view.Composed{}, err
	}
	return view.ComposedOf(req, done), nil
}

func (s *API) apiComposition(c *call, rev state.Rev) (reply, error) {
	if format := c.r.URL.Query().Get("format"); format != "" {
		return reply{}, s.Write(c, c.w, rev, format, rev.Composition.Name)
	}
	text, err := provenance.Markdown(c, s.Memory.DB, rev)
	if err != nil {
		return reply{}, err
	}
	out, err := s.compositionView(c, rev.Project, rev.Composition)
	out.Content = text
	return result(out, err)
}
