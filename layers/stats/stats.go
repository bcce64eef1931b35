package stats

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// Of returns the figures of some projects together. Months are in the time zone. With storage, what the packs take is
// added up from all commits, and the tokens of every session are counted; otherwise those of [capture.CountAtOnce] bytes
// more.
func Of(ctx context.Context, db *state.DB, projects []state.Project, zone *time.Location, storage bool) (Stats, error) {
	out := empty()
	if len(projects) == 1 {
		out.Project, out.Name = string(projects[0].ID), projects[0].Name
	}
	var ids []refs.Project
	for _, p := range projects {
		ids = append(ids, p.ID)
	}
	states := make([]*state.State, len(projects))
	made := map[objects.Hash]string{}
	for i, p := range projects {
		var err error
		if states[i], err = trust.State(ctx, db, p.ID); err != nil {
			return out, err
		}
		kindsOf(states[i], made)
	}
	used, err := &used{}, error(nil)
	if storage {
		if used, err = usage(ctx, db, ids, made, zone); err != nil {
			return out, err
		}
	}
	left := int64(capture.CountAtOnce)
	if storage {
		left = math.MaxInt64
	}
	for i, p := range projects {
		left = capture.CountMissing(ctx, db, p.ID, left)
		st := states[i]
		for _, s := range st.Sessions {
			if s.Parent() != "" && s.Shown() {
				out.Subagents++
			}
		}
		known := capture.KnownTokens(db, p.ID)
		for _, s := range st.Recent() {
			n, counted := markers.Tokens(db, s.Now(), known)
			if !counted {
				n = -1
			}
			out.addSession(s, n, zone)
			if err := out.addVersions(st, s, used, p); err != nil {
				return out, err
			}
		}
	}
	if storage {
		if err := addStorage(db, &out, projects, used); err != nil {
			return out, err
		}
	}
	if out.Costs, err = costs(ctx, db, ids); err != nil {
		return out, err
	}
	out.sort()
	return out, nil
}

// ratioBands returns the upper bounds of the bands of ratios, and their names.
func ratioBands() ([]float64, []string) {
	return []float64{5, 10, 20, 40, math.Inf(1)},
		[]string{"up to 5:1", "5 to 10:1", "10 to 20:1", "20 to 40:1", "above 40:1"}
}

// empty returns Stats whose JSON has no null.
func empty() Stats {
	out := Stats{Weights: []Weight{}, Months: []Month{}, Ratios: []Ratio{}, Costs: []Cost{}, Hooks: []Hook{},
		Handovers: []Handover{},
		Largest:   []Size{}}
	out.Storage = Storage{Kinds: []KindStorage{}, Caches: []CacheStorage{}, Projects: []ProjectStorage{},
		Sessions: []SessionStorage{},
		Versions: []VersionStorage{}}
	_, names := ratioBands()
	for _, n := range names {
		out.Ratios = append(out.Ratios, Ratio{Ratio: n})
	}
	return out
}

func (out *Stats) month(name string) *Month {
	i := slices.IndexFunc(out.Months, func(m Month) bool { return m.Month == name })
	if i < 0 {
		i = len(out.Months)
		out.Months = append(out.Months, Month{Month: name})
	}
	return &out.Months[i]
}

const monthForm = "2006-01"

// addSession adds a session of n tokens; -1 if they are not known.
func (out *Stats) addSession(s *state.Session, n int, zone *time.Location) {
	now := s.Now()
	last := now.Scan.Last
	if last.IsZero() { // no message has a time
		last = now.Time
	}
	month := out.month(last.In(zone).Format(monthForm))
	month.Sessions++
	month.Messages += now.Scan.Messages
	out.Sessions++
	out.Messages += now.Scan.Messages
	out.Bytes += now.Size
	out.Markers += len(s.Markers())
	if n >= 0 {
		month.Tokens += n
		out.Tokens += n
		out.Counted++
	}
	out.Largest = append(out.Largest, Size{Session: s.ID, Title: s.Title(), Bytes: now.Size})
}

// addVersions adds the versions of a session, and the storage of the session and its versions.
func (out *Stats) addVersions(st *state.State, s *state.Session, used *used, p state.Project) error {
	stored := used.session(s)
	out.Largest[len(out.Largest)-1].Stored = stored
	row := SessionStorage{Session: s.ID, Project: string(p.ID), Title: s.Title(), Bytes: s.Now().Size, Stored: stored}
	bounds, _ := ratioBands()
	for _, v := range st.VersionsOf(s.ID) {
		i := slices.IndexFunc(bounds, func(b float64) bool { return v.Ratio <= b })
		out.Ratios[i].Versions++
		out.Ratios[i].Tokens += v.TokensOut
		out.Versions++
		out.Kept += v.Preserved
		out.Lost += v.Summarised
		if err := out.addFates(v); err != nil {
			return err
		}
		n := used.take(v.Derivation.Output)
		row.Versions += n
		out.Storage.Versions = append(out.Storage.Versions, VersionStorage{s.ID, v.Name(), v.TokensOut, v.Ratio, n})
	}
	out.Storage.Sessions = append(out.Storage.Sessions, row)
	return nil
}

// addFates counts the markers that a version kept and summarised, by weight.
func (out *Stats) addFates(v *records.Version) error {
	if v.Preserved+v.Summarised == 0 {
		return nil
	}
	plan, err := v.Plan()
	if err != nil {
		return err
	}
	at := func(mark planning.Span) *Weight {
		name := mark.Weight.String()
		i := slices.IndexFunc(out.Weights, func(w Weight) bool { return w.Weight == name })
		if i < 0 {
			i = len(out.Weights)
			out.Weights = append(out.Weights, Weight{Weight: name})
		}
		return &out.Weights[i]
	}
	for _, k := range plan.Kept {
		at(k).Kept++
	}
	for _, k := range plan.Summarised {
		at(k).Lost++
	}
	return nil
}

// costs adds up the usage of models for some projects, by model.
func costs(ctx context.Context, db *state.DB, projects []refs.Project) ([]Cost, error) {
	all, err := derive.Costs(ctx, db)
	out := []Cost{}
	for _, c := range all {
		if !slices.Contains(projects, c.Project) {
			continue
		}
		i := slices.IndexFunc(out, func(o Cost) bool { return o.Model == c.Model })
		if i < 0 {
			i = len(out)
			out = append(out, Cost{Model: c.Model})
		}
		out[i].Requests += c.Requests
		out[i].Input += c.Usage.Input
		out[i].Output += c.Usage.Output
		out[i].Dollars += float64(c.Usage.Micros) / 1e6
	}
	slices.SortFunc(out, func(a, b Cost) int { return cmp.Compare(a.Model, b.Model) })
	return out, err
}

func (out *Stats) sort() {
	slices.SortFunc(out.Months, func(a, b Month) int { return cmp.Compare(a.Month, b.Month) })
	slices.SortFunc(out.Weights, func(a, b Weight) int { return cmp.Compare(b.Weight, a.Weight) })
	slices.SortFunc(out.Largest, func(a, b Size) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Session, b.Session))
	})
	out.Largest = out.Largest[:min(10, len(out.Largest))]
	slices.SortStableFunc(out.Storage.Sessions, func(a, b SessionStorage) int {
		return cmp.Or(cmp.Compare(b.Stored+b.Versions, a.Stored+a.Versions), cmp.Compare(a.Session, b.Session))
	})
	slices.SortStableFunc(out.Storage.Versions, func(a, b VersionStorage) int {
		return cmp.Or(cmp.Compare(b.Stored, a.Stored), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Version, b.Version))
	})
}
