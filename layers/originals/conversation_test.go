package originals_test

import (
	"fmt"
	"testing"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/transcript"
)

// TestConversation checks what a composition takes of messages that hold several things.
func TestConversation(t *testing.T) {
	t.Parallel()
	result := transcript.Block{Kind: transcript.ToolResult, ToolID: "t", Content: []byte(`"grey "`)}
	words := transcript.Block{Kind: transcript.Text, Text: " Stop.\n"}
	messages := []transcript.Message{
		{Type: "user", Role: "user", Blocks: []transcript.Block{result, words}},
		{Type: "queue-operation", Operation: "enqueue", Content: "Ask first."},
		{Type: "queue-operation", Operation: "remove"},
		{Type: "user", Role: "user", Blocks: []transcript.Block{result, {Kind: transcript.Text, Text: "Ask first."}}},
		{Type: "assistant", Role: "assistant", Blocks: []transcript.Block{{Kind: transcript.Text, Text: " Yes. "}}},
	}
	got := ""
	var c originals.Conversation
	for i, msg := range messages {
		msg.N = i + 1
		for _, s := range c.Said(i+1, msg) {
			got += fmt.Sprintf("%d %s %q, ", s.Src[0][0], s.Role, s.Text)
		}
	}
	if want := `1 tool "grey", 1 user " Stop.\n", 4 tool "grey", 4 user "Ask first.", 5 assistant "Yes.", `; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
