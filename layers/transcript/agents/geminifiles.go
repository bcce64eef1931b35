package agents

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
func (Gemini) Sessions(dir string) ([]Session, error) {
	type found struct {
		Session
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
		s := Session{Path: path, Files: []string{path}}
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
	out := make([]Session, 0, len(best))
	for _, s := range best {
		out = append(out, s.Session)
	}
	slices.SortFunc(out, func(a, b Session) int { return strings.Compare(a.Path, b.Path) })
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

// Values yields a line for the chat, a line for each message and each addition to it, and a line for the results of a
// message's tools. The values from the beginning of a .jsonl file do not depend on the rest.
func (Gemini) Values(s Session) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		b, err := os.ReadFile(s.Path)
		if err != nil {
			yield(nil, err)
			return
		}
		r := geminiReader{session: s, yield: yield, known: map[string]*geminiKnown{}}
		if filepath.Ext(s.Path) == ".json" {
			r.record(b)
			return
		}
		r.lines(b)
	}
}

// A geminiReader converts the records of a chat to values.
type geminiReader struct {
	session Session
	start   bool // the line for the chat was yielded
	known   map[string]*geminiKnown
	yield   func([]byte, error) bool
	ended   bool
}

// geminiKnown is the part of a message that earlier values contain.
type geminiKnown struct {
	said  bool
	calls map[string]bool // those with a result are true
}

func (r *geminiReader) put(l line) {
	if r.ended {
		return
	}
	l.Agent, l.Session, l.Cwd = "gemini", r.session.ID, r.session.Cwd
	r.ended = !r.yield(l.bytes())
}

// lines reads a .jsonl file. It ignores an incomplete last line, which is still being written.
func (r *geminiReader) lines(file []byte) {
	for row := range bytes.SplitAfterSeq(file, []byte("\n")) {
		whole := bytes.HasSuffix(row, []byte("\n"))
		switch row = bytes.TrimSpace(row); {
		case len(row) == 0 || !whole && !json.Valid(row):
		case !json.Valid(row):
			r.put(line{Malformed: strings.ToValidUTF8(string(row), "\ufffd")})
		default:
			r.record(row)
		}
		if r.ended {
			return
		}
	}
}

// record reads a document or a line of one.
func (r *geminiReader) record(raw json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		r.put(line{Malformed: strings.ToValidUTF8(string(raw), "\ufffd")})
		return
	}
	var chat geminiChat
	switch {
	case fields["$set"] != nil:
		r.set(fields["$set"])
	case fields["$rewindTo"] != nil:
		r.put(line{Record: raw})
	case fields["id"] != nil:
		r.message(raw, fields)
	case json.Unmarshal(raw, &chat) == nil && chat.Session != "":
		messages := chat.Messages
		if chat.Messages = nil; !r.start {
			r.start = true
			r.put(line{Timestamp: chat.Start, Header: object(chat)})
		}
		for _, m := range messages {
			r.record(m)
		}
		if fields["summary"] != nil {
			r.set(object(map[string]json.RawMessage{"summary": fields["summary"]}))
		}
	default:
		r.put(line{Record: raw})
	}
}

// set applies a change of the chat. New messages in it, above all a summary, are yielded like others: the model is
// sent them from now on. The time of the last change is ignored.
func (r *geminiReader) set(raw json.RawMessage) {
	var fields map[string]json.RawMessage
	var messages []json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		r.put(line{Record: object(map[string]json.RawMessage{"$set": raw})})
		return
	}
	if json.Unmarshal(fields["messages"], &messages) == nil {
		for _, m := range messages {
			var of map[string]json.RawMessage
			if json.Unmarshal(m, &of) == nil && of["id"] != nil {
				r.message(m, of)
			}
		}
		delete(fields, "messages")
	}
	delete(fields, "lastUpdated")
	delete(fields, "sessionId")
	if len(fields) > 0 {
		r.put(line{Record: object(map[string]any{"$set": fields})})
	}
}

// message reads a message, or an addition to it.
func (r *geminiReader) message(raw json.RawMessage, fields map[string]json.RawMessage) {
	var id, at string
	_ = json.Unmarshal(fields["id"], &id)        // any other type is no id
	_ = json.Unmarshal(fields["timestamp"], &at) // any other type is no time
	said := len(geminiTexts(parse(fields["content"]))) > 0
	k := r.known[id]
	if k == nil || id == "" {
		k = &geminiKnown{calls: map[string]bool{}}
		r.known[id] = k
		calls, results := k.news(fields["toolCalls"])
		if k.said = said; results != nil {
			fields["toolCalls"], raw = calls, nil
		}
		if raw == nil {
			raw = object(fields)
		}
		r.put(line{Timestamp: at, Record: raw})
		r.results(at, results)
		return
	}
	calls, results := k.news(fields["toolCalls"])
	if said && !k.said {
		k.said = true
	} else {
		delete(fields, "content")
		said = false
	}
	if said || calls != nil {
		delete(fields, "thoughts")
		if delete(fields, "toolCalls"); calls != nil {
			fields["toolCalls"] = calls
		}
		r.put(line{Timestamp: at, Record: object(fields)})
	}
	r.results(at, results)
}

func (r *geminiReader) results(at string, results json.RawMessage) {
	if results != nil {
		r.put(line{Timestamp: at, Results: results})
	}
}

// news returns the new calls without their results, and the new results; nil if there are none.
func (k *geminiKnown) news(toolCalls json.RawMessage) (calls, results json.RawMessage) {
	var list, made, ended []map[string]json.RawMessage
	if json.Unmarshal(toolCalls, &list) != nil {
		return nil, nil
	}
	for _, c := range list {
		id := string(c["id"])
		done, old := k.calls[id]
		r := map[string]json.RawMessage{"id": c["id"], "status": c["status"]}
		if c["id"] == nil {
			made = append(made, c) // nothing can refer to it
			continue
		}
		for _, key := range []string{"result", "resultDisplay"} {
			if v, ok := c[key]; ok && string(v) != "null" {
				r[key] = v
			}
			delete(c, key)
		}
		status := string(c["status"])
		over := r["result"] != nil || status == `"error"` || status == `"cancelled"` || status == `"success"`
		if over && !done {
			ended = append(ended, r)
		}
		if !old {
			made = append(made, c)
		}
		k.calls[id] = done || over
	}
	if made != nil {
		calls = object(made)
	}
	if ended != nil {
		results = object(ended)
	}
	return calls, results
}
