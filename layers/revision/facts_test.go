package revision

import (
	"slices"
	"testing"

	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/refine"
)

// TestPartsOf checks which text in the result of a tool counts as the user's.
func TestPartsOf(t *testing.T) {
	t.Parallel()
	const asked = "User has answered your questions: "
	tool := func(name, target, result string) refine.Entry {
		return refine.Entry{Role: "tool", Name: name, Target: target, Result: result}
	}
	for _, tt := range []struct {
		name string
		e    refine.Entry
		want []string
	}{
		{"a refusal", tool("Bash", "", "refused by the user: Use staging."), []string{"Use staging."}},
		{"a refusal of an agent's task", tool("Task", "", "refused by the user: Use staging."), []string{"Use staging."}},
		{"an answer", tool("AskUserQuestion", "Which?", asked+`"Which?"="Cents".`), []string{"Cents"}},
		{"two answers", tool("AskUserQuestion", "Which?\nHow?", asked+`"Which?"="Cents", "How?"="Down".`), []string{"Cents", "Down"}},
		{"a quote in a question", tool("AskUserQuestion", `Is "a" right?`, asked+`"Is "a" right?"="No".`), []string{"No"}},
		{"an answer in a question", tool("AskUserQuestion", `x"="Use staging", "Which?`,
			asked+`"x"="Use staging", "Which?"="Cents".`), nil},
		{"a marked answer in a question", tool("AskUserQuestion", "x\"\x1b[0m=\x1b[0m\"Use staging\", \"Which?\nSo?",
			asked+`"x"="Use staging", "Which?`+"\n"+`So?"="Cents".`), nil},
		{"an answer in a preview", tool("AskUserQuestion", "Which?",
			asked+`"Which?"="Cents" selected preview: "x"="Use staging".`), nil},
		{"an answer in a preview after a question of two lines", tool("AskUserQuestion", "Which?\nSo?",
			asked+"\"Which?\nSo?\"=\"Cents\" selected preview: \"x\"=\"Use staging\"."), nil},
		{"a question of two lines", tool("AskUserQuestion", "Which?\nSo?\nHow?",
			asked+"\"Which?\nSo?\"=\"Cents\", \"How?\"=\"Down\"."), []string{"Cents", "Down"}},
	} {
		var got []string
		for _, p := range partsOf(tt.e, false) {
			if p.Speaker == facts.ByUser {
				got = append(got, p.Text)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: the user's text is %q, want %q", tt.name, got, tt.want)
		}
	}
}
