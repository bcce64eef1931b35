package transcript

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Sessions lists the chats under dir, which is ~/.gemini, a directory in it or the file of a chat. A chat identifies
// its project by a hash of the directory; the session's directory is known only if Gemini left it in .project_root
// next to the chats. If a new version of Gemini left two files for a session, the newer format wins, then the longer
// file.
func (Gemini) Sessions(dir string) ([]AgentSession, error) {
	type found struct {
		AgentSession
		size int64
	}
	best := map[string]found{}
	var unread []error
	err := walk(dir, func(path string) error {
		ext := filepath.Ext(path)
		if ext != ".json" && ext != ".jsonl" {
			return nil
		}
		up := filepath.Dir(path)
		s := AgentSession{Path: path, Files: []string{path}}
		if filepath.Base(up) != "chats" && filepath.Base(filepath.Dir(up)) == "chats" {
			s.Parent, up = parentID(filepath.Base(up)), filepath.Dir(up)
		}
		if filepath.Base(up) != "chats" && path != dir {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			unread = append(unread, &FileError{path, err})
			return nil
		}
		defer f.Close()
		fi, err := f.Stat()
		if err == nil {
			s.ID, err = geminiID(f)
		}
		if err != nil {
			unread = append(unread, &FileError{path, err})
		}
		if s.ID == "" {
			return nil
		}
		root, _ := os.ReadFile(filepath.Join(filepath.Dir(up), ".project_root")) // older ones have none
		s.Cwd = strings.TrimSpace(string(root))
		old, twice := best[s.ID]
		newer := cmp.Or(cmp.Compare(len(ext), len(filepath.Ext(old.Path))), cmp.Compare(fi.Size(), old.size))
		if !twice || newer > 0 {
			best[s.ID] = found{s, fi.Size()}
		}
		return nil
	})
	out := make([]AgentSession, 0, len(best))
	for _, s := range best {
		out = append(out, s.AgentSession)
	}
	slices.SortFunc(out, func(a, b AgentSession) int { return strings.Compare(a.Path, b.Path) })
	return out, errors.Join(append(unread, err)...)
}

// GeminiProject returns Gemini's name for the project in a directory.
func GeminiProject(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}

// A geminiChat is a document, or the first line of one.
type geminiChat struct {
	Session  string            `json:"sessionId"`
	Project  string            `json:"projectHash"`
	Start    string            `json:"startTime"`
	Kind     string            `json:"kind,omitempty"`
	Messages []json.RawMessage `json:"messages,omitempty"`
}

// geminiID returns the session id of a chat, which the first JSON value contains before the messages; "" if the file
// does not begin with a JSON object. The error reports an object that ends before the id.
func geminiID(r io.Reader) (string, error) {
	d := json.NewDecoder(r)
	t, err := d.Token()
	if err != nil || t != json.Delim('{') {
		return "", nil
	}
	for err == nil && d.More() {
		var key json.Token
		var value json.RawMessage
		if key, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		var id string
		if err == nil && key == "sessionId" && json.Unmarshal(value, &id) == nil {
			return id, nil
		}
	}
	return "", err
}

// Values yields a line for the chat and a line for each message and each change of the chat.
func (Gemini) Values(s AgentSession) iter.Seq2[[]byte, error] {
	return made("gemini", s, func() ([]line, error) {
		b, err := os.ReadFile(s.Path)
		lines := geminiLines(b, filepath.Ext(s.Path) == ".json")
		for i := range lines {
			lines[i].Cwd = s.Cwd
		}
		return lines, err
	})
}

// geminiLines returns the lines of a chat: one document, or a JSON value per line, the last of which may be incomplete
// because it is still being written.
func geminiLines(file []byte, document bool) []line {
	r := geminiReader{known: map[string]int{}}
	rows := [][]byte{file}
	if !document {
		rows = bytes.SplitAfter(file, []byte("\n"))
	}
	for _, row := range rows {
		whole := document || bytes.HasSuffix(row, []byte("\n"))
		if row = bytes.TrimSpace(row); len(row) > 0 && (whole || json.Valid(row)) {
			r.record(row)
		}
	}
	return r.out
}

// A geminiReader converts the records of a chat to lines.
type geminiReader struct {
	start bool           // the line for the chat was made
	known map[string]int // the lines of messages, by their ids
	out   []line
}

// record reads a document or a line of one.
func (r *geminiReader) record(raw json.RawMessage) {
	var fields map[string]json.RawMessage
	var chat geminiChat
	switch err := json.Unmarshal(raw, &fields); {
	case err != nil:
		r.out = append(r.out, line{Malformed: strings.ToValidUTF8(string(raw), "\ufffd")})
	case fields["$set"] != nil:
		r.set(fields["$set"])
	case fields["id"] != nil:
		r.message(raw, true)
	case fields["$rewindTo"] == nil && json.Unmarshal(raw, &chat) == nil && chat.Session != "":
		messages := chat.Messages
		if chat.Messages = nil; !r.start {
			r.start = true
			r.out = append(r.out, line{Timestamp: chat.Start, Header: jsonObject(chat)})
		}
		for _, m := range messages {
			r.record(m)
		}
		if fields["summary"] != nil {
			r.set(jsonObject(map[string]json.RawMessage{"summary": fields["summary"]}))
		}
	default:
		r.out = append(r.out, line{Record: raw})
	}
}

// set applies a change of the chat. New messages in it, above all a summary, are messages like others: the model is
// sent them from now on. The time of the last change is ignored.
func (r *geminiReader) set(raw json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		fields = nil
		r.out = append(r.out, line{Record: jsonObject(map[string]json.RawMessage{"$set": raw})})
	}
	for _, m := range list(parse(fields["messages"])) {
		if m.Get("id").Exists() {
			r.message(json.RawMessage(m.Raw), false)
		}
	}
	delete(fields, "messages")
	delete(fields, "lastUpdated")
	delete(fields, "sessionId")
	if len(fields) > 0 {
		r.out = append(r.out, line{Record: jsonObject(map[string]any{"$set": fields})})
	}
}

// message reads a message. One that is known is replaced if again is set.
func (r *geminiReader) message(raw json.RawMessage, again bool) {
	m := parse(raw)
	id, l := m.Get("id").Str, line{Timestamp: m.Get("timestamp").Str, Record: raw}
	switch at, known := r.known[id]; {
	case !known || id == "":
		r.known[id] = len(r.out)
		r.out = append(r.out, l)
	case again:
		r.out[at] = l
	}
}
