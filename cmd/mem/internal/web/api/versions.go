package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
)

func versionEndpoints() []endpoint {
	made := map[int]any{http.StatusOK: view.Version{}, http.StatusCreated: view.Version{},
		http.StatusAccepted: JobAnswer{}}
	return []endpoint{
		{http.MethodGet, "/sessions/{sessionId}/versions", "List compression versions", nil, nil,
			answers(view.Versions{}), with(pathSession, (*API).apiVersions)},
		{http.MethodPost, "/sessions/{sessionId}/versions",
			"Create a compression: 201; 200 if the recipe was used before; 202 and a job if it needs a model", nil,
			CompressionSettings{}, made, taking(pathSession, (*API).apiCompress)},
		{http.MethodPost, "/sessions/{sessionId}/versions/preview",
			"Preview a compression without writing or calling a model", nil,
			CompressionSettings{}, answers(previewOf(derive.CompressResult{Version: &records.Version{}})),
			taking(pathSession, (*API).apiCompressPreview)},
		{http.MethodDelete, "/sessions/{sessionId}/versions/{versionId}", "Delete a version: hide it",
			[]param{{"force", "boolean", "even if compositions use it"}}, nil, answers(removed("")),
			with(pathVersion, (*API).remove)},
		{http.MethodGet, "/sessions/{sessionId}/versions/{versionId}", "Get version content",
			[]param{{"format", "string", "md, jsonl or text: only the content"}}, nil, answers(view.Version{}),
			with(pathVersion, (*API).apiVersion)},
		{http.MethodPost, "/decay/preview", "Preview decay for given settings", nil, DecayRequest{}, answers(view.DecayPreview{}),
			(*API).apiDecay},
	}
}

// A CompressionSettings is the settings of a compression.
type CompressionSettings struct {
	Mode           string               `json:"mode,omitempty"`
	Ratio          int                  `json:"compactionRatio,omitempty"`
	Aggressiveness string               `json:"aggressiveness,omitempty"`
	Preset         string               `json:"tierPreset,omitempty"`
	Tiers          []records.RecipeTier `json:"customTiers,omitempty"`
	Model          string               `json:"model,omitempty"`
	Engine         string               `json:"engine,omitempty"`
	Tokens         int                  `json:"tokens,omitempty"`
	Skip           int                  `json:"skipFirstMessages,omitempty"`
	Keepit         string               `json:"keepitMode,omitempty"`
	Distance       int                  `json:"sessionDistance,omitempty"`
	Since          string               `json:"since,omitempty"` // label of a version: compress only later messages
}

// sized reports whether the settings determine the size of the version.
func (in CompressionSettings) sized() bool {
	return in.Ratio > 0 || in.Tokens > 0 || in.Preset != "" || len(in.Tiers) > 0
}

// maxNumber is the maximum of numeric settings.
const maxNumber = 1_000_000_000

// settings converts a request to the options of package derive.
func (s *API) settings(in CompressionSettings) (planning.Settings, error) {
	out := planning.Settings{Ratio: in.Ratio, Tokens: in.Tokens, Preset: in.Preset, Skip: in.Skip,
		Keepit: planning.KeepitMode(in.Keepit), Distance: in.Distance}
	for _, n := range []int{in.Ratio, in.Tokens, in.Skip, in.Distance} {
		if n < 0 || n > maxNumber {
			return out, BadRequest("a number is negative or too large")
		}
	}
	switch in.Keepit {
	case "", string(planning.Decay), string(planning.PreserveAll), string(planning.Ignore):
	default:
		return out, BadRequest("keepitMode is decay, preserve-all or ignore")
	}
	switch in.Mode {
	case "":
	case "uniform":
		if in.Preset != "" || len(in.Tiers) > 0 {
			return out, BadRequest("the mode uniform has no tiers")
		}
	case "tiered":
		if in.Ratio != 0 || in.Aggressiveness != "" {
			return out, BadRequest("the mode tiered takes compactionRatio and aggressiveness in its tiers")
		}
		if in.Preset == "custom" {
			out.Preset = ""
		}
	default:
		return out, BadRequest("mode is uniform or tiered")
	}
	if in.Aggressiveness != "" {
		level, err := keepit.ParseLevel(in.Aggressiveness)
		if err != nil {
			return out, BadRequest(err.Error())
		}
		out.Level = &level
	}
	for _, t := range in.Tiers {
		level, err := keepit.ParseLevel(t.Aggressiveness)
		if err != nil {
			return out, BadRequest(err.Error())
		}
		out.Tiers = append(out.Tiers, planning.Tier{End: t.End, Ratio: t.Ratio, Level: level})
	}
	conf, err := s.Settings()
	if err != nil {
		return out, err
	}
	versioncmd.SetDefaults(conf, &out)
	return out, nil
}

// Compress compresses a session. A dry run calls no model.
func (s *API) Compress(ctx context.Context, rev state.Rev, in CompressionSettings,
	dryRun bool) (derive.CompressResult, error) {
	set, err := s.settings(in)
	if err != nil {
		return derive.CompressResult{}, err
	}
	if set.Engine, err = s.Engine(ctx, rev, in.Engine, in.Model); err != nil {
		return derive.CompressResult{}, err
	}
	if set.Engine == nil {
		set.Model = in.Model
	}
	if in.Since == "" {
		return derive.Compress(ctx, s.Memory.DB, rev, set, dryRun)
	}
	base, err := s.Version(ctx, rev.Session.ID, in.Since)
	if err != nil {
		return derive.CompressResult{}, err
	}
	return derive.CompressSince(ctx, s.Memory.DB, rev, base, set, dryRun)
}

// CallsModel reports whether the engine of a request calls a model, which may take long.
func (s *API) CallsModel(ctx context.Context, rev state.Rev, in CompressionSettings) (bool, error) {
	engine, err := s.Engine(ctx, rev, in.Engine, in.Model)
	return engine != nil, err
}

func (s *API) apiCompress(c *call, rev state.Rev, in CompressionSettings) (reply, error) {
	long, err := s.CallsModel(c, rev, in)
	if err != nil {
		return reply{}, err
	}
	if long {
		j := s.Jobs.Start("compress "+records.ShortID(rev.Session.ID), func(ctx context.Context) (string, error) {
			done, err := s.Compress(ctx, rev, in, false)
			if err != nil {
				return "", err
			}
			return Prefix + "/sessions/" + rev.Session.ID + "/versions/" + done.Version.Name(), nil
		})
		return reply{http.StatusAccepted, j}, nil
	}
	done, err := s.Compress(c, rev, in, false)
	if err != nil {
		return reply{}, err
	}
	s.Events.Changed()
	out, err := view.VersionOf(done.Version, nil)
	if done.Existed {
		return reply{http.StatusOK, out}, err
	}
	return reply{http.StatusCreated, out}, err
}

func (s *API) apiCompressPreview(c *call, rev state.Rev, in CompressionSettings) (reply, error) {
	done, err := s.Compress(c, rev, in, true)
	if err != nil {
		return reply{}, err
	}
	return ok(previewOf(done))
}

// previewOf describes the result of a compression before it is made.
func previewOf(d derive.CompressResult) app.Object {
	v, size, existing, skipped := d.Version, d.Plan.Budget, "", 0
	if d.Existed { // the same recipe made it before
		existing, size = v.Name(), v.TokensOut
	}
	for _, f := range d.Fates {
		if f.Skipped {
			skipped++
		}
	}
	return app.Object{"inputTokens", v.TokensIn, "inputMessages", v.MessagesIn, "estimatedTokens", size,
		"estimatedMessages", v.MessagesOut, "estimatedRatio", v.Ratio, "willPreserve", v.Preserved, "willSummarize", v.Summarised,
		"willSkip", skipped, "markers", view.FatesOf(d.Fates), "requests", d.Receipt.Requests,
		"estimatedDollars", float64(d.Receipt.Usage.Micros) / 1e6, "existingVersion,omitempty", existing}
}

func (s *API) apiVersions(c *call, rev state.Rev) (reply, error) {
	man, err := view.DetailsOf(c, s.Memory.DB, rev)
	return result(man.Versions(), err)
}

func (s *API) apiVersion(c *call, rev state.Rev) (reply, error) {
	if format := c.r.URL.Query().Get("format"); format != "" {
		return reply{}, s.Write(c, c.w, rev, format, rev.Version.FileName())
	}
	var b strings.Builder
	if err := checkout.Write(c, s.Memory.DB, rev, checkout.Markdown, &b); err != nil {
		return reply{}, err
	}
	v, err := s.versionOf(c, rev)
	v.Session, v.Content = rev.Session.ID, b.String()
	return result(v, err)
}

// versionOf returns a version with the compositions that contain it.
func (s *API) versionOf(ctx context.Context, rev state.Rev) (view.Version, error) {
	st, err := trust.Outline(ctx, s.Memory.DB, rev.Project.ID)
	if err != nil {
		return view.Version{}, err
	}
	return view.VersionOf(rev.Version, st.UsedBy(rev.Version))
}

// Write responds with the content only, as a file.
func (s *API) Write(ctx context.Context, w http.ResponseWriter, rev state.Rev, format, name string) error {
	kinds := map[string]string{"md": "text/markdown; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8",
		"text": "text/plain; charset=utf-8"}
	kind, ok := kinds[format]
	if !ok {
		return BadRequest("format is md, jsonl or text")
	}
	var b strings.Builder
	if err := checkout.Write(ctx, s.Memory.DB, rev, checkout.Format(format), &b); err != nil {
		return err
	}
	if format == "text" {
		format = "txt"
	}
	Download(w, kind, FileName(name)+"."+format)
	_, _ = w.Write([]byte(b.String())) // the client may have closed the connection
	return nil
}

// Download sets the headers of a file that the browser saves and does not show.
func Download(w http.ResponseWriter, kind, name string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

// FileName replaces the characters of a name that are unsafe in a file name.
func FileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r &&
			r <= 'Z') {
			return r
		}
		return '-'
	}, s)
}

// A DecayRequest is the request for a decay preview.
type DecayRequest struct {
	SessionID      string `json:"sessionId"`
	Ratio          int    `json:"compressionRatio"`
	Aggressiveness string `json:"aggressiveness"`
	Distance       int    `json:"sessionDistance"`
}

func (s *API) apiDecay(c *call) (reply, error) {
	var in DecayRequest
	if err := c.into(&in); err != nil {
		return reply{}, err
	}
	if in.Ratio < 1 || in.Ratio > maxNumber || in.Distance < 0 || in.Distance > maxNumber {
		return reply{},
			BadRequest("compressionRatio is a whole number from 1, sessionDistance from 1, or 0 for the distance of the session")
	}
	var level *keepit.Level
	if in.Aggressiveness != "" {
		l, err := keepit.ParseLevel(in.Aggressiveness)
		if err != nil {
			return reply{}, BadRequest(err.Error())
		}
		level = &l
	}
	rev, err := s.Session(c, in.SessionID)
	if err != nil {
		return reply{}, err
	}
	p, err := s.pressure(c, rev, in.Ratio, level, in.Distance)
	if err != nil {
		return reply{}, err
	}
	marks, err := markers.Keepits(c, s.Memory.DB, rev)
	if err != nil {
		return reply{}, err
	}
	out, _ := view.DecayOf(rev.Session, marks, p)
	return ok(out)
}

// pressure returns the pressure on the markers of a session, with the decay of the settings.
func (s *API) pressure(ctx context.Context, rev state.Rev, ratio int, level *keepit.Level,
	distance int) (keepit.Pressure, error) {
	p, err := derive.Pressure(ctx, s.Memory.DB, rev, ratio, level, distance)
	if err == nil {
		p.Decay, err = s.Decay()
	}
	return p, err
}
