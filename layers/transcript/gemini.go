package transcript

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/tidwall/gjson"
)

// Gemini is Google's Gemini CLI: ~/.gemini/tmp/<project>/chats/session-*.jsonl with one record per line or, in older
// versions, session-*.json with all messages in one document. Chats of subagents are in a directory named after their
// session. A line repeats a message together with its additions; the values contain each message once, where it first
// was, with its calls and their results.
type Gemini struct{}

// Detect reports whether a value was made by Values.
func (Gemini) Detect(_, agent string) bool { return agent == "gemini" }

// A line is a value made from other files.
type line struct {
	Agent     string          `json:"agent"`
	Session   string          `json:"sessionId"`
	Cwd       string          `json:"cwd,omitempty"`
	Timestamp string          `json:"timestamp,omitempty"`
	Header    json.RawMessage `json:"header,omitempty"`
	Record    json.RawMessage `json:"record,omitempty"`
	Parts     json.RawMessage `json:"parts,omitempty"`
	Malformed string          `json:"malformed,omitempty"` // a line of the file that is not JSON
}

// made yields the lines of a session.
func made(agent string, s AgentSession, read func() ([]line, error)) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines, err := read()
		if err != nil {
			yield(nil, err)
		}
		for _, l := range lines {
			l.Agent, l.Session = agent, s.ID
			if b, err := json.Marshal(l); !yield(append(b, '\n'), err) {
				return
			}
		}
	}
}

// Unknown returns the type of a message.
func (Gemini) Unknown(value []byte) string {
	var l line
	switch {
	case json.Unmarshal(value, &l) != nil:
		return ""
	case l.Malformed != "":
		return "malformed"
	case l.Record == nil:
		return ""
	}
	m := parse(l.Record)
	if !m.IsObject() {
		return "malformed"
	}
	if m.Get("$set").Exists() || m.Get("$rewindTo").Exists() {
		return ""
	}
	switch kind := m.Get("type").Str; kind {
	case "user", "gemini", "info", "warning", "error":
		return ""
	default:
		return cmp.Or(kind, "no type")
	}
}

// Message returns a line as a record of Claude Code.
func (Gemini) Message(value []byte) agentRec {
	var l line
	if json.Unmarshal(value, &l) != nil {
		return agentRec{Type: "gemini"}
	}
	rec := agentRec{Type: "gemini", Timestamp: l.Timestamp, Session: l.Session, Cwd: l.Cwd}
	m := parse(l.Record)
	rec.UUID = m.Get("id").Str
	summary := m.Get("$set.summary").Str
	switch kind := m.Get("type").Str; {
	case m.Get("$rewindTo").Str != "":
		rec.RewindTo = m.Get("$rewindTo").Str
	case summary != "":
		rec.Type, rec.Title = "custom-title", summary
	case kind == "user":
		geminiUser(m, &rec)
	case kind == "gemini":
		said := modelMessage(geminiTexts(m.Get("content"))...)
		if said == nil {
			said = &agentMessage{Role: "assistant"}
		}
		for _, c := range list(m.Get("toolCalls")) {
			said.Content = append(said.Content, geminiCall(c.Get("id").Str, c.Get("name").Str, c.Get("args")))
			said.Content = append(said.Content, geminiResult(c)...)
		}
		said.ID, said.Model = rec.UUID, m.Get("model").Str
		rec.Type, rec.Message = "assistant", said
	}
	return rec
}

// geminiUser sets a message of the user. A summary that Gemini made of earlier messages is the summary of a compaction.
func geminiUser(m gjson.Result, rec *agentRec) {
	texts := geminiTexts(m.Get("displayContent")) // the user's text; the content also contains files
	if len(texts) == 0 {
		texts = geminiTexts(m.Get("content"))
	}
	if rec.Message = userMessage(texts...); rec.Message == nil {
		return
	}
	rec.Type = "user"
	all := strings.TrimSpace(strings.Join(texts, "\n"))
	rec.Compact = strings.Contains(all, "<state_snapshot>")
	word, _, _ := strings.Cut(all, " ")
	rec.Meta = strings.HasPrefix(all, "<session_context>") || strings.HasPrefix(all, "<hook_context>") ||
		strings.HasPrefix(word, "/") && !strings.ContainsAny(word[1:], "/\n.") // a command of the program
}

// geminiTexts returns the texts of a content: a string, a part, or a list of either. Thoughts are none.
func geminiTexts(content gjson.Result) (out []string) {
	switch {
	case content.Type == gjson.String:
		return []string{content.Str}
	case content.IsObject():
		if text := content.Get("text").Str; text != "" && content.Get("thought").Type != gjson.True {
			return []string{text}
		}
	}
	for _, one := range list(content) {
		if !one.IsArray() {
			out = append(out, geminiTexts(one)...)
		}
	}
	return out
}

// geminiCall gives a tool the name of the equivalent tool of Claude Code, if there is one.
func geminiCall(id, name string, args gjson.Result) agentBlock {
	if !args.IsObject() {
		return call(id, name, json.RawMessage(args.Raw))
	}
	file := args.Get("file_path").Str
	switch name {
	case "run_shell_command":
		return call(id, "Bash", map[string]string{"command": args.Get("command").Str})
	case "read_file":
		in := map[string]any{"file_path": file + args.Get("absolute_path").Str}
		if start, end := args.Get("start_line").Int(), args.Get("end_line").Int(); start > 0 && end >= start {
			in["offset"], in["limit"] = start, end-start+1
		}
		return call(id, "Read", in)
	case "write_file":
		return call(id, "Write", map[string]string{"file_path": file, "content": args.Get("content").Str})
	case "replace", "edit":
		return call(id, "Edit", map[string]string{"file_path": file, "old_string": args.Get("old_string").Str,
			"new_string": args.Get("new_string").Str})
	case "search_file_content", "grep_search":
		return call(id, "Grep", map[string]string{"pattern": args.Get("pattern").Str})
	case "glob":
		return call(id, "Glob", map[string]string{"pattern": args.Get("pattern").Str})
	case "google_web_search":
		return call(id, "WebSearch", map[string]string{"query": args.Get("query").Str})
	case "write_todos", "write_todos_list":
		return todos(id, args.Get("todos"), "description")
	}
	return call(id, name, json.RawMessage(args.Raw))
}

// geminiResult returns the result of a call, none if it has not ended. It is a string, a part or a list of parts.
func geminiResult(c gjson.Result) []agentBlock {
	r, ended := c.Get("result"), c.Get("status").Str
	failed := ended == "error" || ended == "cancelled"
	if !failed && ended != "success" && (!r.Exists() || r.Type == gjson.Null) {
		return nil
	}
	var said []string
	for _, p := range r.Array() {
		answer := p.Get("functionResponse.response")
		if s := p.Str + answer.Get("output").Str + answer.Get("error").Str + p.Get("text").Str; s != "" {
			said = append(said, s)
		}
		failed = failed || answer.Get("error").Str != ""
	}
	text, status := strings.Join(said, "\n"), 0
	if i := strings.LastIndex(text, "\nExit Code: "); i >= 0 {
		_, _ = fmt.Sscanf(text[i:], "\nExit Code: %d", &status) // "(none)" of what went well
	}
	return []agentBlock{result(c.Get("id").Str, text, failed, status)}
}
