package state

import (
	"fmt"

	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/tokens"
)

func (st *State) addCost(c records.Cost) {
	if st.costAt == nil {
		st.costAt = map[records.Cost]int{}
		for i, k := range st.Costs {
			st.costAt[k.Kind()] = i
		}
	}
	i, ok := st.costAt[c.Kind()]
	if !ok {
		i = len(st.Costs)
		st.Costs = append(st.Costs, c.Kind())
		st.costAt[c.Kind()] = i
	}
	k := &st.Costs[i]
	k.Requests, k.Usage = k.Requests+c.Requests, k.Usage.Add(c.Usage)
}

// A CapError reports a request that was not sent because of a cap. It wraps [engines.ErrCap].
type CapError struct {
	Setting     string // llm.maxTokensPerDay or llm.maxUSDPerDay
	Cap         string
	Spent, Need string
	Held        string // the possible cost of requests in progress; "" if there are none
}

func (e *CapError) Error() string {
	held := ""
	if e.Held != "" {
		held = fmt.Sprintf(", requests under way may take %s", e.Held)
	}
	return fmt.Sprintf("%s is %s: today %s were spent%s, and the next request may take %s", e.Setting, e.Cap, e.Spent,
		held, e.Need)
}

// Unwrap returns [engines.ErrCap].
func (e *CapError) Unwrap() error { return engines.ErrCap }

// slack is what a request may cost beyond twice the estimate, in millionths of a dollar: the additions of a client to a
// question are not known.
const slack = 50_000

// Limit returns the limit on the cost of a request in millionths of a dollar, less than zero for none. u is the
// estimate for the request, held that of requests in progress.
func (c Caps) Limit(today, held, u engines.Usage) (int64, error) {
	if c.Tokens >= 0 && today.Tokens()+held.Tokens()+u.Tokens() > c.Tokens {
		e := &CapError{Setting: "llm.maxTokensPerDay", Cap: tokens.Commas(c.Tokens), Spent: tokens.Commas(today.Tokens()),
			Need: tokens.Commas(u.Tokens())}
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
		e := &CapError{Setting: "llm.maxUSDPerDay", Cap: engines.FormatDollars(c.Micros),
			Spent: engines.FormatDollars(today.Micros), Need: engines.FormatDollars(u.Micros)}
		if held.Micros > 0 {
			e.Held = engines.FormatDollars(held.Micros)
		}
		return 0, e
	}
	return min(left, 2*u.Micros+slack), nil
}
