package derive

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// Costs returns the ledger of all devices: what models have cost, oldest day first.
func (m Ops) Costs(ctx context.Context) ([]records.Cost, error) {
	st, err := trust.On(m.DB).Outline(ctx, refs.Home)
	if err != nil {
		return nil, err
	}
	return slices.Clone(st.Costs), nil
}

// A meter keeps the ledger for one compression.
type Meter struct {
	M       Ops
	Caps    state.Caps
	Project refs.Project
	Session string
	Engine  string
	hold    *refs.Hold // of the request under way
}

// Allow holds what today has cost, what requests under way may cost, in whatever process, and what this one may cost
// at most against the caps. What it allows counts as under way until Spend.
func (k *Meter) Allow(ctx context.Context, u engines.Usage) (limit int64, err error) {
	k.hold, err = k.M.Refs.Hold(ctx, func(others [][]byte) ([]byte, error) {
		today, err := k.M.Today(ctx)
		if err != nil {
			return nil, err
		}
		var held engines.Usage
		for _, note := range others {
			var h engines.Usage
			if err := json.Unmarshal(note, &h); err != nil {
				return nil, fmt.Errorf("cost of pending requests: %w", err)
			}
			held = held.Add(h)
		}
		if limit, err = k.Caps.Limit(today, held, u); err != nil {
			return nil, err
		}
		u.Micros = max(u.Micros, limit)
		return json.Marshal(u)
	})
	return limit, err
}

// Today is what models have cost since midnight.
func (m Ops) Today(ctx context.Context) (sum engines.Usage, err error) {
	st, err := trust.On(m.DB).Outline(ctx, refs.Home)
	if err != nil {
		return sum, err
	}
	day := records.DayOf(m.Opts.Now())
	for _, c := range st.Costs {
		if c.Day == day {
			sum = sum.Add(c.Usage)
		}
	}
	return sum, nil
}

// Spend writes the cost of an answer into the ledger at once, so that a killed run is counted. A request that is
// killed itself is not in the ledger, because its cost is unknown.
func (k *Meter) Spend(ctx context.Context, model string, u engines.Usage) error {
	settle := func() error {
		if u == (engines.Usage{}) {
			return nil
		}
		message := fmt.Sprintf("cost %s  %s tokens, %s", records.ShortID(k.Session), tokens.Format(u.Tokens()),
			engines.FormatDollars(u.Micros))
		return k.M.Refs.Update(ctx, refs.Home, message, func(tx *refs.Tx) error {
			tx.Trailer("Op", "cost")
			tx.Trailer("Session", k.Session)
			_, err := tx.Add(records.KindCost, records.CostBody{Project: k.Project, Session: k.Session, Engine: k.Engine,
				Model: model, Usage: u})
			return err
		})
	}
	h := k.hold
	if k.hold = nil; h == nil {
		return settle()
	}
	return h.Release(ctx, settle)
}
