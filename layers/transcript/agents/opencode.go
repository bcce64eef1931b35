package agents

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
)

// OpenCode is opencode before version 1.2: storage/session/<project>/<session>.json,
// storage/message/<session>/<message>.json and storage/part/<message>/<part>.json below its data directory. Later
// versions keep sessions in a database, see [DatabaseError]; the output of "opencode export" is supported. The values
// of a session are a line for the session, a line for each message with its parts, and a line for the results of a
// message's tools.
type OpenCode struct{}

// Detect reports whether a value was made by Values.
func (OpenCode) Detect(_, agent string) bool { return agent == "opencode" }

// An openSession is the file of a session.
type openSession struct {
	ID        string   `json:"id"`
	Project   string   `json:"projectID"`
	Directory string   `json:"directory"`
	Parent    string   `json:"parentID,omitempty"`
	Title     string   `json:"title"`
	Version   string   `json:"version"`
	Time      openTime `json:"time"`
}

type openTime struct {
	Created int64 `json:"created"` // milliseconds
}

func (t openTime) text() string {
	if t.Created == 0 {
		return ""
	}
	return time.UnixMilli(t.Created).UTC().Format("2006-01-02T15:04:05.000Z")
}

// An openMessage is the file of a message.
type openMessage struct {
	ID      string   `json:"id"`
	Role    string   `json:"role"`
	Model   string   `json:"modelID"`
	Summary any      `json:"summary"` // true: the message is the summary of a compaction
	Time    openTime `json:"time"`
}

// An openPart is the file of a part. Results of tools are in a line of their own.
type openPart struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"` // the client wrote it
	Ignored   bool   `json:"ignored"`   // the model does not see it
	CallID    string `json:"callID"`
	Tool      string `json:"tool"`
	State     struct {
		Input json.RawMessage `json:"input"`
	} `json:"state"`
}

// Unknown returns the type of a part, or the role of a message.
func (OpenCode) Unknown(value []byte) string {
	var l line
	var m openMessage
	var parts []struct {
		Type string `json:"type"`
	}
	switch {
	case json.Unmarshal(value, &l) != nil || l.Record == nil && l.Malformed == "":
		return ""
	case l.Malformed != "" || json.Unmarshal(l.Record, &m) != nil:
		return "malformed"
	case m.Role != "user" && m.Role != "assistant":
		return cmp.Or(m.Role, "no role")
	case l.Parts != nil && json.Unmarshal(l.Parts, &parts) != nil:
		return "malformed"
	}
	for _, p := range parts {
		switch p.Type {
		case "text", "tool", "reasoning", "file", "step-start", "step-finish", "snapshot", "patch", "agent", "subtask",
			"retry", "compaction":
		default:
			return cmp.Or(p.Type, "no type")
		}
	}
	return ""
}

// Message returns a line as a record of Claude Code.
func (OpenCode) Message(value []byte) Rec {
	var l line
	if json.Unmarshal(value, &l) != nil {
		return Rec{Type: "opencode"}
	}
	rec := Rec{Type: "opencode", Timestamp: l.Timestamp, Session: l.Session, Cwd: l.Cwd}
	switch {
	case l.Header != nil:
		var info openSession
		if json.Unmarshal(l.Header, &info) != nil {
			return rec
		}
		if info.Version != "" {
			rec.Version = "opencode " + info.Version
		}
		if info.Title != "" && !strings.HasPrefix(info.Title, "New session - ") {
			rec.Type, rec.Title = "custom-title", info.Title
		}
	case l.Results != nil:
		if blocks := openResults(l.Results); len(blocks) > 0 {
			rec.Type, rec.Message = "user", &Message{Role: "user", Content: blocks}
		}
	default:
		openMessageOf(l, &rec)
	}
	return rec
}

func openMessageOf(l line, rec *Rec) {
	var m openMessage
	var parts []json.RawMessage
	if json.Unmarshal(l.Record, &m) != nil || json.Unmarshal(l.Parts, &parts) != nil {
		return
	}
	rec.UUID = m.ID
	out := &Message{Role: m.Role}
	for _, raw := range parts {
		var p openPart
		if json.Unmarshal(raw, &p) != nil {
			continue // an unknown shape: see Unknown
		}
		switch {
		case p.Type == "text" && strings.TrimSpace(p.Text) != "" && !p.Synthetic && !p.Ignored:
			out.Content = append(out.Content, Block{Type: "text", Text: p.Text})
		case p.Type == "tool":
			out.Content = append(out.Content, openCall(p)...)
		}
	}
	switch {
	case len(out.Content) == 0:
		return
	case m.Role == "user":
		rec.Type = "user"
	case m.Role == "assistant" && m.Summary == true:
		rec.Type, rec.Compact, out.Role = "user", true, "user"
	case m.Role == "assistant":
		rec.Type, out.ID, out.Model = "assistant", m.ID, m.Model
	default:
		return
	}
	rec.Message = out
}

// An openInput is the input of any tool, so most members are empty.
type openInput struct {
	Command     string `json:"command"`
	File        string `json:"filePath"`
	Path        string `json:"path"`
	Old         string `json:"oldString"`
	New         string `json:"newString"`
	Content     string `json:"content"`
	Pattern     string `json:"pattern"`
	Patch       string `json:"patchText"`
	Query       string `json:"query"`
	URL         string `json:"url"`
	Description string `json:"description"`
	Kind        string `json:"subagent_type"`
	Todos       []todo `json:"todos"`
	Offset      int    `json:"offset"`
	Limit       int    `json:"limit"`
	Edits       []struct {
		Old string `json:"oldString"`
		New string `json:"newString"`
	} `json:"edits"`
}

// openCall gives a tool the name of the equivalent tool of Claude Code, if there is one.
func openCall(p openPart) []Block {
	var a openInput
	if json.Unmarshal(p.State.Input, &a) != nil {
		return []Block{call(p.CallID, p.Tool, p.State.Input)}
	}
	file := cmp.Or(a.File, a.Path)
	one := func(name string, input any) []Block { return []Block{call(p.CallID, name, input)} }
	switch p.Tool {
	case "bash", "shell":
		return one("Bash", map[string]string{"command": a.Command})
	case "read":
		return one("Read", map[string]any{"file_path": file, "offset": a.Offset, "limit": a.Limit})
	case "write":
		return one("Write", map[string]string{"file_path": file, "content": a.Content})
	case "edit":
		return one("Edit", map[string]string{"file_path": file, "old_string": a.Old, "new_string": a.New})
	case "multiedit":
		edits := []map[string]string{}
		for _, e := range a.Edits {
			edits = append(edits, map[string]string{"old_string": e.Old, "new_string": e.New})
		}
		return one("MultiEdit", map[string]any{"file_path": file, "edits": edits})
	case "apply_patch", "patch":
		return patchCalls(p.CallID, a.Patch)
	case "grep", "glob":
		return one(strings.ToUpper(p.Tool[:1])+p.Tool[1:], map[string]string{"pattern": a.Pattern, "path": a.Path})
	case "webfetch":
		return one("WebFetch", map[string]string{"url": a.URL})
	case "websearch":
		return one("WebSearch", map[string]string{"query": a.Query})
	case "task":
		return one("Task", map[string]string{"description": a.Description, "subagent_type": a.Kind})
	case "todowrite":
		return one("TodoWrite", map[string][]todo{"todos": a.Todos})
	}
	return one(p.Tool, p.State.Input)
}

// openResults returns the results of the tools of a message.
func openResults(raw json.RawMessage) (out []Block) {
	var list []struct {
		CallID   string `json:"callID"`
		Status   string `json:"status"`
		Output   string `json:"output"`
		Error    string `json:"error"`
		Metadata struct {
			Exit int `json:"exit"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(raw, &list) // results of another shape have no text
	for _, r := range list {
		if r.Status == "completed" || r.Status == "error" {
			out = append(out, result(r.CallID, r.Output+r.Error, r.Status == "error", r.Metadata.Exit))
		}
	}
	return out
}
