package lineage

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/memvcs/mem/objects"
)

func name(s string) objects.Hash { return objects.Sum([]byte(s)) }

func TestKey(t *testing.T) {
	type plan struct {
		Budget int    `json:"budget"`
		Text   string `json:"text"`
	}
	r, err := NewRecipe("compress", 1, plan{100, "a<b"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(r.Params), `{"budget":100,"text":"a<b"}`; got != want {
		t.Errorf("Params = %s, want %s", got, want)
	}
	key := r.Key(name("x"), name("y"))
	other, _ := NewRecipe("compress", 1, plan{101, "a<b"})
	newer := r
	newer.Version = 2
	for what, k := range map[string]Key{
		"order": r.Key(name("y"), name("x")), "fewer": r.Key(name("x")), "params": other.Key(name("x"), name("y")), "version": newer.Key(name("x"), name("y")),
	} {
		if k == key {
			t.Errorf("a change of %s leaves the key as it is", what)
		}
	}
	if again := r.Key(name("x"), name("y")); again != key {
		t.Errorf("Key = %s, then %s", key, again)
	}
	if _, err := NewRecipe("x", 1, math.Inf(1)); !errors.Is(err, ErrParams) {
		t.Errorf("NewRecipe(Inf): %v, want ErrParams", err)
	}
}

func TestDerivationJSON(t *testing.T) {
	d := Derivation{Output: name("o"), Inputs: []objects.Hash{name("i")}, Recipe: Recipe{"s", 1, json.RawMessage(`{}`)}}
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var got Derivation
	if err := json.Unmarshal(b, &got); err != nil || got.Key() != d.Key() || got.Output != d.Output {
		t.Errorf("round trip of %s = %+v, %v", b, got, err)
	}
}

func TestGraph(t *testing.T) {
	var g Graph
	edge := func(out string, in ...string) {
		d := Derivation{Output: name(out)}
		for _, i := range in {
			d.Inputs = append(d.Inputs, name(i))
		}
		g.Add(d)
	}
	edge("v1", "s1")
	edge("v2", "v1")
	edge("c", "v1", "v2", "s2")
	edge("d", "c", "c")
	if err := g.Check(); err != nil {
		t.Errorf("Check of an acyclic graph: %v", err)
	}
	edge("s1", "d")
	if err := g.Check(); !errors.Is(err, ErrCycle) {
		t.Errorf("Check of a cycle: %v, want ErrCycle", err)
	}
}

func TestGraphOfEqualBytes(t *testing.T) {
	type edges [][]string // output, inputs
	for _, c := range []struct {
		name    string
		edges   edges
		sources []string
		cycle   bool
	}{
		{"a derivation returns its input", edges{{"x", "s"}, {"x", "x"}}, nil, false},
		{"and another one does", edges{{"x", "s"}, {"x", "x"}, {"x", "x"}, {"y", "x"}, {"c", "x", "y"}}, nil, false},
		{"two derivations return each other's input", edges{{"x", "s"}, {"y", "x"}, {"x", "y"}}, nil, false},
		{"the first of them is in no lane here", edges{{"x", "x"}, {"y", "x"}}, nil, false},
		{"an output was captured as a session", edges{{"v", "s"}, {"c", "v"}, {"s", "c"}}, []string{"s"}, false},
		{"a text needs itself", edges{{"x", "y"}, {"y", "x"}}, nil, true},
		{"one of its inputs does", edges{{"v", "s"}, {"x", "v", "y"}, {"y", "v", "x"}}, nil, true},
		{"two ways, and each needs it", edges{{"x", "y"}, {"x", "z"}, {"y", "x"}, {"z", "x"}}, nil, true},
	} {
		var g Graph
		for _, e := range c.edges {
			d := Derivation{Output: name(e[0])}
			for _, in := range e[1:] {
				d.Inputs = append(d.Inputs, name(in))
			}
			g.Add(d)
		}
		for _, s := range c.sources {
			g.AddSource(name(s))
		}
		if err := g.Check(); errors.Is(err, ErrCycle) != c.cycle {
			t.Errorf("%s: Check = %v, want a cycle: %v", c.name, err, c.cycle)
		}
	}
}
