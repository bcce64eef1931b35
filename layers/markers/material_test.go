package markers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/planning"
)

// TestCountedMessages counts a conversation whose answers begin with what was only thought, whole and grown by a line at a time.
func TestCountedMessages(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"type":"user","isMeta":true,"message":{"role":"user","content":"a note before anything"}}`,
		`{"type":"user","message":{"role":"user","content":"where do prices live?"}}`,
		`{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"thinking","thinking":"let me look"}]}}`,
		`{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"price.go"}]}}`,
		`{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"thinking","thinking":"only that"}]}}`,
		`{"type":"user","isMeta":true,"message":{"role":"user","content":"a note of the client"}}`,
		`{"type":"assistant","message":{"id":"m3","role":"assistant","content":[{"type":"thinking","thinking":"there it is"}]}}`,
		`{"type":"assistant","message":{"id":"m3","role":"assistant","content":[{"type":"text","text":"In price.go."}]}}`,
		`{"type":"assistant","message":{"id":"m3","role":"assistant","content":[{"type":"text","text":"Twice."}]}}`,
	}
	want := [][2]int{{1, 2}, {4, 4}, {5, 7}, {9, 10}}
	spans := func(c markers.Counted) (out [][2]int) {
		for _, m := range c.Messages {
			out = append(out, [2]int{m.First, m.Last})
		}
		return out
	}
	var whole, grown markers.Counted
	if err := whole.Extend(t.Context(), strings.NewReader(strings.Join(lines, "\n")+"\n"), 1); err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if err := grown.Extend(t.Context(), strings.NewReader(l+"\n"), 1); err != nil {
			t.Fatal(err)
		}
	}
	if got := spans(whole); !slices.Equal(got, want) {
		t.Errorf("messages are %v, want %v", got, want)
	}
	if !slices.EqualFunc(grown.Messages, whole.Messages, func(a, b planning.Message) bool { return a == b }) {
		t.Errorf("grown line by line messages are %v, at once %v", grown.Messages, whole.Messages)
	}
}
