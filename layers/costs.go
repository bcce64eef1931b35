package layers

import (
	"cmp"
	"context"
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
}

func (e *CapError) Error() string {
	return fmt.Sprintf("%s is %s: today %s were spent, and the next request may take %s", e.Setting, e.Cap, e.Spent, e.Need)
}

func (e *CapError) Unwrap() error { return engines.ErrCap }

// A meter keeps the ledger for one compression.
type meter struct {
	m       *Memory
	caps    Caps
	project refs.Project
	session string
	engine  string
}

// Allow holds what today has cost, and what the request may cost at most, against the caps.
func (k *meter) Allow(ctx context.Context, u engines.Usage) (int64, error) {
	today, err := k.m.today(ctx)
	if err != nil {
		return 0, err
	}
	if k.caps.Tokens >= 0 && today.Tokens()+u.Tokens() > k.caps.Tokens {
		return 0, &CapError{"llm.maxTokensPerDay", tokens.Commas(k.caps.Tokens), tokens.Commas(today.Tokens()), tokens.Commas(u.Tokens())}
	}
	if k.caps.Micros < 0 {
		return -1, nil
	}
	left := k.caps.Micros - today.Micros
	if u.Micros > left {
		return 0, &CapError{"llm.maxUSDPerDay", engines.FormatDollars(k.caps.Micros), engines.FormatDollars(today.Micros), engines.FormatDollars(u.Micros)}
	}
	return left, nil
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

// Spend writes an answer into the ledger at once: a run that is killed has cost what it has cost.
func (k *meter) Spend(ctx context.Context, model string, u engines.Usage) error {
	message := fmt.Sprintf("cost %s  %s tokens, %s", ShortID(k.session), tokens.Format(u.Tokens()), engines.FormatDollars(u.Micros))
	return k.m.repo.Update(ctx, refs.Home, message, func(tx *refs.Tx) error {
		tx.Trailer("Op", "cost")
		tx.Trailer("Session", k.session)
		_, err := tx.Add(kindCost, costBody{k.project, k.session, k.engine, model, u})
		return err
	})
}
