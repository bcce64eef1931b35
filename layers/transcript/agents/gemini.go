package agents

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// Gemini is Google's Gemini CLI: ~/.gemini/tmp/<project>/chats/session-*.json, one document with all messages,
// or session-*.jsonl, a message a line. A message has the calls of its tools with their results; its values are
// a line for the message and one for the results.
type Gemini struct{}

// Detect reports whether a value was made by Values.
func (Gemini) Detect(_, agent string) bool { return agent == "gemini" }

// Sessions lists the chats under dir, which is ~/.gemini or a directory in it. A chat names its project by a
// hash of the directory; where Gemini left that directory in .project_root beside the chats, or it is among
// known, the session has it.
func (Gemini) Sessions(dir string) (out []Session, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir:
			return err
		case errors.Is(err, fs.ErrNotExist):
			return nil // gone meanwhile
		case err != nil:
			return err
		}
		ext := filepath.Ext(path)
		if !d.Type().IsRegular() || filepath.Base(filepath.Dir(path)) != "chats" || ext != ".json" && ext != ".jsonl" {
			return nil
		}
		id, err := geminiID(path)
		if err != nil || id == "" {
			return err
		}
		root, _ := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(path)), ".project_root")) // older ones have none
		out = append(out, Session{ID: id, Path: path, Files: []string{path}, Cwd: strings.TrimSpace(string(root))})
		return nil
	})
	return out, err
}

// GeminiProject returns the name that Gemini gives the project in a directory.
func GeminiProject(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}

// A geminiChat is a document, or the first line of one.
type geminiChat struct {
	Session  string            `json:"sessionId"`
	Project  string            `json:"projectHash"`
	Start    string            `json:"startTime"`
	Messages []json.RawMessage `json:"messages,omitempty"`
}

func readChat(path string) (chat geminiChat, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return chat, err
	}
	if filepath.Ext(path) == ".json" {
		if err := json.Unmarshal(b, &chat); err != nil {
			return chat, fmt.Errorf("%s: %w", path, err)
		}
		return chat, nil
	}
	for i, line := range bytes.Split(b, []byte("\n")) {
		switch {
		case len(bytes.TrimSpace(line)) == 0 || !json.Valid(line):
		case i == 0:
			if err := json.Unmarshal(line, &chat); err != nil {
				return chat, fmt.Errorf("%s: %w", path, err)
			}
		default:
			chat.Messages = append(chat.Messages, line)
		}
	}
	return chat, nil
}

func geminiID(path string) (string, error) {
	chat, err := readChat(path)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if errors.As(err, &syntax) || errors.As(err, &kind) {
		return "", nil // no chat
	}
	return chat.Session, err
}

// A line is a value that is made of other files.
type line struct {
	Agent     string          `json:"agent"`
	Session   string          `json:"sessionId"`
	Cwd       string          `json:"cwd,omitempty"`
	Timestamp string          `json:"timestamp,omitempty"`
	Header    json.RawMessage `json:"header,omitempty"`
	Record    json.RawMessage `json:"record,omitempty"`
	Parts     json.RawMessage `json:"parts,omitempty"`
	Results   json.RawMessage `json:"results,omitempty"`
}

func (l line) bytes() ([]byte, error) {
	b, err := json.Marshal(l)
	return append(b, '\n'), err
}

// Values yields a line for the chat, one for each message, and one for the results of a message's tools.
func (Gemini) Values(s Session) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		chat, err := readChat(s.Path)
		if err != nil {
			yield(nil, err)
			return
		}
		head := line{Agent: "gemini", Session: chat.Session, Cwd: s.Cwd, Timestamp: chat.Start}
		head.Header = object(geminiChat{Session: chat.Session, Project: chat.Project, Start: chat.Start})
		if !yield(head.bytes()) {
			return
		}
		for _, m := range chat.Messages {
			record, results, at := withoutResults(m)
			l := line{Agent: "gemini", Session: chat.Session, Cwd: s.Cwd, Timestamp: at, Record: record}
			if !yield(l.bytes()) {
				return
			}
			if l.Record, l.Results = nil, results; results != nil && !yield(l.bytes()) {
				return
			}
		}
	}
}

// withoutResults takes the results of the tools out of a message.
func withoutResults(message json.RawMessage) (record, results json.RawMessage, at string) {
	var m map[string]json.RawMessage
	if json.Unmarshal(message, &m) != nil {
		return message, nil, ""
	}
	_ = json.Unmarshal(m["timestamp"], &at) // one that is no string is none
	var calls []map[string]json.RawMessage
	if json.Unmarshal(m["toolCalls"], &calls) != nil || len(calls) == 0 {
		return message, nil, at
	}
	var out []map[string]json.RawMessage
	for _, c := range calls {
		r := map[string]json.RawMessage{"id": c["id"], "status": c["status"]}
		for _, key := range []string{"result", "resultDisplay"} {
			if v, ok := c[key]; ok {
				r[key] = v
				delete(c, key)
			}
		}
		out = append(out, r)
	}
	m["toolCalls"] = object(calls)
	return object(m), object(out), at
}

// A geminiMessage is one message of a chat.
type geminiMessage struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"` // user, gemini, info, warning, error
	Content   json.RawMessage `json:"content"`
	Model     string          `json:"model"`
	ToolCalls []struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"toolCalls"`
}

// Unknown returns the type of a message.
func (Gemini) Unknown(value []byte) string {
	var l line
	var m geminiMessage
	if json.Unmarshal(value, &l) != nil || l.Record == nil || json.Unmarshal(l.Record, &m) != nil {
		return ""
	}
	switch m.Type {
	case "user", "gemini", "info", "warning", "error":
		return ""
	}
	return cmp.Or(m.Type, "no type")
}

// Message returns what a line says.
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
	switch m.Type {
	case "user":
		if rec.Message = user(geminiTexts(m.Content)...); rec.Message != nil {
			rec.Type = "user"
		}
	case "gemini":
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

// geminiTexts returns the texts of a content: a string, a part, or a list of either.
func geminiTexts(content json.RawMessage) (out []string) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []string{text}
	}
	var part struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &part) == nil {
		return []string{part.Text}
	}
	var list []json.RawMessage
	_ = json.Unmarshal(content, &list) // anything else has no text
	for _, one := range list {
		out = append(out, geminiTexts(one)...)
	}
	return out
}

// geminiCall names a tool as Claude Code does where it does the same.
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
		return call(id, "Read", map[string]string{"file_path": a.Path + a.Absolute})
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
		ID     string `json:"id"`
		Status string `json:"status"`
		Result []struct {
			Response struct {
				Response struct {
					Output string `json:"output"`
					Error  string `json:"error"`
				} `json:"response"`
			} `json:"functionResponse"`
		} `json:"result"`
	}
	_ = json.Unmarshal(raw, &list) // results of another shape have no text
	for _, r := range list {
		var text []string
		failed := r.Status == "error" || r.Status == "cancelled"
		for _, one := range r.Result {
			answer := one.Response.Response
			text = append(text, answer.Output+answer.Error)
			failed = failed || answer.Error != ""
		}
		status := 0
		said := strings.Join(text, "\n")
		if _, rest, ok := strings.Cut(said, "\nExit Code: "); ok {
			_, _ = fmt.Sscanf(rest, "%d", &status) // "(none)" of what went well
		}
		out = append(out, result(r.ID, said, failed, status))
	}
	return out
}
