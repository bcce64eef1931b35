package view

import (
	"cmp"
	"context"
	"slices"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// topicsMax is the number of topics of a session in a manifest.
const topicsMax = 5

// topics returns the topics of the exchanges of each session, the most frequent first, without those of revoked
// sources.
func topics(ctx context.Context, db *state.DB, p refs.Project, st *state.State) (map[string][]string, error) {
	records, err := db.Upper(ctx, p)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	known, err := trust.KnownFacts(ctx, db, p, records)
	if err != nil {
		return nil, err
	}
	counts := map[string]map[string]int{}
	for _, x := range known.Exchanges {
		if x.Topic == "" || x.Revoked != "" {
			continue
		}
		if counts[x.Session] == nil {
			counts[x.Session] = map[string]int{}
		}
		counts[x.Session][x.Topic]++
	}
	out := map[string][]string{}
	for session, of := range counts {
		var list []string
		for topic := range of {
			list = append(list, topic)
		}
		slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
		out[session] = list[:min(topicsMax, len(list))]
	}
	return out, nil
}
