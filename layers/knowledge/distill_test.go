package knowledge

import (
	"testing"

	"github.com/memvcs/mem/layers/knowledge/facts"
)

// TestValidate refuses an exchange whose messages cannot be determined, so that the model is asked again and not the
// whole answer lost.
func TestValidate(t *testing.T) {
	t.Parallel()
	quoted := func(messages ...int) (out []facts.InputFact) {
		for _, n := range messages {
			out = append(out, facts.InputFact{Evidence: []facts.Evidence{{Message: n, Quote: "x"}}})
		}
		return out
	}
	for _, tt := range []struct {
		x    facts.InputExchange
		want string
	}{
		{facts.InputExchange{Messages: [2]int{2, 9}}, ""},
		{facts.InputExchange{Messages: [2]int{2, 10}}, "exchanges[0].messages: the record has the messages 3 to 7"},
		{facts.InputExchange{L1Range: [2]int{1, 2}}, "exchanges[0].messages: the record has the messages 3 to 7"},
		{facts.InputExchange{Facts: quoted(4)}, ""},
		{facts.InputExchange{Facts: quoted(40, 4)}, ""},
		{facts.InputExchange{Facts: quoted(40, 50)}, "exchanges[0].messages: missing"},
		{facts.InputExchange{Facts: make([]facts.InputFact, 2)}, "exchanges[0].messages: missing"},
		{facts.InputExchange{}, "exchanges[0].messages: missing"},
	} {
		got := ""
		given := facts.Input{Exchanges: []facts.InputExchange{tt.x}}
		if err := validate(&given, Task{Draft: FactDraft{From: 3, To: 7, Total: 9}}); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("validate(%+v) = %q, want %q", tt.x, got, tt.want)
		}
	}
}
