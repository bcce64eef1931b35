package originals

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/refs"
)

// ReadConversation returns the whole conversation of a session at p as segments.
func ReadConversation(ctx context.Context, db *state.DB, project refs.Project, p *records.Point) ([]compress.Segment, error) {
	return ConversationWithout(ctx, db, project, p, nil)
}

// ConversationWithout is [Conversation] without the tool calls of some messages.
func ConversationWithout(ctx context.Context, db *state.DB, project refs.Project, p *records.Point,
	without [][2]int) ([]compress.Segment, error) {
	return ConversationAfter(ctx, db, project, p, 0, without)
}

// ConversationAfter is [ConversationWithout] without the messages up to number after.
func ConversationAfter(ctx context.Context, db *state.DB, project refs.Project, p *records.Point, after int,
	without [][2]int) ([]compress.Segment, error) {
	var out []compress.Segment
	var c Conversation
	err := EachMessage(ctx, db, project, p, without, func(n int, msg transcript.Message) error {
		out = append(out, c.Said(n, msg)...)
		return nil
	})
	out = append(out, c.Rest()...)
	out = slices.DeleteFunc(out, func(s compress.Segment) bool { return s.Src[0][0] <= after })
	slices.SortStableFunc(out, func(a, b compress.Segment) int { return cmp.Compare(a.Src[0][0], b.Src[0][0]) })
	return out, err
}

// EachMessage calls f with the number and the message of each message of a session, in order. It returns the first
// error of f. Messages that the user withdrew are left out, and so are the tool calls of the messages in without, pairs of
// first and last number.
func EachMessage(ctx context.Context, db *state.DB, project refs.Project, p *records.Point, without [][2]int,
	f func(int, transcript.Message) error) error {
	return Stream(ctx, db, project, p.Original, func(r io.Reader) error {
		for v, err := range transcript.Stream(r, HugeValue) {
			if err != nil {
				return err
			}
			if v.Opaque || p.Rewound.Has(v.N) {
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

// A Conversation converts the messages of a session to segments. The user's words are unchanged and appear once, where
// they were sent, even if they were queued before; white space around other text is removed. Its zero value is ready.
type Conversation struct {
	Readable bool // calls of tools are as people read them, and edits have their line; else calls have their input in JSON

	queue transcript.Queue
}

// A Spoken is a segment with its author in the words of [transcript.Author], of which its role has only the side.
type Spoken struct {
	compress.Segment
	Author string
}

// Said returns the segments of message n.
func (c *Conversation) Said(n int, msg transcript.Message) []compress.Segment {
	return segmentsOf(c.Spoken(n, msg))
}

func segmentsOf(spoken []Spoken) (out []compress.Segment) {
	for _, s := range spoken {
		out = append(out, s.Segment)
	}
	return out
}

// Spoken returns the segments of message n with their authors.
func (c *Conversation) Spoken(n int, msg transcript.Message) []Spoken {
	var out []Spoken
	put := func(role, author, text string, n int) {
		if strings.TrimSpace(text) != "" {
			out = append(out, Spoken{compress.Segment{Role: role, Text: text, Src: [][2]int{{n, n}}}, author})
		}
	}
	add := func(role, text string, n int) { put(role, role, text, n) }
	c.queue.Command.Mark(&msg)
	said := c.queue.Said(msg)
	heard := said
	_, own := transcript.Typed(msg) // its text blocks are the typed text
	for _, b := range msg.Blocks {
		switch {
		case b.Kind == transcript.Text && own:
			said = addTyped(said, add)
		case b.Kind == transcript.Text:
			put(textRole(msg), transcript.Author(msg, b.Text), strings.TrimSpace(b.Text), n)
		case b.Kind == transcript.ToolUse && c.Readable:
			add("tool", strings.TrimSpace(refine.Readable(b)), n)
		case b.Kind == transcript.ToolUse:
			add("tool", strings.TrimSpace(b.Name+" "+string(b.Input)), n)
		case b.Kind == transcript.ToolResult && answered(heard, b):
		case b.Kind == transcript.ToolResult:
			text := b.Result()
			if c.Readable && !b.IsError {
				if place := refine.Place(msg.ToolUseResult); place != "" {
					text += "\n" + place
				}
			}
			add("tool", strings.TrimSpace(text), n)
		}
	}
	addTyped(said, add)
	return out
}

// answered reports whether the result of a call only repeats the user's answers in a dialog.
func answered(said []transcript.Said, b transcript.Block) bool {
	return slices.ContainsFunc(said, func(s transcript.Said) bool { return s.Answers != nil && s.ToolID == b.ToolID })
}

// Rest returns the segments of what the user typed and no message repeats, at the end of the session.
func (c *Conversation) Rest() []compress.Segment { return segmentsOf(c.SpokenRest()) }

// SpokenRest is [Conversation.Rest] with the authors.
func (c *Conversation) SpokenRest() (out []Spoken) {
	addTyped(c.queue.Rest(), func(role, text string, n int) {
		out = append(out, Spoken{compress.Segment{Role: role, Text: text, Src: [][2]int{{n, n}}}, role})
	})
	return out
}

// addTyped adds what the user or a script said.
func addTyped(said []transcript.Said, add func(role, text string, n int)) []transcript.Said {
	for _, s := range said {
		if s.Script {
			add("script", s.Text, s.N)
		} else {
			add("user", s.Text, s.N)
		}
	}
	return nil
}

// textRole returns the role of a text that the user did not type.
func textRole(msg transcript.Message) string {
	if msg.Role != "assistant" { // written by the client as the user
		return "tool"
	}
	return "assistant"
}
