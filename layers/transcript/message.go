package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrOpaque says that a value is no JSON object, so that it holds no message.
var ErrOpaque = errors.New("value is opaque")

// A Kind says what a [Block] is.
type Kind string

// The kinds of blocks. What Claude Code may add one day is Other.
const (
	Text       Kind = "text"
	Thinking   Kind = "thinking"
	ToolUse    Kind = "tool_use"
	ToolResult Kind = "tool_result"
	Image      Kind = "image"
	Other      Kind = "other"
)

// A Block is one part of a message's content. Content that is a plain string is one block of kind Text.
type Block struct {
	Kind    Kind
	Text    string // of text, thinking and tool_result (its text parts, one a line)
	Name    string // of tool_use: the tool
	ToolID  string // joins a tool_use with its tool_result
	Input   []byte // of tool_use: its input, JSON
	Content []byte // of tool_result: its content, JSON, a string or an array of blocks
	IsError bool   // of tool_result
}

// Usage is what the model reported to have read and written. All records with the same message id repeat the same usage.
type Usage struct{ Input, Output, CacheWrite, CacheRead int64 }

// A Message is what one record says. Fields that the record does not have are empty; byte slices are parts of the
// value that was decoded.
type Message struct {
	N                int    // of the value
	Type, Subtype    string // "user", "assistant", "system"/"compact_boundary", "attachment"/its type, "progress", ...
	Role             string // of message: "user" or "assistant"
	TS               string // as it is written
	Time             time.Time
	UUID, ParentUUID string
	SessionID        string
	ID               string // message.id: records of one answer of the model share it
	Model            string
	Cwd, Branch      string
	Version          string // of Claude Code
	AgentID          string
	Origin           string // origin.kind: who sent a user record, "human" or a part of the client; older clients do not say
	Operation        string // of queue-operation
	Mode             string // of a queued command: "prompt" when it was typed
	Title            string // of summary and custom-title records
	LeafUUID         string // of summary: the record it speaks of
	Content          string // of system, queue-operation and queued_command records
	Sidechain        bool
	Meta             bool // written by the client, not shown
	CompactSummary   bool
	Blocks           []Block
	Usage            Usage
	Message          []byte // JSON, of user and assistant records: what Role to Usage come from
	ToolUseResult    []byte // JSON, the client's own copy of a tool result
	Raw              []byte
}

// Decode reads the record v. The error wraps [ErrOpaque] for an opaque value. A field of an unexpected type counts as missing.
func Decode(v Value) (Message, error) { return decode(v, true) }

// Skim is [Decode] without the text of tool results and of thinking, which is most of a transcript: [Block.Result]
// gives it for the blocks where it is wanted.
func Skim(v Value) (Message, error) { return decode(v, false) }

// Result returns the text parts of a tool_result, one a line.
func (b Block) Result() string { return resultText(b.Content) }

func decode(v Value, whole bool) (Message, error) {
	m := Message{N: v.N, Raw: v.Raw}
	if v.Opaque {
		return m, fmt.Errorf("message %d: %w", v.N, ErrOpaque)
	}
	var message, attachment []byte
	err := members(v.Raw, func(key, value []byte) bool {
		switch string(key) {
		case "message":
			message = value
		case "attachment":
			attachment = value
		default:
			m.set(key, value)
		}
		return true
	})
	if err != nil {
		return m, fmt.Errorf("message %d: %w", v.N, err)
	}
	if m.TS != "" {
		if t, err := time.Parse(time.RFC3339, m.TS); err == nil {
			m.Time = t
		}
	}
	if attachment != nil && m.Type == "attachment" {
		m.attach(attachment)
	}
	if message != nil {
		m.Message = message
		m.fill(message, whole)
	}
	return m, nil
}

// set takes a member of the record itself.
func (m *Message) set(key, value []byte) {
	switch string(key) {
	case "type":
		m.Type = quoted(value)
	case "subtype":
		m.Subtype = quoted(value)
	case "timestamp":
		m.TS = quoted(value)
	case "uuid":
		m.UUID = quoted(value)
	case "parentUuid":
		m.ParentUUID = quoted(value)
	case "sessionId":
		m.SessionID = quoted(value)
	case "cwd":
		m.Cwd = quoted(value)
	case "gitBranch":
		m.Branch = quoted(value)
	case "version":
		m.Version = quoted(value)
	case "agentId":
		m.AgentID = quoted(value)
	case "isSidechain":
		m.Sidechain = string(value) == "true"
	case "isMeta":
		m.Meta = string(value) == "true"
	case "isCompactSummary":
		m.CompactSummary = string(value) == "true"
	case "toolUseResult":
		m.ToolUseResult = value
	case "summary", "customTitle":
		m.Title = quoted(value)
	case "leafUuid":
		m.LeafUUID = quoted(value)
	case "operation":
		m.Operation = quoted(value)
	case "content":
		m.Content = contentText(value)
	case "origin":
		m.Origin = member(value, "kind")
	}
}

// attach takes an attachment: its type, and what was typed if it is a queued command.
func (m *Message) attach(raw []byte) {
	m.Subtype = member(raw, "type")
	if m.Subtype != "queued_command" {
		return
	}
	_ = members(raw, func(key, value []byte) bool { // a broken attachment has no fields
		switch string(key) {
		case "prompt":
			m.Content = contentText(value)
		case "commandMode":
			m.Mode = quoted(value)
		case "origin":
			m.Origin = member(value, "kind")
		}
		return true
	})
}

// fill takes the message of a user or assistant record.
func (m *Message) fill(raw []byte, whole bool) {
	_ = members(raw, func(key, value []byte) bool { // what is no object has no fields
		switch string(key) {
		case "role":
			m.Role = quoted(value)
		case "id":
			m.ID = quoted(value)
		case "model":
			m.Model = quoted(value)
		case "content":
			m.Blocks = blocks(value, whole)
		case "usage":
			m.Usage = usage(value)
		}
		return true
	})
}

func blocks(raw []byte, whole bool) []Block {
	if len(raw) > 0 && raw[0] == '"' {
		return []Block{{Kind: Text, Text: quoted(raw)}}
	}
	var all []Block
	_ = elements(raw, func(value []byte) bool { // content that is neither string nor array has no blocks
		if len(value) > 0 && value[0] == '"' {
			all = append(all, Block{Kind: Text, Text: quoted(value)})
		} else {
			all = append(all, block(value, whole))
		}
		return true
	})
	return all
}

func block(raw []byte, whole bool) Block {
	b := Block{}
	var text, thinking []byte
	_ = members(raw, func(key, value []byte) bool { // a block that is no object is of kind Other
		switch string(key) {
		case "type":
			b.Kind = Kind(quoted(value))
		case "text":
			text = value
		case "thinking":
			thinking = value
		case "name":
			b.Name = quoted(value)
		case "id", "tool_use_id":
			b.ToolID = quoted(value)
		case "input":
			b.Input = value
		case "content":
			b.Content = value
		case "is_error":
			b.IsError = string(value) == "true"
		}
		return true
	})
	switch b.Kind {
	case Text:
		b.Text = quoted(text)
	case Thinking:
		if whole {
			b.Text = quoted(thinking)
		}
	case ToolResult:
		if whole {
			b.Text = resultText(b.Content)
		}
	case ToolUse, Image:
	default:
		b.Kind = Other
	}
	return b
}

// resultText returns the text of a tool result's content: a string, or blocks of which the text ones count.
func resultText(raw []byte) string {
	if len(raw) > 0 && raw[0] == '"' {
		return quoted(raw)
	}
	return contentText(raw)
}

// contentText returns raw if it is a string, or the text of its text blocks, one a line.
func contentText(raw []byte) string {
	var parts []string
	for _, b := range blocks(raw, false) {
		if b.Kind == Text {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func usage(raw []byte) Usage {
	var u Usage
	_ = members(raw, func(key, value []byte) bool { // no object: nothing was used
		switch string(key) {
		case "input_tokens":
			u.Input = number(value)
		case "output_tokens":
			u.Output = number(value)
		case "cache_creation_input_tokens":
			u.CacheWrite = number(value)
		case "cache_read_input_tokens":
			u.CacheRead = number(value)
		}
		return true
	})
	return u
}

func number(raw []byte) int64 {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// member returns the string member of that name, or "".
func member(raw []byte, name string) string {
	found := ""
	_ = members(raw, func(key, value []byte) bool { // no object: no member
		if string(key) == name {
			found = quoted(value)
		}
		return true
	})
	return found
}

// contains reports whether raw holds s as it stands.
func contains(raw []byte, s string) bool { return bytes.Contains(raw, []byte(s)) }
