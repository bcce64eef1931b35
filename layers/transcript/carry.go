package transcript

import (
	"encoding/hex"
	"strings"
	"time"
)

// A Carry is the state of a [Scanner] at Closed. A scan of the following bytes that starts with it gives the same
// result as one scan of everything. It is small and survives encoding as JSON unchanged.
type Carry struct {
	Closed    int64     `json:"closed"`              // bytes; the next scan starts here
	Values    int       `json:"values"`              // closed ones
	Opaque    int       `json:"opaque,omitempty"`    // values that are not objects
	Messages  int       `json:"messages"`            // see [Counter]
	Typed     int       `json:"typed,omitempty"`     // messages that the user or a script typed
	Read      int64     `json:"read,omitempty"`      // estimated bytes of text that a model reads; 0 if unknown
	Marked    int       `json:"marked,omitempty"`    // values that contain the bytes "##keepit", whoever wrote them
	First     time.Time `json:"first,omitzero"`      // first timestamp of a record in file order
	Last      time.Time `json:"last,omitzero"`       // last one in file order
	SessionID string    `json:"session,omitempty"`   // the first one in a record; for a subagent that of the parent
	AgentID   string    `json:"agent,omitempty"`     // of a subagent's file
	Cwd       string    `json:"cwd,omitempty"`       // the first
	Branch    string    `json:"branch,omitempty"`    // the last
	Version   string    `json:"version,omitempty"`   // of Claude Code, the last
	Model     string    `json:"model,omitempty"`     // the last that answered
	Title     string    `json:"title,omitempty"`     // one line of at most 80 characters
	TitleFrom TitleFrom `json:"titleFrom,omitempty"` // the source of Title
	Scripted  bool      `json:"scripted,omitempty"`  // a script typed Title
	TitleN    int       `json:"titleN,omitempty"`    // the message that Title is from
	Second    string    `json:"second,omitempty"`    // the next request that names a subject, for sessions with equal titles
	SecondN   int       `json:"secondN,omitempty"`   // the message that it is from
	LastID    string    `json:"lastID,omitempty"`    // message.id of the last answer
	LastUUID  string    `json:"lastUUID,omitempty"`  // of the last user or assistant record
	Tip       string    `json:"tip,omitempty"`       // uuid of the last record in the tree of turns
	Forked    bool      `json:"forked,omitempty"`    // the user may have withdrawn turns; see [Tree]
	Queue     Queue     `json:"queue,omitzero"`
}

// Parent returns the session that started this one, "" if this is not the file of a subagent.
func (c Carry) Parent() string {
	if c.AgentID == "" {
		return ""
	}
	return c.SessionID
}

// TitleFrom is the source of a title. The highest available one is used.
type TitleFrom int

// Sources of titles.
const (
	FromStray   TitleFrom = iota + 1 // a summary record that may describe another session
	FromVague                        // the first thing the user typed, which names no subject: "do both please"
	FromOutcome                      // a sentence of the last answer, if nothing that the user typed names a subject
	FromTyped                        // the first thing the user typed that names a subject, or a plan
	FromSummary                      // a summary record of this session
	FromUser                         // the user named the session
)

// A heading is what may become the title of a session.
type heading struct {
	n        int
	text     string
	from     TitleFrom
	scripted bool
}

// title takes the title from h, if it is better than the one that is there.
func (c *Carry) title(h heading) {
	if h.text = oneLine(h.text, 80); h.text == "" {
		return
	}
	if h.from == FromTyped && c.TitleFrom >= FromTyped {
		if c.Second == "" && h.text != c.Title {
			c.Second, c.SecondN = h.text, h.n
		}
		return
	}
	if h.from < c.TitleFrom || h.from == c.TitleFrom && h.from <= FromTyped && h.from != FromOutcome {
		return
	}
	c.Title, c.TitleFrom, c.TitleN, c.Scripted = h.text, h.from, h.n, h.scripted
}

// untitle removes the titles from messages that the user withdrew, and takes others from what follows.
func (c *Carry) untitle(withdrawn Spans, headings []heading) {
	own := c.TitleFrom <= FromTyped && withdrawn.Has(c.TitleN)
	if !own && !withdrawn.Has(c.SecondN) {
		return
	}
	second := heading{c.SecondN, c.Second, FromTyped, c.Scripted}
	c.Second, c.SecondN = "", 0
	if own {
		c.Title, c.TitleFrom, c.TitleN, c.Scripted = "", 0, 0, false
	}
	for _, h := range append([]heading{second}, headings...) {
		if !withdrawn.Has(h.n) {
			c.title(h)
		}
	}
}

// oneLine returns the words of s on one line of at most n characters.
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

// A Counter counts messages: user and assistant records that the client did not write. Consecutive records with the
// same message.id (one answer of the model, one record per block) are one message.
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

// A Key identifies a typed message in all copies of a session: the first bytes of a hash of its role, timestamp and
// text.
type Key [8]byte

// String returns k in hexadecimal.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// MarshalText returns k in hexadecimal.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses the result of MarshalText.
func (k *Key) UnmarshalText(b []byte) error {
	_, err := hex.Decode(k[:], b[:min(len(b), 2*len(k))])
	return err
}

// A Prompt is a message typed by the user, or by a script in place of the user.
type Prompt struct {
	N      int    `json:"n"`
	Key    Key    `json:"key"`
	Before int    `json:"before,omitempty"` // messages of the session before it
	Text   string `json:"text,omitempty"`   // only if it contains "##keepit" and a person typed it
}

// A Summary is the result of a [Scanner].
type Summary struct {
	Carry            // totals, including the bytes before this scan
	Tail    int64    // number of bytes after Closed
	Prompts []Prompt // of this scan only
	Waiting []Prompt // that no record repeats up to here; see [Queue.Rest]
	Long    int      // objects of this scan only that are longer than [Longest]
}
