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
		for _, s := range c.Spoken(i+1, msg) {
			got += fmt.Sprintf("%d %s %q, ", s.Src[0][0], s.Role, s.Text)
		}
	}
	if want := `1 tool "grey", 1 user " Stop.\n", 4 tool "grey", 4 user "Ask first.", 5 assistant "Yes.", `; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestReadable checks that every line that a call was given and every word of its result stands in the text of it.
func TestReadable(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ name, input, want string }{
		{"Bash", `{"command":"cat <<'E'\n\tconst a\nE","description":"Write \"a\""}`, "Bash\ncommand:\ncat <<'E'\n\tconst a\nE\ndescription: Write \"a\""},
		{"Edit", `{"file_path":"/s/a.go","old_string":"","new_string":"if x {\n\treturn\n}","replace_all":false}`,
			"Edit\nfile_path: /s/a.go\nold_string: \nnew_string:\nif x {\n\treturn\n}\nreplace_all: false"},
		{"MultiEdit", `{"edits":[{"old_string":"a\nb","new_string":"c"},{"old_string":"d","new_string":""}]}`,
			"MultiEdit\nedits:\n-\nold_string:\na\nb\nnew_string: c\n-\nold_string: d\nnew_string:"},
		{"Other", `{"n":12345678901234567890,"none":null,"list":[],"of":{"a":[1,"x"]}}`, "Other\nn: 12345678901234567890\nnone: null\nlist: []\nof:\na:\n- 1\n- x"},
		{"Odd", `["a\nb"]`, `Odd ["a\nb"]`},
		{"Odd", `{"a`, `Odd {"a`},
		{"None", ``, "None"},
	} {
		c := originals.Conversation{Readable: true}
		got := c.Spoken(1, transcript.Message{Type: "assistant", Role: "assistant",
			Blocks: []transcript.Block{{Kind: transcript.ToolUse, Name: x.name, Input: []byte(x.input)}}})
		if len(got) != 1 || got[0].Text != x.want {
			t.Errorf("%s %s\ngot  %+v\nwant %q", x.name, x.input, got, x.want)
		}
	}
	c := originals.Conversation{Readable: true}
	got := c.Spoken(2, transcript.Message{Type: "user", Role: "user",
		ToolUseResult: []byte(`{"filePath":"/s/a.go","structuredPatch":[{"newStart":5,"lines":[" a"," b","-c","+d"]}]}`),
		Blocks:        []transcript.Block{{Kind: transcript.ToolResult, Content: []byte(`"updated"`)}}})
	if len(got) != 1 || got[0].Text != "updated\n/s/a.go:7" {
		t.Errorf("the result of an edit is %+v", got)
	}
}
