package records

import (
	"encoding/json"
	"fmt"

	"github.com/memvcs/mem/layers/planning"
)

// A ComposePlan has the parameters of a composition's recipe.
type ComposePlan struct {
	Name    string   `json:"name"`
	Budget  int      `json:"budget"`
	Counter string   `json:"counter"`
	Parts   []string `json:"parts"` // session:label of each input

	Without [][][2]int `json:"without,omitempty"` // by part: messages whose tool calls are left out of a whole session
	After   []int      `json:"after,omitempty"`   // by part: messages up to this one are left out of a whole session

	// Of the summary of a week or month.
	Asked   int             `json:"asked,omitempty"`   // tokens; Budget may be more, for pinned text
	Of      []string        `json:"of,omitempty"`      // its sessions and their originals, those without room too
	Digests []planning.Plan `json:"digests,omitempty"` // by part: how the session is compressed
}

// Plan decodes the parameters of the recipe.
func (c *Composition) Plan() (ComposePlan, error) {
	var p ComposePlan
	err := json.Unmarshal(c.Derivation.Recipe.Params, &p)
	if err == nil && c.Tier != "" && len(p.Digests) != len(c.Parts) {
		err = fmt.Errorf("%d parts in its recipe, %d in its record", len(p.Digests), len(c.Parts))
	}
	if err == nil {
		err = Bound(&p)
	}
	if err != nil {
		return p, fmt.Errorf("recipe of %s: %w", c.Name, err)
	}
	return p, nil
}

// Without returns the messages whose tool calls part i of a composition leaves out.
func (c *Composition) Without(i int) [][2]int {
	if plan, err := c.Plan(); err == nil && i < len(plan.Without) {
		return plan.Without[i]
	}
	return nil
}

// After returns the message up to which part i of a composition leaves out a whole session, 0 for none.
func (c *Composition) After(i int) int {
	if plan, err := c.Plan(); err == nil && i < len(plan.After) {
		return plan.After[i]
	}
	return 0
}
