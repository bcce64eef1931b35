package agents

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// Gemini is Google's Gemini CLI: ~/.gemini/tmp/<project>/chats/session-*.jsonl with one record per line or, in older
// versions, session-*.json with all messages in one document. Chats of subagents are in a directory named after their
// session. A line repeats a message together with its additions; the values contain each message, call and result
// once.
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
	Results   json.RawMessage `json:"results,omitempty"`
	Malformed string          `json:"malformed,omitempty"` // a line of the file that is not JSON
}

func (l line) bytes() ([]byte, error) {
	b, err := json.Marshal(l)
	return append(b, '\n'), err
}

// A geminiMessage is one message of a chat.
type geminiMessage struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"` // user, gemini, info, warning, error
	Content   json.RawMessage `json:"content"`
	Display   json.RawMessage `json:"displayContent"` // the user's text; Content also contains files
	Model     string          `json:"model"`
	ToolCalls []struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"toolCalls"`
	Set struct {
		Summary string `json:"summary"`
	} `json:"$set"`
	Rewind string `json:"$rewindTo"`
}

// Unknown returns the type of a message.
func (Gemini) Unknown(value []byte) string {
	var l line
	var m struct {
		Type   string          `json:"type"`
		Set    json.RawMessage `json:"$set"`
		Rewind json.RawMessage `json:"$rewindTo"`
	}
	switch {
	case json.Unmarshal(value, &l) != nil:
		return ""
	case l.Malformed != "":
		return "malformed"
	case l.Record == nil:
		return ""
	case json.Unmarshal(l.Record, &m) != nil:
		return "malformed"
	case m.Set != nil || m.Rewind != nil:
		return ""
	}
	switch m.Type {
	case "user", "gemini", "info", "warning", "error":
		return ""
	}
	return cmp.Or(m.Type, "no type")
}

// Message returns a line as a record of Claude Code.
func (Gemini) Message(value []byte) Rec {
	var l line
	if json.Unmarshal(value, &l) != nil {
		return Rec{Type: "gemini"}
	}
	rec := Rec{Type: "gemini", Timestamp: l.Timestamp, Session: l.Session, Cwd: l.Cwd}
	if l.Results != nil {
		if blocks := geminiResults(l.Results); len(blocks) > 0 {
			rec.Type, rec.Message = "user", &Message{Role: "user", Content: blocks}
		}
		return rec
	}
	var m geminiMessage
	if json.Unmarshal(l.Record, &m) != nil {
		return rec
	}
	rec.UUID = m.ID
	switch {
	case m.Rewind != "":
		rec.RewindTo = m.Rewind
	case m.Set.Summary != "":
		rec.Type, rec.Title = "custom-title", m.Set.Summary
	case m.Type == "user":
		m.user(&rec)
	case m.Type == "gemini":
		said := answer(geminiTexts(m.Content)...)
		if said == nil {
			said = &Message{Role: "assistant"}
		}
		for _, c := range m.ToolCalls {
			said.Content = append(said.Content, geminiCall(c.ID, c.Name, c.Args))
		}
		said.ID, said.Model = m.ID, m.Model
		rec.Type, rec.Message = "assistant", said
	}
	return rec
}

// user sets a message of the user. A summary that Gemini made of earlier messages is the summary of a compaction.
func (m geminiMessage) user(rec *Rec) {
	texts := geminiTexts(m.Display)
	if len(texts) == 0 {
		texts = geminiTexts(m.Content)
	}
	if rec.Message = user(texts...); rec.Message == nil {
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
func geminiTexts(content json.RawMessage) (out []string) {
	var text string
	if len(content) == 0 || string(content) == "null" {
		return nil
	}
	if json.Unmarshal(content, &text) == nil {
		return []string{text}
	}
	var part struct {
		Text    string `json:"text"`
		Thought any    `json:"thought"`
	}
	if json.Unmarshal(content, &part) == nil {
		if part.Text == "" || part.Thought == true {
			return nil
		}
		return []string{part.Text}
	}
	var list []json.RawMessage
	_ = json.Unmarshal(content, &list) // anything else has no text
	for _, one := range list {
		if len(one) > 0 && one[0] != '[' {
			out = append(out, geminiTexts(one)...)
		}
	}
	return out
}

// geminiCall gives a tool the name of the equivalent tool of Claude Code, if there is one.
func geminiCall(id, name string, args json.RawMessage) Block {
	var a struct {
		Command  string `json:"command"`
		Path     string `json:"file_path"`
		Absolute string `json:"absolute_path"`
		Old      string `json:"old_string"`
		New      string `json:"new_string"`
		Content  string `json:"content"`
		Pattern  string `json:"pattern"`
		Query    string `json:"query"`
		Start    int    `json:"start_line"`
		End      int    `json:"end_line"`
		Todos    []struct {
			Description string `json:"description"`
			Status      string `json:"status"`
		} `json:"todos"`
	}
	if json.Unmarshal(args, &a) != nil {
		return call(id, name, args)
	}
	switch name {
	case "run_shell_command":
		return call(id, "Bash", map[string]string{"command": a.Command})
	case "read_file":
		in := map[string]any{"file_path": a.Path + a.Absolute}
		if a.Start > 0 && a.End >= a.Start {
			in["offset"], in["limit"] = a.Start, a.End-a.Start+1
		}
		return call(id, "Read", in)
	case "write_file":
		return call(id, "Write", map[string]string{"file_path": a.Path, "content": a.Content})
	case "replace", "edit":
		return call(id, "Edit", map[string]string{"file_path": a.Path, "old_string": a.Old, "new_string": a.New})
	case "search_file_content", "grep_search":
		return call(id, "Grep", map[string]string{"pattern": a.Pattern})
	case "glob":
		return call(id, "Glob", map[string]string{"pattern": a.Pattern})
	case "google_web_search":
		return call(id, "WebSearch", map[string]string{"query": a.Query})
	case "write_todos", "write_todos_list":
		list := []todo{}
		for _, t := range a.Todos {
			list = append(list, todo{t.Description, t.Status})
		}
		return call(id, "TodoWrite", map[string][]todo{"todos": list})
	}
	return call(id, name, args)
}

// geminiResults returns the results of the tools of a message.
func geminiResults(raw json.RawMessage) (out []Block) {
	var list []struct {
		ID     string          `json:"id"`
		Status string          `json:"status"`
		Result json.RawMessage `json:"result"`
	}
	_ = json.Unmarshal(raw, &list) // results of another shape have no text
	for _, r := range list {
		said, failed := geminiResult(r.Result)
		status := 0
		if i := strings.LastIndex(said, "\nExit Code: "); i >= 0 {
			_, _ = fmt.Sscanf(said[i:], "\nExit Code: %d", &status) // "(none)" of what went well
		}
		out = append(out, result(r.ID, said, failed || r.Status == "error" || r.Status == "cancelled", status))
	}
	return out
}

// geminiResult returns the text of a result: a string, a part or a list of parts.
func geminiResult(raw json.RawMessage) (text string, failed bool) {
	var parts []struct {
		Text     string `json:"text"`
		Response struct {
			Response struct {
				Output string `json:"output"`
				Error  string `json:"error"`
			} `json:"response"`
		} `json:"functionResponse"`
	}
	if len(raw) > 0 && raw[0] == '{' {
		raw = append(append(json.RawMessage("["), raw...), ']')
	}
	if json.Unmarshal(raw, &parts) != nil {
		return strings.Join(geminiTexts(raw), "\n"), false
	}
	var said []string
	for _, p := range parts {
		answer := p.Response.Response
		if s := answer.Output + answer.Error + p.Text; s != "" {
			said = append(said, s)
		}
		failed = failed || answer.Error != ""
	}
	return strings.Join(said, "\n"), failed
}
