package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// OpenCode is opencode: storage/session/<project>/<session>.json, storage/message/<session>/<message>.json and
// storage/part/<message>/<part>.json below its data directory. The values of a session are a line for the
// session, one for each message with its parts, and one for the results of a message's tools.
type OpenCode struct{}

// Detect reports whether a value was made by Values.
func (OpenCode) Detect(_, agent string) bool { return agent == "opencode" }

// Sessions lists the sessions under dir, which is the data directory of opencode or its storage.
func (OpenCode) Sessions(dir string) (out []Session, err error) {
	if fi, err := os.Stat(filepath.Join(dir, "storage")); err == nil && fi.IsDir() {
		dir = filepath.Join(dir, "storage")
	}
	found, err := filepath.Glob(filepath.Join(dir, "session", "*", "*.json"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	for _, path := range found {
		var info openSession
		if err := readJSON(path, &info); err != nil {
			return out, err
		}
		if info.ID == "" {
			continue
		}
		s := Session{ID: info.ID, Path: path, Cwd: info.Directory}
		messages, err := jsonFiles(filepath.Join(dir, "message", info.ID))
		if err != nil {
			return out, err
		}
		s.Files = append([]string{path}, messages...)
		for _, m := range messages {
			parts, err := jsonFiles(filepath.Join(dir, "part", strings.TrimSuffix(filepath.Base(m), ".json")))
			if err != nil {
				return out, err
			}
			s.Files = append(s.Files, parts...)
		}
		out = append(out, s)
	}
	return out, nil
}

// jsonFiles returns the JSON files of a directory, none if there is no such directory.
func jsonFiles(dir string) (out []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".json" && e.Type().IsRegular() {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, err
}

func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

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
	Summary any      `json:"summary"` // true: the message sums up what a compaction dropped
	Time    openTime `json:"time"`
}

// An openPart is the file of a part. Of a tool's state the results are in a line of their own.
type openPart struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"` // the client wrote it
	CallID    string `json:"callID"`
	Tool      string `json:"tool"`
	State     struct {
		Input json.RawMessage `json:"input"`
	} `json:"state"`
}

// Values yields the lines of a session.
func (OpenCode) Values(s Session) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var info openSession
		if err := readJSON(s.Path, &info); err != nil {
			yield(nil, err)
			return
		}
		head := line{Agent: "opencode", Session: s.ID, Cwd: info.Directory, Timestamp: info.Time.text(), Header: object(info)}
		if !yield(head.bytes()) {
			return
		}
		messages, err := openMessages(s)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, m := range messages {
			l := line{Agent: "opencode", Session: s.ID, Cwd: info.Directory, Timestamp: m.info.Time.text(), Record: m.raw}
			var results json.RawMessage
			if l.Parts, results, err = m.split(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(l.bytes()) {
				return
			}
			if l.Record, l.Parts, l.Results = nil, nil, results; results != nil && !yield(l.bytes()) {
				return
			}
		}
	}
}

// A stored is a message with the files of its parts.
type stored struct {
	info  openMessage
	raw   json.RawMessage
	parts []string
}

// openMessages returns the messages of a session by time.
func openMessages(s Session) (out []stored, err error) {
	for _, path := range s.Files {
		if filepath.Base(filepath.Dir(filepath.Dir(path))) != "message" {
			continue
		}
		var m stored
		if m.raw, err = os.ReadFile(path); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(m.raw, &m.info); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		id := strings.TrimSuffix(filepath.Base(path), ".json")
		for _, part := range s.Files {
			if dir := filepath.Dir(part); filepath.Base(dir) == id && filepath.Base(filepath.Dir(dir)) == "part" {
				m.parts = append(m.parts, part)
			}
		}
		slices.Sort(m.parts) // ids grow with time
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b stored) int {
		return cmp.Or(cmp.Compare(a.info.Time.Created, b.info.Time.Created), cmp.Compare(a.info.ID, b.info.ID))
	})
	return out, nil
}

// split returns the parts of a message without the results of tools, and these.
func (m stored) split() (parts, results json.RawMessage, err error) {
	list, out := []map[string]json.RawMessage{}, []map[string]json.RawMessage{}
	for _, path := range m.parts {
		var part, state map[string]json.RawMessage
		if err := readJSON(path, &part); err != nil {
			return nil, nil, err
		}
		if json.Unmarshal(part["state"], &state) == nil && part["callID"] != nil {
			r := map[string]json.RawMessage{"callID": part["callID"]}
			for _, key := range []string{"status", "output", "error", "metadata"} {
				if v, ok := state[key]; ok {
					r[key] = v
					delete(state, key)
				}
			}
			out = append(out, r)
			part["state"] = object(state)
		}
		list = append(list, part)
	}
	if len(out) > 0 {
		results = object(out)
	}
	return object(list), results, nil
}

// Unknown returns the type of a part, or the role of a message.
func (OpenCode) Unknown(value []byte) string {
	var l line
	var m openMessage
	var parts []openPart
	if json.Unmarshal(value, &l) != nil || l.Record == nil || json.Unmarshal(l.Record, &m) != nil {
		return ""
	}
	if m.Role != "user" && m.Role != "assistant" {
		return cmp.Or(m.Role, "no role")
	}
	if json.Unmarshal(l.Parts, &parts) != nil {
		return "parts"
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

// Message returns what a line says.
func (OpenCode) Message(value []byte) Rec {
	var l line
	if json.Unmarshal(value, &l) != nil {
		return Rec{Type: "opencode"}
	}
	rec := Rec{Type: "opencode", Timestamp: l.Timestamp, Session: l.Session, Cwd: l.Cwd}
	switch {
	case l.Header != nil:
		var info openSession
		if json.Unmarshal(l.Header, &info) == nil && info.Version != "" {
			rec.Version = "opencode " + info.Version
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
	var parts []openPart
	if json.Unmarshal(l.Record, &m) != nil || json.Unmarshal(l.Parts, &parts) != nil {
		return
	}
	rec.UUID = m.ID
	out := &Message{Role: m.Role}
	synthetic := 0
	for _, p := range parts {
		switch {
		case p.Type == "text" && strings.TrimSpace(p.Text) != "":
			if p.Synthetic {
				synthetic++
				continue
			}
			out.Content = append(out.Content, Block{Type: "text", Text: p.Text})
		case p.Type == "tool":
			out.Content = append(out.Content, openCall(p))
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

// openCall names a tool as Claude Code does where it does the same.
func openCall(p openPart) Block {
	var a struct {
		Command string `json:"command"`
		Path    string `json:"filePath"`
		Old     string `json:"oldString"`
		New     string `json:"newString"`
		Content string `json:"content"`
		Pattern string `json:"pattern"`
		URL     string `json:"url"`
		Todos   []todo `json:"todos"`
	}
	if json.Unmarshal(p.State.Input, &a) != nil {
		return call(p.CallID, p.Tool, p.State.Input)
	}
	switch p.Tool {
	case "bash":
		return call(p.CallID, "Bash", map[string]string{"command": a.Command})
	case "read":
		return call(p.CallID, "Read", map[string]string{"file_path": a.Path})
	case "write":
		return call(p.CallID, "Write", map[string]string{"file_path": a.Path, "content": a.Content})
	case "edit":
		return call(p.CallID, "Edit", map[string]string{"file_path": a.Path, "old_string": a.Old, "new_string": a.New})
	case "grep", "glob":
		return call(p.CallID, strings.ToUpper(p.Tool[:1])+p.Tool[1:], map[string]string{"pattern": a.Pattern})
	case "webfetch":
		return call(p.CallID, "WebFetch", map[string]string{"url": a.URL})
	case "todowrite":
		return call(p.CallID, "TodoWrite", map[string][]todo{"todos": a.Todos})
	}
	return call(p.CallID, p.Tool, p.State.Input)
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
