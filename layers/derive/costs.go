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

// Costs returns what models have cost on all devices, the oldest day first.
func Costs(ctx context.Context, db *state.DB) ([]records.Cost, error) {
	st, err := trust.Outline(ctx, db, refs.Home)
	if err != nil {
		return nil, err
	}
	return slices.Clone(st.Costs), nil
}

// A Meter records the costs of one compression. It implements [engines.Meter].
type Meter struct {
	M       *state.DB
	Caps    state.Caps
	Project refs.Project
	Session string
	Engine  string
	hold    *refs.Hold // of the request under way
}

// Allow checks the costs of today, of pending requests in all processes, and the maximum cost u of this request against
// the caps. A permitted request is pending until Spend.
func (k *Meter) Allow(ctx context.Context, u engines.Usage) (limit int64, err error) {
	k.hold, err = k.M.Refs.Hold(ctx, func(others [][]byte) ([]byte, error) {
		today, err := CostToday(ctx, k.M)
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

// CostToday returns what models have cost since midnight UTC.
func CostToday(ctx context.Context, db *state.DB) (sum engines.Usage, err error) {
	st, err := trust.Outline(ctx, db, refs.Home)
	if err != nil {
		return sum, err
	}
	day := records.DayOf(db.Opts.Now())
	for _, c := range st.Costs {
		if c.Day == day {
			sum = sum.Add(c.Usage)
		}
	}
	return sum, nil
}

// Spend records the cost of an answer at once, so that a killed run is counted. A killed request is not recorded,
// because its cost is unknown.
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
