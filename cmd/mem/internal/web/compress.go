package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// A compressBody is the form of a new compression, with a preview.
type compressBody struct {
	Name     string
	Session  *state.Session
	Form     url.Values
	Tiers    []tierRow
	Presets  []string
	Versions []versionRow
	Engines  []string
	Engine   string // default, from the settings
	Preview  *compressPreview
	Problem  *api.Problem
	Distance int // current distance of the session
}

// A tierRow is one row of the tier editor.
type tierRow struct{ End, Ratio, Level string }

// A compressPreview is the preview in the form.
type compressPreview struct {
	derive.CompressResult
	Sum       string // calculation of the threshold, for a single tier
	Threshold int
	Shortfall string // that it is much smaller than asked, and why; or ""
}

// defaultForm returns the initial values of the form.
func defaultForm(preset string) url.Values {
	return url.Values{"mode": {"uniform"}, "ratio": {"30"}, "level": {"aggressive"}, "preset": {preset},
		"keepit": {"decay"}, "distance": {""}, "skip": {"0"}}
}

func (s *Server) compressForm(ctx context.Context, rev state.Rev, form url.Values) (compressBody, error) {
	conf, err := s.Settings()
	if err != nil {
		return compressBody{}, err
	}
	b := compressBody{Name: rev.Session.ID, Session: rev.Session, Form: defaultForm(conf.String("defaults.compressionPreset")),
		Presets: planning.Presets[:], Engines: versioncmd.EngineNames(), Engine: conf.String("engine")}
	for k, v := range form {
		if k != "part" {
			b.Form[k] = v
		}
	}
	b.Tiers = tierRows(b.Form)
	if b.Versions, err = s.versionRows(ctx, rev); err != nil {
		return b, err
	}
	p, err := derive.Pressure(ctx, s.Memory.DB, rev, 1, nil, 0)
	b.Distance = p.Distance
	return b, err
}

// tierRows returns the rows of the editor: those of the form, or by default the preset "standard", and an empty row.
func tierRows(f url.Values) []tierRow {
	var rows []tierRow
	for i := range f["end"] {
		if i < len(f["tier-ratio"]) && i < len(f["tier-level"]) && strings.TrimSpace(f["end"][i]) != "" {
			rows = append(rows, tierRow{f["end"][i], f["tier-ratio"][i], f["tier-level"][i]})
		}
	}
	if len(rows) == 0 {
		tiers, err := planning.Preset("standard")
		if err != nil {
			return nil
		}
		for _, t := range tiers {
			rows = append(rows, tierRow{strconv.Itoa(t.End), strconv.Itoa(t.Ratio), t.Level.String()})
		}
	}
	return append(rows, tierRow{})
}

// settingsOf parses the form.
func settingsOf(f url.Values) (api.CompressionSettings, error) {
	out := api.CompressionSettings{Mode: f.Get("mode"), Keepit: f.Get("keepit"), Engine: f.Get("engine"),
		Model: strings.TrimSpace(f.Get("model")), Since: f.Get("since")}
	for name, to := range map[string]*int{"distance": &out.Distance, "skip": &out.Skip, "tokens": &out.Tokens} {
		if text := strings.TrimSpace(f.Get(name)); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 {
				return out, api.BadRequest(name + " is a whole number from 0")
			}
			*to = n
		}
	}
	if out.Mode == "uniform" {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(f.Get("ratio")), ":1"))
		if err != nil || n < 1 {
			return out, api.BadRequest("the ratio is a whole number from 1")
		}
		out.Ratio, out.Aggressiveness = n, f.Get("level")
		return out, nil
	}
	out.Mode, out.Preset = "tiered", f.Get("preset")
	if out.Preset != "custom" {
		return out, nil
	}
	for _, row := range tierRows(f) {
		if row.End == "" {
			continue
		}
		t, err := planning.ParseTier(fmt.Sprintf("%s:%s:%s", row.End, row.Ratio, row.Level))
		if err != nil {
			return out, api.BadRequest(err.Error())
		}
		out.Tiers = append(out.Tiers, records.RecipeTier{End: t.End, Ratio: t.Ratio, Aggressiveness: t.Level.String()})
	}
	return out, nil
}

func (s *Server) compressScreen(_ http.ResponseWriter, r *http.Request) (string, page, error) {
	return s.compressPage(r.Context(), r.PathValue("session"), r.URL.Query())
}

// compressPage shows the form with its preview, or with the error of the form.
func (s *Server) compressPage(ctx context.Context, id string, form url.Values) (string, page, error) {
	rev, p, err := s.sessionPage(ctx, id, "Create version")
	if err != nil {
		return "", page{}, err
	}
	b, err := s.compressForm(ctx, rev, form)
	if err != nil {
		return "", page{}, err
	}
	in, err := settingsOf(b.Form)
	var done derive.CompressResult
	if err == nil {
		done, err = s.Compress(ctx, rev, in, true)
	}
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return "", page{}, err
		}
		b.Problem = s.ProblemOf(err)
	} else {
		b.Preview = previewOf(done)
	}
	p.Body = b
	return "compress", p, nil
}

func previewOf(d derive.CompressResult) *compressPreview {
	out := &compressPreview{CompressResult: d}
	if d.Existed || len(d.Segments) > 0 { // its size is known
		out.Shortfall = strings.NewReplacer("-r ", "ratio ", "-a ", "aggressiveness ").Replace(versioncmd.Shortfall(d))
	}
	if len(d.Plan.Tiers) == 1 && len(d.Fates) > 0 && planning.KeepitMode(d.Version.Settings.Keepit) == planning.Decay {
		out.Sum, out.Threshold = d.Fates[0].Pressure.String(), d.Fates[0].Threshold
	}
	return out
}

// createCompression compresses a session. A compression that calls a model runs as a job.
func (s *Server) createCompression(w http.ResponseWriter, r *http.Request, rev state.Rev) (string, page, error) {
	ctx := r.Context()
	in, err := settingsOf(r.PostForm)
	if err != nil {
		return "", page{}, err
	}
	long, err := s.CallsModel(ctx, rev, in)
	if err != nil {
		return "", page{}, err
	}
	work := func(ctx context.Context) (string, error) {
		done, err := s.Compress(ctx, rev, in, false)
		if err != nil {
			return "", err
		}
		return "/s/" + rev.Session.ID + "/v/" + done.Version.Name(), nil
	}
	if long {
		return redirect(w, r, "/jobs/"+s.Jobs.Start("compress "+records.ShortID(rev.Session.ID), work).ID)
	}
	to, err := work(ctx)
	return s.changed(w, r, err, to)
}

// jobScreen shows a job, or redirects to its result.
func (s *Server) jobScreen(w http.ResponseWriter, r *http.Request) (string, page, error) {
	a, err := s.Jobs.Find(r.PathValue("job"))
	if err != nil {
		return "", page{}, err
	}
	if a.State == "done" && !strings.HasPrefix(a.Result, api.Prefix) {
		return redirect(w, r, a.Result)
	}
	if a.State == "running" {
		w.Header().Set("Refresh", "2") // works without JavaScript
	}
	return "job", page{Title: a.What, Body: a}, nil
}

func (s *Server) cancelJob(w http.ResponseWriter, r *http.Request) (string, page, error) {
	one, err := s.Jobs.Cancel(r.Context(), r.PathValue("job"))
	if err != nil {
		return "", page{}, err
	}
	return redirect(w, r, "/jobs/"+one.ID)
}
