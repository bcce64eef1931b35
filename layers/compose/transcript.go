package compose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/memvcs/mem/objects"
)

// record is a line of composed.jsonl. The client needs type, uuid, parentUuid, timestamp and message; other readers
// expect the other fields.
type record struct {
	Parent    *string `json:"parentUuid"`
	Sidechain bool    `json:"isSidechain"`
	UserType  string  `json:"userType"`
	Session   string  `json:"sessionId"`
	Type      string  `json:"type"`
	Message   message `json:"message"`
	UUID      string  `json:"uuid"`
	Timestamp string  `json:"timestamp"`
}

type message struct {
	Role    string `json:"role"`
	Content []text `json:"content"`
}

type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Transcript returns composed.jsonl, a session that "claude --resume composed.jsonl --fork-session" continues. It
// contains the text of composed.md with each piece as a text block: alternating records of user and assistant in one
// chain, the user first, without tool calls, thinking or empty texts, each with the time of its part. All ids are
// derived from the content.
func (c Composition) Transcript() []byte {
	name := objects.Sum(c.Encode())
	session := ID(name)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	var parent *string
	var last time.Time
	for i, t := range c.turns() {
		id := uuid(name, fmt.Sprint("message ", i))
		last = c.timeOf(t.part, last)
		r := record{Parent: parent, UserType: "external", Session: session, Type: t.role, UUID: id,
			Timestamp: last.Format("2006-01-02T15:04:05.000Z"), Message: message{Role: t.role}}
		for _, s := range t.texts {
			r.Message.Content = append(r.Message.Content, text{"text", s})
		}
		if err := enc.Encode(r); err != nil {
			panic("compose: a record of strings does not marshal: " + err.Error())
		}
		parent = &id
	}
	return out.Bytes()
}

// timeOf returns the time of a turn that ends in a part: that of the part if clients can parse it, but later than last.
func (c Composition) timeOf(part int, last time.Time) time.Time {
	t := time.Unix(0, 0).UTC()
	if part < len(c.Parts) {
		if d := c.Parts[part].Date.UTC(); d.Year() >= 1970 && d.Year() < 9999 {
			t = d.Truncate(time.Millisecond)
		}
	}
	if !t.After(last) {
		t = last.Add(time.Millisecond)
	}
	return t
}

// Texts returns the text blocks of composed.jsonl in order. They identify text of mem in a session that continued a
// composition.
func (c Composition) Texts() (texts []string) {
	for _, t := range c.turns() {
		texts = append(texts, t.texts...)
	}
	return texts
}

// Messages returns the number of messages in composed.jsonl.
func (c Composition) Messages() int { return len(c.turns()) }

// ID returns the id of the composition as a UUID derived from the content. It is also the session id in composed.jsonl.
func (c Composition) ID() string { return ID(objects.Sum(c.Encode())) }

// ID returns the id of the composition with a stored form.
func ID(stored objects.Hash) string { return uuid(stored, "composition") }

// uuid returns the UUID, of version 8, for a label of an object.
func uuid(space objects.Hash, label string) string {
	h := objects.Sum(append(space[:], label...))
	h[6] = h[6]&0x0f | 0x80
	h[8] = h[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}
