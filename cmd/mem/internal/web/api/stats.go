package api

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/state"
)

// A StatsAnswer is a project in numbers.
type StatsAnswer struct {
	Project  string       `json:"projectId"`
	Sessions int          `json:"sessions"`
	Messages int          `json:"messages"`
	Tokens   int          `json:"tokens"` // of the sessions whose tokens have been counted
	Counted  int          `json:"sessionsCounted"`
	Bytes    int64        `json:"bytes"`
	Versions int          `json:"versions"`
	Markers  int          `json:"keepitMarkers"`
	Kept     int          `json:"markersPreserved"` // by all versions together
	Lost     int          `json:"markersSummarized"`
	Months   []monthStats `json:"months"`
	Ratios   []ratioStats `json:"ratios"`
	Costs    []costStats  `json:"costs"`
	Largest  []sizeStats  `json:"largestSessions"`
	Storage  []kindStats  `json:"storage"`
	Hooks    []hookStats  `json:"hooks"` // of all projects: a hook serves each
}

// A monthStats is what was captured of one month.
type monthStats struct {
	Month    string `json:"month"`
	Sessions int    `json:"sessions"`
	Messages int    `json:"messages"`
	Tokens   int    `json:"tokens"`
}

// A ratioStats counts versions by how many times smaller they are.
type ratioStats struct {
	Ratio    string `json:"ratio"`
	Versions int    `json:"versions"`
	Tokens   int    `json:"tokens"`
}

// A costStats is what models took.
type costStats struct {
	Model    string  `json:"model"`
	Requests int     `json:"requests"`
	Input    int     `json:"inputTokens"`
	Output   int     `json:"outputTokens"`
	Dollars  float64 `json:"dollars"`
}

type sizeStats struct {
	Session string `json:"sessionId"`
	Title   string `json:"title"`
	Bytes   int64  `json:"bytes"`
	Stored  int64  `json:"storedBytes"`
}

// A kindStats is the room that one kind of content takes on disk.
type kindStats struct {
	Kind  string `json:"kind"`
	Blobs int    `json:"blobs"`
	Bytes int64  `json:"bytes"`
}

// A hookStats is how the last runs of the hooks of one event went.
type hookStats struct {
	Event  string  `json:"event"`
	Runs   int     `json:"runs"`
	Failed int     `json:"failed"`
	P50    float64 `json:"p50Milliseconds"`
	P95    float64 `json:"p95Milliseconds"`
}

func (s *API) apiStats(c *call) (reply, error) {
	p, err := s.projectOf(c, c.r)
	if err != nil {
		return reply{}, err
	}
	out, err := s.Stats(c, p)
	if err != nil {
		return reply{}, err
	}
	return ok(out)
}

// ratioBands are the upper bounds of the bands that versions are counted in, with their names.
func ratioBands() ([]float64, []string) {
	return []float64{5, 10, 20, 40, 1e18}, []string{"up to 5:1", "5 to 10:1", "10 to 20:1", "20 to 40:1", "above 40:1"}
}

// Stats counts what a project has, month by month and model by model.
func (s *API) Stats(ctx context.Context, p state.Project) (StatsAnswer, error) {
	st, err := s.Memory.Trusted().Outline(ctx, p.ID)
	if err != nil {
		return StatsAnswer{}, err
	}
	out := StatsAnswer{Project: string(p.ID), Months: []monthStats{}, Ratios: []ratioStats{}, Costs: []costStats{}, Largest: []sizeStats{},
		Storage: []kindStats{}, Hooks: []hookStats{}}
	bounds, names := ratioBands()
	for _, n := range names {
		out.Ratios = append(out.Ratios, ratioStats{Ratio: n})
	}
	for _, one := range st.Recent() {
		s.addSession(&out, st, one, p)
		for _, v := range st.OwnVersionsOf(one) {
			i := slices.IndexFunc(bounds, func(b float64) bool { return v.Ratio <= b })
			out.Ratios[i].Versions++
			out.Ratios[i].Tokens += v.TokensOut
			out.Versions++
			out.Kept += v.Preserved
			out.Lost += v.Summarised
		}
	}
	slices.SortFunc(out.Months, func(a, b monthStats) int { return cmp.Compare(a.Month, b.Month) })
	slices.SortFunc(out.Largest, func(a, b sizeStats) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Session, b.Session))
	})
	out.Largest = out.Largest[:min(10, len(out.Largest))]
	if out.Costs, err = s.costs(ctx, p); err != nil {
		return StatsAnswer{}, err
	}
	if err := s.addStorage(ctx, &out, p); err != nil {
		return StatsAnswer{}, err
	}
	hooks, err := s.Hooks()
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	for _, h := range hooks.Runs {
		out.Hooks = append(out.Hooks, hookStats{h.Event, h.Runs, h.Failed, ms(h.P50), ms(h.P95)})
	}
	return out, err
}

// addStorage fills in what the project takes on disk, by kind and for the largest sessions.
func (s *API) addStorage(ctx context.Context, out *StatsAnswer, p state.Project) error {
	stored, err := s.Memory.History().Storage(ctx, p.ID)
	for _, k := range stored.Kinds {
		out.Storage = append(out.Storage, kindStats{k.Kind, k.Blobs, k.Bytes})
	}
	for i := range out.Largest {
		out.Largest[i].Stored = stored.Sessions[out.Largest[i].Session]
	}
	return err
}

func (s *API) addSession(out *StatsAnswer, st *state.State, one *state.Session, p state.Project) {
	now := one.Now()
	n, counted := s.Memory.Capture().TokensOf(p.ID, one)
	month := now.Scan.Last.In(s.Now().Location()).Format("2006-01")
	i := slices.IndexFunc(out.Months, func(m monthStats) bool { return m.Month == month })
	if i < 0 {
		i = len(out.Months)
		out.Months = append(out.Months, monthStats{Month: month})
	}
	out.Months[i].Sessions++
	out.Months[i].Messages += now.Scan.Messages
	out.Sessions++
	out.Messages += now.Scan.Messages
	out.Bytes += now.Size
	out.Markers += len(one.Markers())
	if counted {
		out.Months[i].Tokens += n
		out.Tokens += n
		out.Counted++
	}
	out.Largest = append(out.Largest, sizeStats{Session: one.ID, Title: one.Title(), Bytes: now.Size})
}

// costs adds up what models took for a project, by model.
func (s *API) costs(ctx context.Context, p state.Project) ([]costStats, error) {
	all, err := s.Memory.Derive().Costs(ctx)
	out := []costStats{}
	for _, c := range all {
		if c.Project != p.ID {
			continue
		}
		i := slices.IndexFunc(out, func(o costStats) bool { return o.Model == c.Model })
		if i < 0 {
			i = len(out)
			out = append(out, costStats{Model: c.Model})
		}
		out[i].Requests += c.Requests
		out[i].Input += c.Usage.Input
		out[i].Output += c.Usage.Output
		out[i].Dollars += float64(c.Usage.Micros) / 1e6
	}
	slices.SortFunc(out, func(a, b costStats) int { return cmp.Compare(a.Model, b.Model) })
	return out, err
}
