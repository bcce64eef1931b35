package hooks

import (
	"cmp"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/stats"
	"github.com/memvcs/mem/refs"
)

// Activity returns the timings of the hooks of the store in dir, and what they handed over to sessions of the projects,
// by event.
func Activity(dir string, projects []refs.Project) (runs []stats.Hook, handed []stats.Handover, err error) {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	for _, t := range Timings(dir) {
		runs = append(runs, stats.Hook{Event: string(t.Event), Runs: t.Runs, Failed: t.Failed, P50: ms(t.P50), P95: ms(t.P95),
			Last: t.Last.UTC().Format(time.RFC3339)})
	}
	all, err := ReadHandovers(dir)
	sessions := map[string][]string{} // by event
	for _, h := range all {
		if !slices.Contains(projects, refs.Project(h.Project)) {
			continue
		}
		event := string(h.Event)
		i := slices.IndexFunc(handed, func(x stats.Handover) bool { return x.Event == event })
		if i < 0 {
			i = len(handed)
			handed = append(handed, stats.Handover{Event: event})
		}
		handed[i].Count++
		handed[i].Characters += h.Units
		if !slices.Contains(sessions[event], h.Session) {
			sessions[event] = append(sessions[event], h.Session)
			handed[i].Sessions++
		}
	}
	slices.SortFunc(handed, func(a, b stats.Handover) int { return cmp.Compare(a.Event, b.Event) })
	return runs, handed, err
}
