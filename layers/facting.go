package layers

import (
	"context"

	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/refs"
)

// Facts returns all that was established in the sessions of a project.
func (m *Memory) Facts(ctx context.Context, p refs.Project) (*facts.Set, error) {
	records, err := m.upper(ctx, p)
	if err != nil {
		return nil, err
	}
	return foldFacts(records)
}

func foldFacts(records []upperRecord) (*facts.Set, error) {
	var mine []facts.Record
	for _, r := range records {
		mine = append(mine, facts.Record{Kind: r.Kind, Device: r.Stamp.Device, Body: r.Body})
	}
	return facts.Fold(mine)
}
