package state_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

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
	st, b := state.NewState("0123456789abcdef"), &state.Bulks{Of: map[objects.Hash]state.Bulk{}}
	var upper []state.UpperRecord
	for _, r := range all {
		if err := st.Apply(r); err != nil {
			t.Error(err)
		}
		if err := b.Apply(r); err != nil {
			t.Error(err)
		}
		if slices.Contains(state.UpperKinds, r.Kind) {
			upper = append(upper, state.UpperRecord{Kind: r.Kind, Stamp: state.StampOf(r), Time: r.Time, Body: r.Body})
		}
	}
	st.Finish()
	st.NameVersions("d0")
	if !state.Decode(string(state.Encode(state.Version, st)), state.Version, &state.State{}) {
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
