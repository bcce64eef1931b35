package agents

import (
	"encoding/json"
	"testing"
)

// FuzzMessage reads values as those of each agent: none of them makes a record that is no JSON.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":7}"}}`,
		`{"type":"response_item","payload":{"type":"function_call","name":"x","arguments":"[1"}}`, `{"agent":"gemini","record":{"type":"gemini","toolCalls":[{"name":"edit","args":[]}]}}`,
		`{"agent":"opencode","record":{"role":"user"},"parts":[{"type":"tool","state":{}}]}`, `{"agent":"opencode","results":[{"status":"error"}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		for _, name := range Names() {
			b, err := json.Marshal(ByName(name).Message(value))
			if err != nil || !json.Valid(b) {
				t.Errorf("%s: %q, %v", name, b, err)
			}
		}
	})
}
