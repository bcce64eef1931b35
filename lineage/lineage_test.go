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
