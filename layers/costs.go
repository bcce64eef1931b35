package layers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/refs"
)

// costBody says what one answer of a model cost: the body of a "cost" record. The ledger lies in the home lane, so
// that one look there tells what a day has cost in all projects.
type costBody struct {
	Project refs.Project  `json:"project"`
	Session string        `json:"session"`
	Engine  string        `json:"engine"` // Summarizer.ID
	Model   string        `json:"model"`  // as it names itself
	Usage   engines.Usage `json:"usage"`
}

// A Cost is what the answers of one model for one session cost on one day.
type Cost struct {
	Day      string // in UTC, as in 2026-01-20
	Project  refs.Project
	Session  string
	Engine   string
	Model    string
	Requests int
	Usage    engines.Usage
}

func (b costBody) on(t time.Time) Cost {
	return Cost{dayOf(t), b.Project, b.Session, b.Engine, b.Model, 1, b.Usage}
}

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// kind is what costs that are added up have in common.
func (c Cost) kind() Cost {
	c.Requests, c.Usage = 0, engines.Usage{}
	return c
}

// compare orders costs by day; two of one kind are equal.
func (c Cost) compare(o Cost) int {
	return cmp.Or(cmp.Compare(c.Day, o.Day), cmp.Compare(c.Project, o.Project), cmp.Compare(c.Session, o.Session),
		cmp.Compare(c.Engine, o.Engine), cmp.Compare(c.Model, o.Model))
}

func (st *State) addCost(c Cost) {
	if st.costs == nil {
		st.costs = map[Cost]int{}
		for i, k := range st.Costs {
			st.costs[k.kind()] = i
		}
	}
	i, ok := st.costs[c.kind()]
	if !ok {
		i = len(st.Costs)
		st.Costs = append(st.Costs, c.kind())
		st.costs[c.kind()] = i
	}
	k := &st.Costs[i]
	k.Requests, k.Usage = k.Requests+c.Requests, k.Usage.Add(c.Usage)
}

// Costs returns the ledger of all devices: what models have cost, oldest day first.
func (m *Memory) Costs(ctx context.Context) ([]Cost, error) {
	st, err := m.Outline(ctx, refs.Home)
	if err != nil {
		return nil, err
	}
	return slices.Clone(st.Costs), nil
}

// Caps are what models may cost on one day, in UTC, on all devices that this one knows of. Less than zero is no cap.
type Caps struct {
	Tokens int
	Micros int64 // millionths of a dollar
}

// A CapError says that a request was not sent because of a cap. It wraps [engines.ErrCap].
type CapError struct {
	Setting     string // llm.maxTokensPerDay or llm.maxUSDPerDay
	Cap         string
	Spent, Need string
	Held        string // what requests under way may cost; empty if there are none
}

func (e *CapError) Error() string {
	held := ""
	if e.Held != "" {
		held = fmt.Sprintf(", requests under way may take %s", e.Held)
	}
	return fmt.Sprintf("%s is %s: today %s were spent%s, and the next request may take %s", e.Setting, e.Cap, e.Spent, held, e.Need)
}

func (e *CapError) Unwrap() error { return engines.ErrCap }

// A meter keeps the ledger for one compression.
type meter struct {
	m       *Memory
	caps    Caps
	project refs.Project
	session string
	engine  string
	hold    *refs.Hold // of the request under way
}

// Allow holds what today has cost, what requests under way may cost, in whatever process, and what this one may cost
// at most against the caps. What it allows counts as under way until Spend.
func (k *meter) Allow(ctx context.Context, u engines.Usage) (limit int64, err error) {
	k.hold, err = k.m.repo.Hold(ctx, func(others [][]byte) ([]byte, error) {
		today, err := k.m.today(ctx)
		if err != nil {
			return nil, err
		}
		var held engines.Usage
		for _, note := range others {
			var h engines.Usage
			if err := json.Unmarshal(note, &h); err != nil {
				return nil, fmt.Errorf("what a request under way may cost: %w", err)
			}
			held = held.Add(h)
		}
		if limit, err = k.caps.limit(today, held, u); err != nil {
			return nil, err
		}
		u.Micros = max(u.Micros, limit)
		return json.Marshal(u)
	})
	return limit, err
}

// slack is what a request may cost beyond twice what was foreseen, in millionths of a dollar: what a client adds to a
// question is not known.
const slack = 50_000

// limit returns how many millionths of a dollar a request may cost, less than zero for any number.
func (c Caps) limit(today, held, u engines.Usage) (int64, error) {
	if c.Tokens >= 0 && today.Tokens()+held.Tokens()+u.Tokens() > c.Tokens {
		e := &CapError{Setting: "llm.maxTokensPerDay", Cap: tokens.Commas(c.Tokens), Spent: tokens.Commas(today.Tokens()), Need: tokens.Commas(u.Tokens())}
		if held.Tokens() > 0 {
			e.Held = tokens.Commas(held.Tokens())
		}
		return 0, e
	}
	if c.Micros < 0 {
		return -1, nil
	}
	left := c.Micros - today.Micros - held.Micros
	if u.Micros > left {
		e := &CapError{Setting: "llm.maxUSDPerDay", Cap: engines.FormatDollars(c.Micros), Spent: engines.FormatDollars(today.Micros), Need: engines.FormatDollars(u.Micros)}
		if held.Micros > 0 {
			e.Held = engines.FormatDollars(held.Micros)
		}
		return 0, e
	}
	return min(left, 2*u.Micros+slack), nil
}

// today is what models have cost since midnight.
func (m *Memory) today(ctx context.Context) (sum engines.Usage, err error) {
	st, err := m.Outline(ctx, refs.Home)
	if err != nil {
		return sum, err
	}
	day := dayOf(m.opts.Now())
	for _, c := range st.Costs {
		if c.Day == day {
			sum = sum.Add(c.Usage)
		}
	}
	return sum, nil
}

// Spend writes an answer into the ledger at once: a run that is killed has cost what it has cost. A request that is
// killed itself is not in the ledger: nobody knows what it cost.
func (k *meter) Spend(ctx context.Context, model string, u engines.Usage) error {
	settle := func() error {
		if u == (engines.Usage{}) {
			return nil
		}
		message := fmt.Sprintf("cost %s  %s tokens, %s", ShortID(k.session), tokens.Format(u.Tokens()), engines.FormatDollars(u.Micros))
		return k.m.repo.Update(ctx, refs.Home, message, func(tx *refs.Tx) error {
			tx.Trailer("Op", "cost")
			tx.Trailer("Session", k.session)
			_, err := tx.Add(kindCost, costBody{k.project, k.session, k.engine, model, u})
			return err
		})
	}
	h := k.hold
	if k.hold = nil; h == nil {
		return settle()
	}
	return h.Release(ctx, settle)
}
