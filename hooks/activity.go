package hooks

import (
	"cmp"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/stats"
	"github.com/memvcs/mem/refs"
)

// Activity returns what the hooks of the store in dir did: how their last runs did, and what they handed over
// to sessions of the projects, by event.
func Activity(dir string, projects []refs.Project) (runs []stats.Hook, handed []stats.Handover, err error) {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	for _, p := range Paces(dir) {
		runs = append(runs, stats.Hook{Event: string(p.Event), Runs: p.Runs, Failed: p.Failed, P50: ms(p.P50), P95: ms(p.P95),
			Last: p.Last.UTC().Format(time.RFC3339)})
	}
	all, err := ReadHanded(dir)
	given := map[string][]string{} // sessions by event
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
		if !slices.Contains(given[event], h.Session) {
			given[event] = append(given[event], h.Session)
			handed[i].Sessions++
		}
	}
	slices.SortFunc(handed, func(a, b stats.Handover) int { return cmp.Compare(a.Event, b.Event) })
	return runs, handed, err
}
