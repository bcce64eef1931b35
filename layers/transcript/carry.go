package transcript

import (
	"encoding/hex"
	"strings"
	"time"
)

// A Carry is what a [Scanner] knows of a session up to Closed: all that the scan of the bytes behind it needs to
// come to the same result as one scan of everything. It is small and goes through JSON unchanged.
type Carry struct {
	Closed    int64     `json:"closed"`              // bytes; the next scan starts here
	Values    int       `json:"values"`              // closed ones
	Opaque    int       `json:"opaque,omitempty"`    // of them no objects
	Messages  int       `json:"messages"`            // see [Counter]
	Typed     int       `json:"typed,omitempty"`     // messages that the user or a script typed
	Read      int64     `json:"read,omitempty"`      // about how many bytes of text a model reads of it; 0 if not known
	Marked    int       `json:"marked,omitempty"`    // values that hold the bytes "##keepit", whoever wrote them
	First     time.Time `json:"first,omitzero"`      // first timestamp of a record in file order
	Last      time.Time `json:"last,omitzero"`       // last one in file order
	SessionID string    `json:"session,omitempty"`   // the first that a record names; of a subagent the parent's
	AgentID   string    `json:"agent,omitempty"`     // of a subagent's file
	Cwd       string    `json:"cwd,omitempty"`       // the first
	Branch    string    `json:"branch,omitempty"`    // the last
	Version   string    `json:"version,omitempty"`   // of Claude Code, the last
	Model     string    `json:"model,omitempty"`     // the last that answered
	Title     string    `json:"title,omitempty"`     // one line of at most 80 characters
	TitleFrom TitleFrom `json:"titleFrom,omitempty"` // what Title is
	Scripted  bool      `json:"scripted,omitempty"`  // Title is what a script typed
	LastID    string    `json:"lastID,omitempty"`    // message.id of the last answer
	LastUUID  string    `json:"lastUUID,omitempty"`  // of the last user or assistant record
	Queue     Queue     `json:"queue,omitzero"`
}

// Parent returns the session that started this one, or "" if this is no subagent's file.
func (c Carry) Parent() string {
	if c.AgentID == "" {
		return ""
	}
	return c.SessionID
}

// TitleFrom says where a title comes from; the highest wins.
type TitleFrom int

// Sources of titles.
const (
	FromStray   TitleFrom = iota + 1 // a summary record that may speak of another session
	FromTyped                        // the first thing the user typed
	FromSummary                      // a summary record of this session
	FromUser                         // the user named the session
)

func (c *Carry) title(text string, from TitleFrom, scripted bool) {
	if text = oneLine(text, 80); text == "" || from < c.TitleFrom || from == c.TitleFrom && from <= FromTyped {
		return
	}
	c.Title, c.TitleFrom, c.Scripted = text, from, scripted
}

// oneLine returns the words of s in one line of at most n characters.
func oneLine(s string, n int) string {
	if len(s) > 16*n {
		s = strings.ToValidUTF8(s[:16*n], "")
	}
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > n {
		return strings.TrimSpace(string(r[:n-1])) + "…"
	}
	return string(r)
}

// A Counter counts messages: user and assistant records that are not the client's own, where records in a row
// with the same message.id (one answer of the model, one record a block) are one message.
type Counter struct {
	N      int
	LastID string
	Usage  Usage // the sum over the messages: records that share a message.id repeat it
}

// Add counts m and reports whether it begins a message.
func (c *Counter) Add(m Message) bool {
	if m.Type != "user" && m.Type != "assistant" || m.Meta || m.Message == nil {
		return false
	}
	if m.Type == "assistant" {
		if m.ID != "" && m.ID == c.LastID {
			return false
		}
		c.LastID = m.ID
	}
	c.N++
	c.Usage.Input += m.Usage.Input
	c.Usage.Output += m.Usage.Output
	c.Usage.CacheWrite += m.Usage.CacheWrite
	c.Usage.CacheRead += m.Usage.CacheRead
	return true
}

// A Key identifies a typed message across copies of a session: the first bytes of a hash of its role, timestamp
// and text.
type Key [8]byte

// String returns k in hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// MarshalText returns what String returns.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (k *Key) UnmarshalText(b []byte) error {
	_, err := hex.Decode(k[:], b[:min(len(b), 2*len(k))])
	return err
}

// A Prompt is a message that the user, or a script in the place of the user, typed.
type Prompt struct {
	N    int    `json:"n"`
	Key  Key    `json:"key"`
	Text string `json:"text,omitempty"` // only if it holds "##keepit" and a person typed it
}

// A Summary is what a [Scanner] found.
type Summary struct {
	Carry            // totals, the bytes before this scan included
	Tail    int64    // bytes behind Closed
	Prompts []Prompt // of this scan only
	Long    int      // objects of this scan only that are longer than [Longest]
}
