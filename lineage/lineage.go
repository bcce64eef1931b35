// Package lineage records how derived objects were made.
//
// A derivation is a pure step: the same [Recipe] with the same inputs gives the same output. Its [Key] is known before
// the work is done, so finished work is found and not repeated, as in a build cache. A recipe contains the resolved
// plan (kept spans, bounds of tiers, budget, tokenizer), never flags or dates. Responses of a model are not part of a
// key: a [Derivation] names them as witnesses, and replaying them gives the same bytes.
package lineage

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/memvcs/mem/objects"
)

var (
	// ErrCycle means that every known way to make an object needs the object itself.
	ErrCycle = errors.New("lineage has a cycle")
	// ErrParams says that the parameters of a recipe are not one JSON value.
	ErrParams = errors.New("recipe parameters are not JSON")
)

// A Recipe is a step with its parameters.
type Recipe struct {
	Step    string          `json:"step"`    // "refine", "redact", "compress", "compose"
	Version int             `json:"version"` // of the step: raised when its output changes
	Params  json.RawMessage `json:"params"`  // compact JSON of the step's plan
}

// NewRecipe returns the recipe of a step with the given plan, which is marshalled as JSON. The plan
// must be made of structs, slices and scalars, so that its JSON is always the same.
func NewRecipe(step string, version int, plan any) (Recipe, error) {
	params, err := objects.EncodeJSON(plan)
	if err != nil {
		return Recipe{}, fmt.Errorf("recipe of %s: %w: %w", step, ErrParams, err)
	}
	return Recipe{Step: step, Version: version, Params: params}, nil
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

// A Graph is the set of known derivations. Each derivation is a node of its own: two derivations may have the same
// output, and one may have its own input as output, since a step that changes nothing returns the bytes it was given.
// The zero value is empty.
type Graph struct {
	nodes   []Derivation
	sources map[objects.Hash]bool
}

// Add adds d to the graph.
func (g *Graph) Add(d Derivation) { g.nodes = append(g.nodes, d) }

// AddSource adds an object that was captured, not derived.
func (g *Graph) AddSource(h objects.Hash) {
	if g.sources == nil {
		g.sources = map[objects.Hash]bool{}
	}
	g.sources[h] = true
}

// Check returns an error that wraps [ErrCycle] if an object cannot have been made at all: every derivation of it needs,
// over some steps, the object itself. An object that no derivation made counts as a source.
func (g *Graph) Check() error {
	waiting := make([]int, len(g.nodes)) // distinct inputs of a node that are not made yet
	users := map[objects.Hash][]int{}
	outputs := map[objects.Hash]bool{}
	for _, d := range g.nodes {
		outputs[d.Output] = true
	}
	var ready []objects.Hash
	made := map[objects.Hash]bool{}
	for i, d := range g.nodes {
		inputs := distinct(d.Inputs, d.Output)
		waiting[i] = len(inputs)
		for _, in := range inputs {
			users[in] = append(users[in], i)
			if (!outputs[in] || g.sources[in]) && !made[in] {
				made[in], ready = true, append(ready, in)
			}
		}
		if len(inputs) == 0 && !made[d.Output] {
			made[d.Output], ready = true, append(ready, d.Output)
		}
	}
	for len(ready) > 0 {
		h := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, i := range users[h] {
			if waiting[i]--; waiting[i] == 0 && !made[g.nodes[i].Output] {
				made[g.nodes[i].Output], ready = true, append(ready, g.nodes[i].Output)
			}
		}
	}
	for _, h := range slices.SortedFunc(maps.Keys(outputs), objects.Hash.Compare) {
		if !made[h] && !g.sources[h] {
			return fmt.Errorf("%s is made from itself: %w", h, ErrCycle)
		}
	}
	return nil
}

// distinct returns each of inputs once, without own: a derivation that returns its input says nothing about where the
// input comes from.
func distinct(inputs []objects.Hash, own objects.Hash) []objects.Hash {
	out := slices.SortedFunc(slices.Values(inputs), objects.Hash.Compare)
	return slices.DeleteFunc(slices.Compact(out), func(h objects.Hash) bool { return h == own })
}
