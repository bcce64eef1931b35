// Package lineage records how derived objects were made.
//
// A derivation is a pure step: the same [Recipe] on the same inputs makes the same output. Its [Key]
// is known before the work is done, so finished work is found and not done again, exactly as a build
// cache finds the output of an action. A recipe holds the resolved plan (kept spans, bounds of tiers,
// budget, tokenizer), never the flags or the day it was asked on. What a model answered is not part of
// a key: a [Derivation] names it as witnesses, and replaying them gives the same bytes.
package lineage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/memvcs/mem/objects"
)

var (
	// ErrCycle says that an object was made, over some steps, from itself.
	ErrCycle = errors.New("lineage has a cycle")
	// ErrParams says that the parameters of a recipe are not one JSON value.
	ErrParams = errors.New("recipe parameters are not JSON")
)

// A Recipe says how an object was made.
type Recipe struct {
	Step    string          `json:"step"`    // "refine", "redact", "compress", "compose"
	Version int             `json:"version"` // of the step: raised when its output changes
	Params  json.RawMessage `json:"params"`  // compact JSON of the step's plan
}

// NewRecipe returns the recipe of a step with the given plan, which is marshalled as JSON. The plan
// must be made of structs, slices and scalars, so that its JSON is always the same.
func NewRecipe(step string, version int, plan any) (Recipe, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(plan); err != nil {
		return Recipe{}, fmt.Errorf("recipe of %s: %w: %w", step, ErrParams, err)
	}
	return Recipe{Step: step, Version: version, Params: bytes.TrimSpace(b.Bytes())}, nil
}

// A Key names a derivation before it has run.
type Key objects.Hash

// String returns k as 64 hexadecimal digits.
func (k Key) String() string { return objects.Hash(k).String() }

// MarshalText returns what String returns.
func (k Key) MarshalText() ([]byte, error) { return objects.Hash(k).MarshalText() }

// UnmarshalText reads what MarshalText wrote.
func (k *Key) UnmarshalText(b []byte) error { return (*objects.Hash)(k).UnmarshalText(b) }

// Key returns the key of r applied to inputs, in order: BLAKE3 of the lines "mem key 1", step,
// version, params and the inputs' names.
func (r Recipe) Key(inputs ...objects.Hash) Key {
	b := fmt.Appendf(nil, "mem key 1\n%s\n%d\n%s\n", r.Step, r.Version, r.Params)
	for _, in := range inputs {
		b = append(append(b, in.String()...), '\n')
	}
	return Key(objects.Sum(b))
}

// A Derivation is the provenance of one object.
type Derivation struct {
	Output    objects.Hash   `json:"output"`
	Inputs    []objects.Hash `json:"inputs"`
	Recipe    Recipe         `json:"recipe"`
	Witnesses []objects.Hash `json:"witnesses,omitempty"` // requests and answers of a model, in order
}

// Key returns the key under which d is found.
func (d Derivation) Key() Key { return d.Recipe.Key(d.Inputs...) }

// A Graph is what was made of what. The zero value is empty.
type Graph struct {
	inputs map[objects.Hash][]objects.Hash // of everything that made an object
}

// Add puts d into the graph.
func (g *Graph) Add(d Derivation) {
	if g.inputs == nil {
		g.inputs = map[objects.Hash][]objects.Hash{}
	}
	g.inputs[d.Output] = append(g.inputs[d.Output], d.Inputs...)
}

// Check returns an error that wraps [ErrCycle] if an object is its own ancestor.
func (g *Graph) Check() error {
	const inWork, done = 1, 2
	state := map[objects.Hash]int{}
	type frame struct {
		h    objects.Hash
		left []objects.Hash
	}
	for _, start := range slices.SortedFunc(maps.Keys(g.inputs), objects.Hash.Compare) {
		stack := []frame{{start, g.inputs[start]}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if state[top.h] == 0 {
				state[top.h] = inWork
			}
			if len(top.left) == 0 || state[top.h] == done {
				state[top.h] = done
				stack = stack[:len(stack)-1]
				continue
			}
			next := top.left[0]
			top.left = top.left[1:]
			switch state[next] {
			case inWork:
				return fmt.Errorf("%s is made from itself: %w", next, ErrCycle)
			case 0:
				stack = append(stack, frame{next, g.inputs[next]})
			}
		}
	}
	return nil
}
