package records

import (
	"cmp"
	"time"

	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/refs"
)

// CostBody is the cost of one answer of a model: the body of a "cost" record. The ledger is in the home lane, so
// that one read returns the cost of a day in all projects.
type CostBody struct {
	Project refs.Project  `json:"project"`
	Session string        `json:"session"`
	Engine  string        `json:"engine"` // Summarizer.ID
	Model   string        `json:"model"`  // its own name
	Usage   engines.Usage `json:"usage"`
}

// A Cost is the cost of the answers of one model for one session on one day.
type Cost struct {
	Day      string // in UTC, as in 2026-01-20
	Project  refs.Project
	Session  string
	Engine   string
	Model    string
	Requests int
	Usage    engines.Usage
}

// Dated returns the cost of one answer at t.
func (b CostBody) Dated(t time.Time) Cost {
	return Cost{DayOf(t), b.Project, b.Session, b.Engine, b.Model, 1, b.Usage}
}

// DayOf returns the day of t in UTC.
func DayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Kind returns c without its numbers. Costs of one kind are added up.
func (c Cost) Kind() Cost {
	c.Requests, c.Usage = 0, engines.Usage{}
	return c
}

// Compare orders costs by day. Costs of one kind are equal.
func (c Cost) Compare(o Cost) int {
	return cmp.Or(cmp.Compare(c.Day, o.Day), cmp.Compare(c.Project, o.Project), cmp.Compare(c.Session, o.Session),
		cmp.Compare(c.Engine, o.Engine), cmp.Compare(c.Model, o.Model))
}
