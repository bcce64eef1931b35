package originals

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/refs"
)

// ReadConversation returns the whole conversation of a session at p as segments.
func ReadConversation(ctx context.Context, db *state.DB, project refs.Project, p *records.Point) ([]version.Segment, error) {
	return conversation(ctx, db, project, p, nil, func(s Spoken) (version.Segment, bool) { return s.Segment, true })
}

// Composed returns the conversation of a session for a composition: without the messages up to number after, without the
// tool calls of the messages in without, and with labels as [Spoken.Labelled] gives them.
func Composed(ctx context.Context, db *state.DB, project refs.Project, p *records.Point, after int,
	without [][2]int) ([]version.Segment, error) {
	out, err := conversation(ctx, db, project, p, without, Spoken.Labelled)
	return slices.DeleteFunc(out, func(s version.Segment) bool { return s.Src[0][0] <= after }), err
}

func conversation(ctx context.Context, db *state.DB, project refs.Project, p *records.Point, without [][2]int,
	segment func(Spoken) (version.Segment, bool)) ([]version.Segment, error) {
	var out []version.Segment
	add := func(spoken []Spoken) {
		for _, s := range spoken {
			if seg, ok := segment(s); ok {
				out = append(out, seg)
			}
		}
	}
	var c Conversation
	err := EachMessage(ctx, db, project, p, without, func(n int, msg transcript.Message) error {
		add(c.Spoken(n, msg))
		return nil
	})
	add(c.SpokenRest())
	slices.SortStableFunc(out, func(a, b version.Segment) int { return cmp.Compare(a.Src[0][0], b.Src[0][0]) })
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

// Pending returns the first message before which the user may have said something that is not known yet, 0 if there is
// none.
func (c *Conversation) Pending() int { return c.queue.Pending() }

// A Spoken is a segment with its author in the words of [transcript.Author], of which its role has only the side.
type Spoken struct {
	version.Segment
	Author  string
	Printed bool // by a tool
	Meta    bool // a text of the client for the model alone
	At      int  // see [transcript.Said]
}

// Labelled returns the segment with a label that says what it is if nobody said it, and false if it does not belong in
// a conversation: a text of the client for the model. What a tool printed is a block of code.
func (s Spoken) Labelled() (seg version.Segment, ok bool) {
	seg = s.Segment
	if seg.Role != "tool" {
		return seg, true
	}
	switch {
	case s.Printed:
		seg.Code, seg.Text = "text", refine.Clean(seg.Text)
	case s.Author == transcript.ByPlan:
		seg.Label = transcript.PlanLabel
	case s.Author == transcript.BySummary:
		seg.Label = "summary of a compaction"
	case s.Author == transcript.ByAgent:
		seg.Label = "prompt of an agent"
	case s.Author == transcript.ByNote:
		if _, envelope := transcript.Envelope(seg.Text); s.Meta && !envelope || refine.Caveat(seg.Text) {
			return seg, false
		}
		seg.Label, seg.Text = "note, typed by nobody", refine.Clean(seg.Text)
	case transcript.Reported(seg.Text):
		seg.Label, seg.Text = "report of an agent", refine.Clean(seg.Text)
	default:
		seg.Label = "call"
	}
	return seg, seg.Text != ""
}

// Spoken returns the segments of message n with their authors.
func (c *Conversation) Spoken(n int, msg transcript.Message) []Spoken {
	var out []Spoken
	printed := false
	put := func(role, author, text string, n int) {
		if strings.TrimSpace(text) != "" {
			out = append(out, Spoken{version.Segment{Role: role, Text: text, Src: [][2]int{{n, n}}}, author, printed, msg.Meta, 0})
		}
	}
	add := func(role, text string, n int) { put(role, role, text, n) }
	c.queue.Command.Mark(&msg)
	said := c.queue.Said(msg)
	heard := said
	_, own := transcript.Typed(msg) // its text blocks are the typed text
	for _, b := range msg.Blocks {
		printed = b.Kind == transcript.ToolResult
		switch {
		case b.Kind == transcript.Text && own:
			out, said = append(out, typed(said)...), nil
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
	return append(out, typed(said)...)
}

// answered reports whether the result of a call only repeats the user's answers in a dialog.
func answered(said []transcript.Said, b transcript.Block) bool {
	return slices.ContainsFunc(said, func(s transcript.Said) bool { return s.Answers != nil && s.ToolID == b.ToolID })
}

// SpokenRest returns the segments of what the user typed and no message repeats, at the end of the session.
func (c *Conversation) SpokenRest() []Spoken { return typed(c.queue.Rest()) }

// typed returns what the user or a script said.
func typed(said []transcript.Said) (out []Spoken) {
	for _, s := range said {
		role := "user"
		if s.Script {
			role = "script"
		}
		if strings.TrimSpace(s.Text) != "" {
			out = append(out, Spoken{Segment: version.Segment{Role: role, Text: s.Text, Src: [][2]int{{s.N, s.N}}}, Author: role, At: s.At})
		}
	}
	return out
}

// textRole returns the role of a text that the user did not type.
func textRole(msg transcript.Message) string {
	if msg.Role != "assistant" { // written by the client as the user
		return "tool"
	}
	return "assistant"
}
