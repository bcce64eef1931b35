package state_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// malformed are bodies, by kind, that once made every command on a project fail, or worse.
func malformed() map[string][]string {
	hash := `"` + string(make64('a')) + `"`
	derivation := `{"output":` + hash + `,"inputs":[` + hash + `],"recipe":{"step":"x","version":1,"params":{}}}`
	return map[string][]string{
		records.KindKeepit: {`{"session":"s","weight":"nan"}`, `{"session":"s","weight":"0.8","start":5,"end":1}`, `{"session":"s","message":-1,"weight":"0.8"}`},
		records.KindSession: {
			`{"session":"s","original":` + hash + `,"scan":{"first":"nonsense"}}`, `{"session":"../victim/precious","original":` + hash + `,"scan":{}}`,
			`{"session":"s","original":` + hash + `,"scan":{},"files":[{"name":"../../.bashrc","hash":` + hash + `,"size":1}]}`, `{"session":"s","scan":{}}`,
			`{"session":"s","original":` + hash + `,"segments":-1,"scan":{}}`, `{"session":"s","parent":"..","original":` + hash + `,"scan":{}}`,
		},
		records.KindVersion: {`{"session":"s","label":"v001/../x","derivation":` + derivation + `}`, `{"session":"s","label":"v001","derivation":{}}`,
			`{"session":"s","label":"v001","tokens_in":-1,"derivation":` + derivation + `}`},
		records.KindComposition: {
			`{"name":"x","parts":[{"project":"0123456789abcdef","session":"s"},{"project":"0123456789abcdef","session":"s"}],"derivation":` + derivation + `}`,
			`{"name":"../x","parts":[],"derivation":` + derivation + `}`,
		},
		records.KindSet: {`{"target":"session/..","field":"deleted","value":true}`, `{"target":"session/s","field":"deleted","value":"yes"}`},
		records.KindName: {`{"target":"session/..","field":"title","name":"x"}`, `{"target":"session/s","field":"title","name":"two\nlines"}`,
			`{"target":"session/s","field":"tag","name":"v001"}`},
		records.KindRelation: {`{"session":"..","to":"0123456789abcdef","reason":"x"}`,
			`{"session":"s","to":"shop","reason":"x"}`,
			`{"session":"s","to":"0123456789abcdef"}`, `{"session":"s","to":"0123456789abcdef","reason":"two\nlines"}`},
		records.KindUse:       {`{"by":"s","at":"later","targets":[]}`, `{"by":"s","targets":["version/x"]}`},
		records.KindRevoke:    {`{"source":"session","name":"../x","revoked":true}`},
		records.KindPurge:     {`{"sessions":["x"]}`, `{"labels":[{"session":"` + string(make64('a'))[:32] + `","device":"` + string(make64('a'))[:32] + `","last":4611686018427387904}]}`},
		facts.KindExchange:    {`{"session":"s","facts":[{"trust":"god"}]}`, `{"session":"s","from":3,"to":1}`, `{"session":"s","original":"x"}`},
		facts.KindDistilled:   {`{"session":"s","witnesses":["x"]}`, `{"session":""}`},
		facts.KindJudgement:   {`{"fact":"x","says":"removed"}`},
		concepts.Kind:         {`{"label":"c1"}`, `{"label":"../c"}`},
		concepts.KindAssign:   {`{"member":"session/../x"}`},
		concepts.KindSet:      {`{"concept":"x"}`},
		permanent.Kind:        {`{"trust":"god"}`, `{"words":[{"session":"..","message":1}]}`},
		permanent.KindAct:     {`{"rule":"","act":"void"}`, `{"rule":"x","act":"void","word":{"session":"/"}}`},
		permanent.KindReflect: {`{"sessions":["../x"]}`},
	}
}

func make64(c byte) []byte {
	b := make([]byte, 64)
	for i := range b {
		b[i] = c
	}
	return b
}

// TestMalformedBodies looks at bodies that are none, of every kind.
func TestMalformedBodies(t *testing.T) {
	t.Parallel()
	for kind := range records.Bodies() {
		for _, body := range append(malformed()[kind], `[]`, `null`, `"x"`, `7`, `{"session":{},"device":[],"project":1,"from":{},"target":1,"rule":1,"fact":1,"label":1,"concept":1,"by":1,"sessions":1,"name":{},"source":1,"member":1}`) {
			if err := records.CheckBody(kind, json.RawMessage(body)); err == nil {
				t.Errorf("%s: %s is taken", kind, body)
			}
		}
	}
	if err := records.CheckBody("of a later mem", json.RawMessage(`[]`)); err != nil {
		t.Error(err)
	}
}

// FuzzBodies takes any JSON for a body of any kind: what the decoder of the kind takes, no fold fails at.
func FuzzBodies(f *testing.F) {
	kinds := slices.Sorted(maps.Keys(records.Bodies()))
	for i, kind := range kinds {
		for _, body := range malformed()[kind] {
			f.Add(i, body)
		}
	}
	for i := range kinds {
		f.Add(i, `{}`)
	}
	f.Add(0, `{"name":"shop","identity":"path /w","later":[1]}`)
	f.Fuzz(func(t *testing.T, i int, body string) {
		kind := kinds[(i%len(kinds)+len(kinds))%len(kinds)]
		if !json.Valid([]byte(body)) || records.CheckBody(kind, json.RawMessage(body)) != nil {
			return
		}
		r := refs.Record{Kind: kind, Device: "d1", Lamport: 1, Time: time.Unix(1, 0), Body: json.RawMessage(body)}
		foldAll(t, []refs.Record{r, r})
	})
}

// foldAll folds records in every way there is.
func foldAll(t *testing.T, all []refs.Record) {
	t.Helper()
	st := state.NewState("0123456789abcdef")
	var upper []refs.Record
	for _, r := range all {
		if err := st.Apply(r); err != nil {
			t.Error(err)
		}
		if slices.Contains(state.UpperKinds, r.Kind) {
			upper = append(upper, r)
		}
	}
	st.Finish("d0")
	if !state.Decode(state.Encode(state.Version, st), state.Version, &state.State{}) {
		t.Error("the state cannot be cached")
	}
	if _, err := json.Marshal(st); err != nil {
		t.Error(err)
	}
	var said []facts.Record
	for _, r := range all {
		said = append(said, facts.Record{Kind: r.Kind, Device: r.Device, Body: r.Body})
	}
	known, err := facts.Fold(said)
	if err != nil {
		t.Error(err)
		return
	}
	if _, err := state.PurgesIn(all); err != nil {
		t.Error(err)
	}
	if _, err := concepts.Fold(state.Statements(upper), known); err != nil {
		t.Error(err)
	}
	if _, err := permanent.Fold(state.Statements(upper), known, func(string) string { return "" }); err != nil {
		t.Error(err)
	}
}

// apply gives a state a record of a device.
func apply(t *testing.T, st *state.State, kind string, lamport uint64, body any) refs.Record {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := refs.Record{ID: objects.Sum(append([]byte{byte(lamport)}, b...)), Kind: kind, Device: "d0", Lamport: lamport, Time: time.Unix(int64(lamport), 0), Body: b}
	if err := st.Apply(r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCells gives records that can be undone to a timeline: each one's slot has the value that the record set, and the record that sets
// the value from before an operation is the one that undoes it.
func TestCells(t *testing.T) {
	t.Parallel()
	removed := func(v bool) records.SetBody {
		return records.SetBody{Target: "session/6ecd8c99-4036-403d-bf84-cf8400f67836", Field: "deleted", Value: v}
	}
	half, err := keepit.ParseWeight("0.50")
	if err != nil {
		t.Fatal(err)
	}
	added := records.Override{Session: "s", Message: 3, End: 4, Weight: half, Added: true}
	text := func(s string) records.Note { return records.Note{Dir: "d", File: "notes.md", Text: s} }
	for _, tt := range []struct {
		kind         string
		first, then  any
		slot, what   string
		value, empty string // of the first record, and before it
	}{
		{records.KindSet, removed(true), removed(false), "set/session/6ecd8c99-4036-403d-bf84-cf8400f67836", "6ecd8c99", "deleted", "there"},
		{records.KindNote, text("a"), text("b"), "note/d0/d/notes.md", "notes.md", "text a", "deleted"},
		{records.KindNote, records.Note{Dir: "d", File: "x.md", Deleted: true}, records.Note{Dir: "d", File: "x.md"}, "note/d0/d/x.md", "x.md", "deleted", "deleted"},
		{records.KindKeepit, added, added, fmt.Sprintf("keepit/%v", records.Override{Session: "s", Message: 3, End: 4, Added: true}), "marker of s#3", "0.50", "removed"},
	} {
		st, line := state.NewState("0123456789abcdef"), state.Timeline{}
		st.Index()
		var cells []state.Cell
		for i, body := range []any{tt.first, tt.then} {
			all, err := st.Cells(apply(t, st, tt.kind, uint64(1+i), body))
			if err != nil || len(all) != 1 {
				t.Fatalf("%s: %v, %v", tt.slot, all, err)
			}
			cells = append(cells, line.Add(all[0]))
		}
		c := cells[0]
		if c.Slot != tt.slot || c.What != tt.what || c.Value != tt.value || c.Empty.Value != tt.empty {
			t.Errorf("%s (%s) is %q, before %q, want %s (%s), %q, %q", c.Slot, c.What, c.Value, c.Empty.Value, tt.slot, tt.what, tt.value, tt.empty)
		}
		if last := line.Last(tt.slot); last.Stamp.Lamport != 2 {
			t.Errorf("%s: the last cell is of %d", tt.slot, last.Stamp.Lamport)
		}
		of := func(lamport uint64) func(records.Stamp) bool {
			return func(s records.Stamp) bool { return s.Lamport == lamport }
		}
		if _, ok := line.Before(tt.slot, of(1)); ok {
			t.Errorf("%s has a value before its first record", tt.slot)
		}
		if was, ok := line.Before(tt.slot, of(2)); !ok || was.Value != tt.value {
			t.Errorf("%s was %q, %v, want %q", tt.slot, was.Value, ok, tt.value)
		}
		if was := line.Restore(c); was.Kind != tt.kind {
			t.Errorf("%s is restored by a %s", tt.slot, was.Kind)
		}
	}
}

// TestCellOfComposition removes compositions: what removed one once is undone, so that its earlier states come back too; what was
// removed twice is stored again.
func TestCellOfComposition(t *testing.T) {
	t.Parallel()
	gone := records.SetBody{Target: "composition/ctx", Field: "deleted", Value: true}
	back := gone
	back.Value = false
	sum := objects.Sum([]byte("x"))
	made := map[string]any{"name": "ctx", "parts": []any{}, "derivation": map[string]any{"output": sum, "inputs": []any{sum},
		"recipe": map[string]any{"step": "compose", "version": 1, "params": map[string]any{}}}}
	for _, tt := range []struct {
		bodies []any
		kind   string // of the record that restores the composition
	}{
		{[]any{made, gone}, records.KindSet},
		{[]any{made, gone, back, gone}, records.KindComposition},
		{[]any{made}, records.KindComposition},
	} {
		st, line := state.NewState("0123456789abcdef"), state.Timeline{}
		st.Index()
		var first state.Cell
		for i, body := range tt.bodies {
			kind := records.KindSet
			if i == 0 {
				kind = records.KindComposition
			}
			all, err := st.Cells(apply(t, st, kind, uint64(1+i), body))
			if err != nil || len(all) != 1 {
				t.Fatalf("%v, %v", all, err)
			}
			if c := line.Add(all[0]); i == 0 {
				first = c
			} else if i == 2 && c.Value != first.Value {
				t.Errorf("restored, the composition is %q, want %q", c.Value, first.Value)
			}
		}
		if got := line.Restore(first); got.Kind != tt.kind {
			t.Errorf("after %d records a %s restores it, want a %s", len(tt.bodies), got.Kind, tt.kind)
		}
	}
}
