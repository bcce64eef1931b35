package records

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/tier"
	"github.com/memvcs/mem/objects"
)

// ComposePlan is the parameters of a composition's recipe.
type ComposePlan struct {
	Name    string   `json:"name"`
	Budget  int      `json:"budget"`
	Counter string   `json:"counter"`
	Parts   []string `json:"parts"` // session:label of each input

	Without [][][2]int `json:"without,omitempty"` // of each part: messages whose calls of tools a whole session is without
}

// Without returns the messages that part i of a composition leaves out.
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

// A summaryPlan is the parameters of a summary. Which sessions and facts it is of decides whether it is current.
type SummaryPlan struct {
	Tier    string        `json:"tier"`
	Period  string        `json:"period"`
	Asked   int           `json:"asked"`  // tokens; the budget of the composition may be more, for pinned texts
	Budget  int           `json:"budget"` //
	Counter string        `json:"counter"`
	Parts   []SummaryPart `json:"parts"`
	Left    []SummaryPart `json:"left,omitempty"` // sessions that had no room, without cuts
	Facts   objects.Hash  `json:"facts,omitzero"` // the input behind those of the parts
}

type SummaryPart struct {
	Session  string         `json:"session"`
	Label    string         `json:"label"`
	Original objects.Hash   `json:"original"`       // the session as it was
	Base     *compress.Plan `json:"base,omitempty"` // of an original: how it became segments
	Cut      *tier.Cut      `json:"cut,omitempty"`
}

// Of returns what a summary is of, to compare.
func (p SummaryPlan) Of() string {
	var ids []string
	for _, part := range append(slices.Clone(p.Parts), p.Left...) {
		ids = append(ids, part.Session+" "+part.Original.String())
	}
	slices.Sort(ids)
	return fmt.Sprintln(p.Tier, p.Period, p.Asked, p.Facts, strings.Join(ids, "\n"))
}

// SummaryPlan reads the parameters of a summary.
func (c *Composition) SummaryPlan() (SummaryPlan, error) {
	var p SummaryPlan
	err := json.Unmarshal(c.Derivation.Recipe.Params, &p)
	if err == nil && len(p.Parts) != len(c.Parts) {
		err = fmt.Errorf("%d parts in its recipe, %d in its record", len(p.Parts), len(c.Parts))
	}
	if err != nil {
		return p, fmt.Errorf("recipe of %s: %w", c.Name, err)
	}
	return p, nil
}
