package hooks

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/stats"
)

// Stats returns the figures of some projects together, with those of the hooks of the store in dir. Months are in the time
// zone. Storage is left out on request.
func Stats(ctx context.Context, db *state.DB, dir string, of []state.Project, zone *time.Location, storage bool) (stats.Stats, error) {
	out, err := stats.Of(ctx, db, of, zone, storage)
	if err != nil {
		return out, err
	}
	for _, t := range Timings(dir) {
		out.Hooks = append(out.Hooks, stats.Hook{Event: string(t.Event), Runs: t.Runs, Failed: t.Failed, P50: t.P50, P95: t.P95,
			Last: t.Last.UTC().Format(time.RFC3339)})
	}
	all, err := ReadHandovers(dir)
	sessions := map[string][]string{} // by event
	for _, h := range all {
		if !slices.ContainsFunc(of, func(p state.Project) bool { return string(p.ID) == h.Project }) {
			continue
		}
		event := string(h.Event)
		i := slices.IndexFunc(out.Handovers, func(x stats.Handover) bool { return x.Event == event })
		if i < 0 {
			i = len(out.Handovers)
			out.Handovers = append(out.Handovers, stats.Handover{Event: event})
		}
		x := &out.Handovers[i]
		x.Count++
		x.Characters += h.Units
		if !slices.Contains(sessions[event], h.Session) {
			sessions[event] = append(sessions[event], h.Session)
			x.Sessions++
		}
	}
	slices.SortFunc(out.Handovers, func(a, b stats.Handover) int { return cmp.Compare(a.Event, b.Event) })
	return out, err
}
