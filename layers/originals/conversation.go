package originals

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/refs"
)

// Conversation returns the whole conversation of a session at p as segments.
func (m Ops) Conversation(ctx context.Context, project refs.Project, p *records.Point) ([]compress.Segment, error) {
	return m.ConversationWithout(ctx, project, p, nil)
}

// ConversationWithout is [Ops.Conversation] without the tool calls of some messages.
func (m Ops) ConversationWithout(ctx context.Context, project refs.Project, p *records.Point,
	without [][2]int) ([]compress.Segment, error) {
	var out []compress.Segment
	var c Conversation
	err := m.EachMessage(ctx, project, p, without, func(n int, msg transcript.Message) error {
		out = append(out, c.Said(n, msg)...)
		return nil
	})
	return out, err
}

// EachMessage calls f with the number and the message of each message of a session, in order. It returns the first
// error of f. The tool calls of the messages in without, pairs of first and last number, are removed.
func (m Ops) EachMessage(ctx context.Context, project refs.Project, p *records.Point, without [][2]int,
	f func(int, transcript.Message) error) error {
	return m.Stream(ctx, project, p.Original, func(r io.Reader) error {
		for v, err := range transcript.Stream(r, HugeValue) {
			if err != nil {
				return err
			}
			if v.Opaque {
				continue
			}
			msg, err := transcript.Decode(v)
			if err != nil {
				continue // not a record
			}
			if !Outside(v.N, without) {
				msg.Blocks = slices.DeleteFunc(msg.Blocks, func(b transcript.Block) bool {
					return b.Kind == transcript.ToolUse || b.Kind == transcript.ToolResult
				})
			}
			if err := f(v.N, msg); err != nil {
				return err
			}
		}
		return nil
	})
}

// A Conversation converts the messages of a session to segments. Typed text is unchanged and appears once, where it was
// sent, even if it was queued before; white space around other text is removed. Its zero value is ready.
type Conversation struct{ queue transcript.Queue }

// Said returns the segments of message n.
func (c *Conversation) Said(n int, msg transcript.Message) []compress.Segment {
	var out []compress.Segment
	add := func(role, text string) {
		if strings.TrimSpace(text) != "" {
			out = append(out, compress.Segment{Role: role, Text: text, Src: [][2]int{{n, n}}})
		}
	}
	typed, fresh := c.queue.Typed(msg)
	_, own := transcript.Typed(msg) // its text blocks are the typed text
	addTyped := func() {
		if fresh {
			add(c.typist(), typed)
		}
		fresh = false
	}
	for _, b := range msg.Blocks {
		switch {
		case b.Kind == transcript.Text && own:
			addTyped()
		case b.Kind == transcript.Text:
			add(textRole(msg), strings.TrimSpace(b.Text))
		case b.Kind == transcript.ToolUse:
			add("tool", strings.TrimSpace(b.Name+" "+string(b.Input)))
		case b.Kind == transcript.ToolResult:
			add("tool", strings.TrimSpace(b.Result()))
		}
	}
	addTyped()
	return out
}

// typist returns the role of the typed text that the queue returned last.
func (c *Conversation) typist() string {
	if c.queue.Script {
		return "script"
	}
	return "user"
}

// textRole returns the role of a text that the user did not type.
func textRole(msg transcript.Message) string {
	if msg.Role != "assistant" { // written by the client as the user
		return "tool"
	}
	return "assistant"
}
