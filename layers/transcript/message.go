package transcript

import (
	"errors"
	"time"
)

// ErrOpaque reports that a value is not a JSON object and has no message.
var ErrOpaque = errors.New("value is opaque")

// A Kind is the kind of a [Block].
type Kind string

// The kinds of blocks. Unknown kinds are Other.
const (
	Text       Kind = "text"
	Thinking   Kind = "thinking"
	ToolUse    Kind = "tool_use"
	ToolResult Kind = "tool_result"
	Image      Kind = "image"
	Other      Kind = "other"
)

// A Block is one part of a message's content. String content is one block of kind Text.
type Block struct {
	Kind    Kind
	Text    string // of text, thinking and tool_result (its text parts, one per line)
	Name    string // of tool_use: the tool
	ToolID  string // joins a tool_use with its tool_result
	Input   []byte // of tool_use: its input, JSON
	Content []byte // of tool_result: its content, JSON, a string or an array of blocks
	IsError bool   // of tool_result
}

// Usage is the number of tokens that the model read and wrote. All records with the same message id repeat the usage of
// one answer; its output grows from record to record, so that the last one counts.
type Usage struct {
	Input, Output int64
	CacheWrite    int64 // for all durations
	CacheHour     int64 // of CacheWrite: what is kept for an hour, which costs more
	CacheRead     int64
	Searches      int64 // of the web, by the server
}

// A Message is a decoded record. Fields that the record does not have are empty. Byte slices are parts of the decoded
// value.
type Message struct {
	N                int    // of the value
	Type, Subtype    string // "user", "assistant", "system"/"compact_boundary", "attachment"/its type, "progress", ...
	Role             string // of message: "user" or "assistant"
	TS               string // the timestamp as written
	Time             time.Time
	UUID, ParentUUID string
	LogicalParent    string // of a compaction: the record before it, which is not its parent
	SessionID        string
	ID               string // message.id: records of one answer of the model share it
	Model            string
	Cwd, Branch      string
	Version          string // of Claude Code
	AgentID          string
	Entrypoint       string // how the client was started: "cli", "claude-vscode", "sdk-cli", ...; see [Interactive]
	// origin.kind: the sender of a user record, "human" or a part of the client; empty for older clients
	Origin         string
	PromptSource   string // where a prompt comes from: "typed", "sdk", "system", "loop_wakeup", ...; see [Message.Human]
	TurnOrigin     string // who caused the turn: "human", "sdk", "scheduled", "task_notification", ...
	AgentName      string // of a teammate, which the lead of a team started
	Feedback       string // of a refused call: the user's words
	Plan           bool   // the record is an accepted plan that the client sends to a new context
	Inserted       bool   // a tool, or the client for its own use, wrote the text of a user record
	Rewind         Rewind // the record withdraws earlier ones
	Operation      string // of queue-operation
	Mode           string // of a queued command: "prompt" when it was typed
	Title          string // of summary and custom-title records
	LeafUUID       string // of summary: the record that it describes
	Content        string // of system, queue-operation and queued_command records
	Sidechain      bool
	Meta           bool // written by the client, not shown
	CompactSummary bool
	Blocks         []Block
	Usage          Usage
	Message        []byte // JSON, of user and assistant records: the source of Role to Usage
	ToolUseResult  []byte // JSON, the client's own copy of a tool result
	Raw            []byte
}

// OfSession reports whether m, a record of any type, belongs to a session: it has an ID that records have, or it is of
// the types that have none, or of another agent. Objects with a type are in many files.
func (m Message) OfSession() bool {
	switch m.Type {
	case "user", "assistant", "summary", "file-history-snapshot":
		return true
	}
	return m.SessionID != "" || m.UUID != "" || m.AgentID != "" || Foreign(m.Raw)
}
