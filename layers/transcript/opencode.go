package transcript

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// openCode is opencode, by the output of "opencode export": it keeps sessions in a database, see [DatabaseError]. The
// values of a session are a line for the session and a line for each message with its parts.
type openCode struct{}

// Detect reports whether a value was made by Values.
func (openCode) Detect(_, agent string) bool { return agent == "opencode" }

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

// Unknown returns the type of a part, or the role of a message.
func (openCode) Unknown(value []byte) string {
	var l line
	if json.Unmarshal(value, &l) != nil || l.Record == nil {
		return ""
	}
	m, parts := parse(l.Record), parse(l.Parts)
	if !m.IsObject() || l.Parts != nil && !parts.IsArray() {
		return "malformed"
	}
	if role := m.Get("role").Str; role != "user" && role != "assistant" {
		return cmp.Or(role, "no role")
	}
	for _, p := range list(parts) {
		switch kind := p.Get("type").Str; kind {
		case "text", "tool", "reasoning", "file", "step-start", "step-finish", "snapshot", "patch", "agent", "subtask",
			"retry", "compaction":
		default:
			return cmp.Or(kind, "no type")
		}
	}
	return ""
}

// Message returns a line as a record of Claude Code.
func (openCode) Message(value []byte) agentRec {
	var l line
	if json.Unmarshal(value, &l) != nil {
		return agentRec{Type: "opencode"}
	}
	rec := agentRec{Type: "opencode", Timestamp: l.Timestamp, Session: l.Session, Cwd: l.Cwd}
	if l.Header != nil {
		info := parse(l.Header)
		if version := info.Get("version").Str; version != "" {
			rec.Version = "opencode " + version
		}
		if title := info.Get("title").Str; title != "" && !strings.HasPrefix(title, "New session - ") {
			rec.Type, rec.Title = "custom-title", title
		}
		return rec
	}
	openMessage(parse(l.Record), parse(l.Parts), &rec)
	return rec
}

// openMessage sets a message with its parts. The client wrote a synthetic part, and the model does not see an ignored
// one.
func openMessage(m, parts gjson.Result, rec *agentRec) {
	rec.UUID = m.Get("id").Str
	role := m.Get("role").Str
	out := &agentMessage{Role: role}
	for _, p := range list(parts) {
		text, hidden := p.Get("text").Str, p.Get("synthetic").Bool() || p.Get("ignored").Bool()
		switch kind := p.Get("type").Str; {
		case kind == "text" && strings.TrimSpace(text) != "" && !hidden:
			out.Content = append(out.Content, agentBlock{Type: "text", Text: text})
		case kind == "tool":
			out.Content = append(out.Content, openCall(p.Get("callID").Str, p.Get("tool").Str, p.Get("state.input"))...)
			state := p.Get("state")
			if status := state.Get("status").Str; status == "completed" || status == "error" {
				out.Content = append(out.Content, result(p.Get("callID").Str, state.Get("output").Str+state.Get("error").Str,
					status == "error", int(state.Get("metadata.exit").Int())))
			}
		}
	}
	switch {
	case len(out.Content) == 0:
		return
	case role == "user":
		rec.Type = "user"
	case role == "assistant" && m.Get("summary").Type == gjson.True: // of a compaction
		rec.Type, rec.Compact, out.Role = "user", true, "user"
	case role == "assistant":
		rec.Type, out.ID, out.Model = "assistant", rec.UUID, m.Get("modelID").Str
	default:
		return
	}
	rec.Message = out
}

// openCall gives a tool the name of the equivalent tool of Claude Code, if there is one.
func openCall(id, tool string, a gjson.Result) []agentBlock {
	if !a.IsObject() {
		return []agentBlock{call(id, tool, json.RawMessage(a.Raw))}
	}
	file := cmp.Or(a.Get("filePath").Str, a.Get("path").Str)
	one := func(name string, input any) []agentBlock { return []agentBlock{call(id, name, input)} }
	switch tool {
	case "bash", "shell":
		return one("Bash", map[string]string{"command": a.Get("command").Str})
	case "read":
		return one("Read", map[string]any{"file_path": file, "offset": a.Get("offset").Int(), "limit": a.Get("limit").Int()})
	case "write":
		return one("Write", map[string]string{"file_path": file, "content": a.Get("content").Str})
	case "edit":
		return one("Edit", openEdit(a, map[string]string{"file_path": file}))
	case "multiedit":
		edits := []map[string]string{}
		for _, e := range list(a.Get("edits")) {
			edits = append(edits, openEdit(e, map[string]string{}))
		}
		return one("MultiEdit", map[string]any{"file_path": file, "edits": edits})
	case "apply_patch", "patch":
		return patchCalls(id, a.Get("patchText").Str)
	case "grep", "glob":
		return one(strings.ToUpper(tool[:1])+tool[1:], map[string]string{"pattern": a.Get("pattern").Str, "path": a.Get("path").Str})
	case "webfetch":
		return one("WebFetch", map[string]string{"url": a.Get("url").Str})
	case "websearch":
		return one("WebSearch", map[string]string{"query": a.Get("query").Str})
	case "task":
		return one("Task", map[string]string{"description": a.Get("description").Str, "subagent_type": a.Get("subagent_type").Str})
	case "todowrite":
		return []agentBlock{todos(id, a.Get("todos"), "content")}
	}
	return one(tool, json.RawMessage(a.Raw))
}

// openEdit adds the texts of an edit to its input.
func openEdit(e gjson.Result, in map[string]string) map[string]string {
	in["old_string"], in["new_string"] = e.Get("oldString").Str, e.Get("newString").Str
	return in
}
