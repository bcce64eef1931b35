package records

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/tier"
	"github.com/memvcs/mem/objects"
)

// A ComposePlan has the parameters of a composition's recipe.
type ComposePlan struct {
	Name    string   `json:"name"`
	Budget  int      `json:"budget"`
	Counter string   `json:"counter"`
	Parts   []string `json:"parts"` // session:label of each input

	Without [][][2]int `json:"without,omitempty"` // by part: messages whose tool calls are left out of a whole session
	After   []int      `json:"after,omitempty"`   // by part: messages up to this one are left out of a whole session
}

// Without returns the messages whose tool calls part i of a composition leaves out.
func (c *Composition) Without(i int) [][2]int {
	if c.Tier == "" {
		var plan ComposePlan
		if json.Unmarshal(c.Derivation.Recipe.Params, &plan) == nil && i < len(plan.Without) {
			return plan.Without[i]
		}
		return nil
	}
	if plan, err := c.SummaryPlan(); err == nil && plan.Parts[i].Base != nil {
		return plan.Parts[i].Base.Without
	}
	return nil
}

// After returns the message up to which part i of a composition leaves out a whole session, 0 for none.
func (c *Composition) After(i int) int {
	var plan ComposePlan
	if c.Tier == "" && json.Unmarshal(c.Derivation.Recipe.Params, &plan) == nil && i < len(plan.After) {
		return plan.After[i]
	}
	return 0
}

// A SummaryPlan has the parameters of a summary. The sessions and facts in it decide whether the summary is current.
type SummaryPlan struct {
	Tier    string        `json:"tier"`
	Period  string        `json:"period"`
	Asked   int           `json:"asked"` // tokens; Budget may be more, for pinned text
	Budget  int           `json:"budget"`
	Counter string        `json:"counter"`
	Parts   []SummaryPart `json:"parts"`
	Left    []SummaryPart `json:"left,omitempty"` // sessions that did not fit
	Facts   objects.Hash  `json:"facts,omitzero"` // the input after those of the parts
}

// A SummaryPart is a session in a summary.
type SummaryPart struct {
	Session  string         `json:"session"`
	Label    string         `json:"label"`
	Original objects.Hash   `json:"original"`       // name of the session's clean stream
	Base     *compress.Plan `json:"base,omitempty"` // of an original: its compression
	Cut      *tier.Cut      `json:"cut,omitempty"`
}

// Of returns the sessions and facts of a summary as text, to compare two plans.
func (p SummaryPlan) Of() string {
	var ids []string
	for _, part := range append(slices.Clone(p.Parts), p.Left...) {
		ids = append(ids, part.Session+" "+part.Original.String())
	}
	slices.Sort(ids)
	return fmt.Sprintln(p.Tier, p.Period, p.Asked, p.Facts, strings.Join(ids, "\n"))
}

// SummaryPlan decodes the parameters of a summary. There is a cut for each part of the record.
func (c *Composition) SummaryPlan() (SummaryPlan, error) {
	var p SummaryPlan
	err := json.Unmarshal(c.Derivation.Recipe.Params, &p)
	switch {
	case err != nil:
	case len(p.Parts) != len(c.Parts):
		err = fmt.Errorf("%d parts in its recipe, %d in its record", len(p.Parts), len(c.Parts))
	case slices.ContainsFunc(p.Parts, func(x SummaryPart) bool { return x.Cut == nil }):
		err = errors.New("a part without a cut")
	default:
		err = Bound(&p)
	}
	if err != nil {
		return p, fmt.Errorf("recipe of %s: %w", c.Name, err)
	}
	return p, nil
}
