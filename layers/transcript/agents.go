package transcript

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/tidwall/gjson"
)

// An Agent is a coding agent other than Claude Code (Codex CLI, Gemini CLI, OpenCode) and its format.
//
// A session of any agent is stored as a stream of JSON values, one per line. The session file of Codex is such a
// stream, so it is the original. Gemini writes a file per session and OpenCode exports one; their Values are lines made from this
// file, with each part unchanged, and the file itself is stored with the session, byte for byte.
//
// A value is converted to the record that Claude Code would have written: a prompt, an answer, a tool call or its result. All
// readers of a session therefore handle one format. Tools that do the same as a tool of Claude Code get its name and
// input, so that commands, edits and to-do lists are recognised. An unknown value becomes a record without a message; its
// bytes stay in the session.
type Agent interface {
	// Detect reports whether the top-level members of a value are those of this agent: its type and the agent that
	// it names.
	Detect(kind, agent string) bool
	// Values yields the values of a session from its files, in order.
	Values(s AgentSession) iter.Seq2[[]byte, error]
	// Message returns a value as a record of Claude Code.
	Message(value []byte) agentRec
	// Unknown returns the type of a value, or of a part of it, that this package does not know; "" if it knows all.
	Unknown(value []byte) string
	// Sessions lists the sessions under the agent's directory, in the order of their files. A file of a session that
	// cannot be read is a [*FileError], next to the other sessions.
	Sessions(dir string) ([]AgentSession, error)
}

// An AgentSession is the files of one session.
type AgentSession struct {
	ID     string
	Path   string   // the file with the session, or with its name
	Files  []string // the files that belong to it; empty if Path is a stream of values
	Cwd    string   // the working directory, if known
	Parent string   // the parent session of a subagent
	Packed bool     // Path is a stream of values, compressed with zstd
}

// A FileError reports a session file that cannot be read.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// parentID returns the id of a parent session, which the files of an agent may spell in any way, as an id that a record
// can contain: other characters than letters, digits and ._- become underscores.
func parentID(id string) string {
	id = strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, id)
	if id != "" && (id[0] == '.' || id[0] == '-') {
		id = "_" + id
	}
	return id[:min(len(id), 200)]
}

// AgentNames are the names of the agents that can be imported, sorted.
func AgentNames() []string { return []string{"codex", "gemini", "opencode"} }

// AgentByName returns the agent with a name, nil if there is none.
func AgentByName(name string) Agent {
	switch name {
	case "codex":
		return Codex{}
	case "gemini":
		return Gemini{}
	case "opencode":
		return openCode{}
	}
	return nil
}

// agentOf returns the agent whose values have these members, nil for an unknown agent.
func agentOf(kind, agent string) Agent {
	for _, name := range AgentNames() {
		if a := AgentByName(name); a.Detect(kind, agent) {
			return a
		}
	}
	return nil
}

// agentRecord returns the Claude Code record for a value with these members, nil for an unknown agent.
func agentRecord(value []byte, kind, agent string) []byte {
	a := agentOf(kind, agent)
	if a == nil {
		return nil
	}
	b, err := json.Marshal(a.Message(value))
	if err != nil {
		return nil // only raw JSON of the value can fail; then it has no message
	}
	return b
}

// An agentRec is a record in the form of Claude Code.
type agentRec struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype,omitempty"`
	Timestamp string `json:"timestamp,omitempty"`
	Session   string `json:"sessionId,omitempty"`
	Cwd       string `json:"cwd,omitempty"`
	Branch    string `json:"gitBranch,omitempty"`
	Version   string `json:"version,omitempty"` // of the agent: "codex 0.65.0"
	UUID      string `json:"uuid,omitempty"`
	Meta      bool   `json:"isMeta,omitempty"`
	Compact   bool   `json:"isCompactSummary,omitempty"`
	Title     string `json:"customTitle,omitempty"`
	// what the record withdraws: a number of turns, or everything from the record with this uuid on
	RewindTurns int           `json:"rewindTurns,omitempty"`
	RewindTo    string        `json:"rewindTo,omitempty"`
	Message     *agentMessage `json:"message,omitempty"`
}

// An agentMessage is the message of a record: text, tool calls or results.
type agentMessage struct {
	Role    string       `json:"role"`
	ID      string       `json:"id,omitempty"`
	Model   string       `json:"model,omitempty"`
	Content []agentBlock `json:"content"`
}

// An agentBlock is one part of a message.
type agentBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Of      string          `json:"tool_use_id,omitempty"`
	Content string          `json:"content,omitempty"`
	IsError bool            `json:"is_error,omitempty"`
}

// userMessage returns the record of a message of the user, or of the agent as the user.
func userMessage(texts ...string) *agentMessage { return said("user", texts) }

// modelMessage returns the record of a message of the model.
func modelMessage(texts ...string) *agentMessage { return said("assistant", texts) }

func said(role string, texts []string) *agentMessage {
	m := &agentMessage{Role: role}
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			m.Content = append(m.Content, agentBlock{Type: "text", Text: t})
		}
	}
	if len(m.Content) == 0 {
		return nil
	}
	return m
}

// call returns the block of a tool call.
func call(id, name string, input any) agentBlock {
	raw, ok := input.(json.RawMessage)
	if !ok {
		raw = jsonObject(input)
	}
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	return agentBlock{Type: "tool_use", ID: id, Name: name, Input: raw}
}

// result returns the block of a tool result. A non-zero exit status is written first, as Claude Code does.
func result(id, text string, failed bool, status int) agentBlock {
	if status != 0 {
		text, failed = fmt.Sprintf("Exit code %d\n%s", status, text), true
	}
	return agentBlock{Type: "tool_result", Of: id, Content: text, IsError: failed}
}

// parse returns a value of an agent for reading; nothing if it is not JSON. A member of another type than expected is
// read as empty.
func parse(value []byte) gjson.Result {
	if !json.Valid(value) {
		return gjson.Result{}
	}
	return gjson.ParseBytes(value)
}

// list returns the elements of a list, none of any other value.
func list(r gjson.Result) []gjson.Result {
	if !r.IsArray() {
		return nil
	}
	return r.Array()
}

// textsOf returns the strings of a list.
func textsOf(r gjson.Result) (out []string) {
	for _, w := range list(r) {
		out = append(out, w.Str)
	}
	return out
}

// todos returns the call that writes a to-do list, whose items have their text in the member with that name.
func todos(id string, items gjson.Result, text string) agentBlock {
	out := []todo{}
	for _, t := range list(items) {
		out = append(out, todo{t.Get(text).Str, t.Get("status").Str})
	}
	return call(id, "TodoWrite", map[string][]todo{"todos": out})
}

func jsonObject(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil // strings and maps of them always can
	}
	return b
}

// A todo is an item of a model's to-do list.
type todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}
