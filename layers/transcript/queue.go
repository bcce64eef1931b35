package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// A Said is text of the user, or of a script in a headless run.
type Said struct {
	N       int    // of the record by which the model got it
	At      int    // of the record with the text, if that is another one; otherwise 0
	TS      string // its timestamp
	Text    string
	Script  bool
	Answers []Answer // of a dialog: the questions with the answers that Text consists of
	Refusal bool     // Text is the reason for the refusal of a call
	ToolID  string   // of answers and refusals: the call
}

// A Queue tracks what the user said outside of the record that says it.
//
// What he typed while the model worked waits in the client's queue. Old clients record it only in queue-operation
// records; newer ones repeat it as an attachment, next to a tool result or as a prompt. The client can lose it: it is
// taken from the queue without such a record, or the client ends before. It is the user's in each case, and counts
// once: at the record that repeats it if there is one.
//
// Answers in dialogs and the reasons of refusals are in tool results. Whether a result is that of a dialog, and not
// that of a tool which writes the same, depends on its call.
//
// The zero Queue is ready to use; it is a part of a [Carry].
type Queue struct {
	Waiting []Queued `json:"waiting,omitempty"`
	Left    []Queued `json:"left,omitempty"`  // left the queue; no record has repeated them yet
	Took    []string `json:"took,omitempty"`  // keys of texts that counted when they left the queue
	Asked   []string `json:"asked,omitempty"` // keys of the calls of the last answer that ask the user
	Other   []string `json:"other,omitempty"` // keys of those whose results other programs write
	ID      string   `json:"id,omitempty"`    // message.id of the last answer
	Command Command  `json:"command,omitempty"`

	// Script reports whether a script types: that of the last record with an entrypoint.
	Script bool `json:"script,omitempty"`
}

// A Command is the uuid of the last record if that is a command of the user ("/deploy"), else "". The record below it is
// the text of the command, from a file of the project, a plugin or a skill. Older clients write it as if it were typed:
// what a client knows itself ("/context") is followed by its output, so that no prompt is there.
type Command string

// Mark marks m as written by the client if it is the text of a command. It is called with all messages in order; to call
// it twice with one does no harm.
func (c *Command) Mark(m *Message) {
	if m.Type != "user" && m.Type != "assistant" {
		return
	}
	if *c != "" && m.Type == "user" && m.ParentUUID == string(*c) {
		m.Meta = true
	}
	*c = ""
	text := strings.TrimSpace(firstText(*m))
	if m.Type == "user" && (strings.HasPrefix(text, "<command-name>") || strings.HasPrefix(text, "<command-message>")) {
		*c = Command(m.UUID)
	}
}

// A Queued is a text in the queue, with the record that says so.
type Queued struct {
	N       int    `json:"n"`
	At      int    `json:"at,omitempty"` // the record with the text, if that is another one
	TS      string `json:"ts,omitempty"`
	Text    string `json:"text"`
	Removed bool   `json:"removed,omitempty"` // given to the model while it worked; else the client starts a turn with it
}

// queueKey returns the key of a text that left the queue: the first 16 hexadecimal digits of its SHA-256. Each record
// of a session contains these keys, so they must be short.
func queueKey(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// queueLimit and queueBytes are how many texts, of how many bytes, a Queue remembers on either side.
const (
	queueLimit = 32
	queueBytes = 1 << 20
)

// Said returns what the user said in the next message of a session, and what earlier messages said if only m shows that
// no record repeats it. It is called with all messages in order; those of sidechains are ignored.
func (q *Queue) Said(m Message) []Said {
	q.Command.Mark(&m)
	if m.Sidechain || m.AgentID != "" {
		return nil
	}
	switch m.Type {
	case "queue-operation":
		return q.operation(m)
	case "assistant":
		return q.Answer(m)
	case "user", "attachment":
		return q.typed(m)
	}
	return nil
}

// typed returns what the user said in a user record or an attachment.
func (q *Queue) typed(m Message) []Said {
	if m.Type == "attachment" && m.Subtype != "queued_command" {
		return nil
	}
	q.Script = m.byScript()
	said := Said{N: m.N, TS: m.TS, Script: q.Script}
	var out []Said
	for _, b := range m.Blocks {
		if b.Kind == ToolResult {
			if s, ok := q.result(m, b); ok {
				s.N, s.TS, s.Script = said.N, said.TS, said.Script
				out = append(out, s)
			}
		}
	}
	text, ok := Typed(m)
	if !ok { // of another sender, although the queue does not say so
		if text := m.Content + firstText(m); !removeText(&q.Left, text) {
			removeText(&q.Waiting, text)
		}
		return out
	}
	said.Text = text
	beside := m.Type == "attachment" || slices.ContainsFunc(m.Blocks, func(b Block) bool { return b.Kind == ToolResult })
	if beside {
		if q.take(text) {
			return out
		}
		q.drop(text)
		return append(out, said)
	}
	q.drop(text)
	lost := q.lost(false)
	return append(append(lost, out...), said)
}

// firstText returns the first text of m.
func firstText(m Message) string {
	for _, b := range m.Blocks {
		if b.Kind == Text {
			return b.Text
		}
	}
	return ""
}

// Answer notes an answer of the model, whose blocks are needed only if they call a tool that [Queue.Calls] names. It
// returns what was given to the model while it worked and no record has repeated.
func (q *Queue) Answer(m Message) []Said {
	if m.ID != q.ID || m.ID == "" {
		q.Asked, q.Other, q.ID = nil, nil, m.ID
	}
	for _, b := range m.Blocks {
		switch {
		case b.Kind != ToolUse || b.ToolID == "":
		case b.Name == askTool && len(q.Asked) < queueLimit:
			q.Asked = append(slices.Clip(q.Asked), queueKey(b.ToolID))
		case OfOther(b.Name) && len(q.Other) < queueLimit:
			q.Other = append(slices.Clip(q.Other), queueKey(b.ToolID))
		}
	}
	return q.lost(true)
}

// Rest returns what the user typed and the session does not repeat, at its end: texts that still wait or left the queue
// just now. If the session grows, a record may repeat them.
func (q *Queue) Rest() (out []Said) {
	for _, x := range append(slices.Clone(q.Left), q.Waiting...) {
		if s, ok := q.said(x); ok {
			out = append(out, s)
		}
	}
	return out
}

// Pending returns the number of the first record with a text that waits or left the queue, and may turn out to be what the
// user said there; 0 if there is none.
func (q *Queue) Pending() (first int) {
	for _, list := range [][]Queued{q.Left, q.Waiting} {
		for _, x := range list {
			if (first == 0 || x.N < first) && !clientWrote(x.Text) && !isCommand(x.Text) {
				first = x.N
			}
		}
	}
	return first
}

// lost takes the texts from Left that no record has repeated: all, or those that were given to the model while it
// worked.
func (q *Queue) lost(removed bool) (out []Said) {
	if len(q.Left) == 0 {
		return nil
	}
	var left []Queued
	for _, x := range q.Left {
		if removed && !x.Removed {
			left = append(left, x)
			continue
		}
		if s, ok := q.said(x); ok {
			out = append(out, s)
			q.Took = last(append(slices.Clip(q.Took), queueKey(x.Text)), func(s string) int { return len(s) })
		}
	}
	q.Left = left
	return out
}

// said returns a queued text as text of the user.
func (q *Queue) said(x Queued) (Said, bool) {
	if clientWrote(x.Text) || isCommand(x.Text) {
		return Said{}, false
	}
	text := withoutSpans(x.Text)
	return Said{N: x.N, At: x.At, TS: x.TS, Text: text, Script: q.Script}, strings.TrimSpace(text) != ""
}

func (q *Queue) operation(m Message) []Said {
	x := Queued{N: m.N, TS: m.TS, Text: m.Content}
	switch m.Operation {
	case "enqueue":
		if m.Content != "" && (m.Origin == "" || m.Origin == "human") {
			q.Waiting = last(append(slices.Clip(q.Waiting), x), Queued.size) // other scans share it
		}
	case "dequeue":
		if len(q.Waiting) > 0 { // a user record follows, or it is lost
			q.Left = last(append(slices.Clip(q.Left), q.Waiting[0]), Queued.size)
			q.Waiting = q.Waiting[1:]
		}
	case "popAll":
		q.Waiting = nil // returned to the user
	case "remove":
		if x.Text == "" && len(q.Waiting) > 0 { // notices of the client wait until the turn ends
			i := slices.IndexFunc(q.Waiting, func(w Queued) bool { return !clientWrote(w.Text) })
			x.Text, x.At = q.Waiting[max(i, 0)].Text, q.Waiting[max(i, 0)].N
		}
		if x.Removed = removeText(&q.Waiting, x.Text); x.Removed {
			q.Left = last(append(slices.Clip(q.Left), x), Queued.size)
		}
	}
	return nil
}

func (x Queued) size() int { return len(x.Text) }

// take reports whether a text counted when it left the queue, and removes it.
func (q *Queue) take(text string) bool {
	i := slices.Index(q.Took, queueKey(text))
	if i >= 0 {
		q.Took = slices.Delete(slices.Clone(q.Took), i, i+1)
	}
	return i >= 0
}

// drop removes the texts that a record repeats: the one that is equal to its text, or several that it joins. A client
// replaces the marks of pasted texts and images in them.
func (q *Queue) drop(text string) {
	if removeText(&q.Left, text) || removeText(&q.Waiting, text) {
		return
	}
	text = strings.TrimSpace(text)
	keep := slices.DeleteFunc(slices.Clone(q.Left), func(x Queued) bool {
		s := strings.TrimSpace(withoutSpans(x.Text))
		start, _, pasted := strings.Cut(s, "[Pasted text #")
		if !pasted {
			start, _, pasted = strings.Cut(s, "[Image #")
		}
		return strings.Contains(text, s) || pasted && strings.HasPrefix(text, start)
	})
	if q.Left = keep; len(keep) == 0 {
		q.Left = nil
	}
}

// removeText deletes the first entry with a text from list and reports whether there was one.
func removeText(list *[]Queued, text string) bool {
	i := slices.IndexFunc(*list, func(x Queued) bool { return x.Text == text })
	if i >= 0 {
		*list = slices.Delete(slices.Clone(*list), i, i+1)
		if len(*list) == 0 {
			*list = nil
		}
	}
	return i >= 0
}

// isCommand reports whether a queued text is a command for the client and not a prompt.
func isCommand(s string) bool {
	if strings.HasPrefix(s, `{"task_id"`) || strings.TrimSpace(s) == "" {
		return true
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(s, "/"), " ")
	return strings.HasPrefix(s, "/") && !strings.ContainsAny(name, "/.\n")
}

// last removes the oldest elements of list beyond the limits.
func last[T any](list []T, sizeOf func(T) int) []T {
	n, size := 0, 0
	for n < min(len(list), queueLimit) {
		if size += sizeOf(list[len(list)-1-n]); size > queueBytes {
			break
		}
		n++
	}
	return list[len(list)-n:]
}
