package transcript

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
)

// A DatabaseError reports a database of opencode sessions, which is not read.
type DatabaseError struct{ Path string }

func (e *DatabaseError) Error() string {
	return fmt.Sprintf("%s: the sessions of opencode 1.2 and later are in this database, which is not read", e.Path)
}

// Sessions lists the sessions under dir, which is the data directory of opencode, its storage, a file that
// "opencode export" wrote, or a directory of such files. A database is a [*DatabaseError], next to the sessions in
// files. JSON that is not a session is passed over.
func (openCode) Sessions(dir string) (out []AgentSession, err error) {
	fi, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		if isDatabase(dir) {
			return nil, &DatabaseError{dir}
		}
		s, ok, err := openExport(dir)
		if ok {
			out = append(out, s)
		}
		return out, err
	}
	databases, err := filepath.Glob(filepath.Join(globEscape(dir), "opencode*.db"))
	if err != nil {
		return nil, err
	}
	databases = slices.DeleteFunc(databases, func(path string) bool { return !isDatabase(path) })
	if fi, err := os.Stat(filepath.Join(dir, "storage")); err == nil && fi.IsDir() {
		dir = filepath.Join(dir, "storage")
	}
	found, err := filepath.Glob(filepath.Join(globEscape(dir), "session", "*", "*.json"))
	if err != nil {
		return nil, err
	}
	exports, err := jsonFiles(dir)
	if err != nil {
		return nil, err
	}
	var unread []error
	add := func(s AgentSession, ok bool, err error) {
		if err != nil {
			unread = append(unread, err)
		} else if ok {
			out = append(out, s)
		}
	}
	for _, path := range found {
		add(openStored(dir, path))
	}
	for _, path := range exports {
		add(openExport(path))
	}
	if len(databases) > 0 {
		unread = append(unread, &DatabaseError{databases[0]})
	}
	return out, errors.Join(unread...)
}

// globEscape returns a pattern that matches only path.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// isDatabase reports whether a file begins like a SQLite database.
func isDatabase(path string) bool {
	const magic = "SQLite format 3"
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, len(magic))
	n, _ := f.Read(b) // an unreadable file is not a database
	return string(b[:n]) == magic
}

// openStored returns the session whose file is path, in the storage dir.
func openStored(dir, path string) (s AgentSession, ok bool, err error) {
	var info openSession
	if err := readSession(path, &info); err != nil || info.ID == "" {
		return s, false, err
	}
	if filepath.Base(info.ID) != info.ID || info.ID == ".." { // it names a directory
		return s, false, &FileError{path, fmt.Errorf("%.80q is not a session id", info.ID)}
	}
	s = AgentSession{ID: info.ID, Path: path, Cwd: info.Directory, Parent: parentID(info.Parent)}
	messages, err := jsonFiles(filepath.Join(dir, "message", info.ID))
	if err != nil {
		return s, false, err
	}
	s.Files = append([]string{path}, messages...)
	for _, m := range messages {
		parts, err := jsonFiles(filepath.Join(dir, "part", strings.TrimSuffix(filepath.Base(m), ".json")))
		if err != nil {
			return s, false, err
		}
		s.Files = append(s.Files, parts...)
	}
	return s, true, nil
}

// openExport returns the session in the output of "opencode export".
func openExport(path string) (s AgentSession, ok bool, err error) {
	var e openDocument
	if err := readSession(path, &e); err != nil || e.Info.ID == "" || e.Messages == nil {
		return s, false, err
	}
	s = AgentSession{ID: e.Info.ID, Path: path, Files: []string{path}, Cwd: e.Info.Directory,
		Parent: parentID(e.Info.Parent)}
	return s, true, nil
}

// readSession is readJSON, but it leaves v unchanged if the file was deleted meanwhile. The error is a [*FileError].
func readSession(path string, v any) error {
	err := readJSON(path, v)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return &FileError{path, err}
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

// readJSON decodes a file of a session into v. Fields of other types are ignored.
func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var shape *json.UnmarshalTypeError
	if err := json.Unmarshal(b, v); err != nil && !errors.As(err, &shape) {
		return err
	}
	return nil
}

// An openDocument is the output of "opencode export".
type openDocument struct {
	Info     openSession `json:"info"`
	Messages []struct {
		Info  json.RawMessage   `json:"info"`
		Parts []json.RawMessage `json:"parts"`
	} `json:"messages"`
}

// A stored is a message with its parts, in order. malformed has the text of a file that is not JSON.
type stored struct {
	id        string
	created   int64 // milliseconds; 0 if it has no time
	raw       json.RawMessage
	malformed string
	parts     []json.RawMessage
}

// openCreated returns the time of a message, 0 if it has none.
func openCreated(raw json.RawMessage) int64 { return parse(raw).Get("time.created").Int() }

func (e openDocument) stored() (out []stored) {
	for _, m := range e.Messages {
		out = append(out, stored{raw: m.Info, created: openCreated(m.Info), parts: m.Parts})
	}
	return out
}

// Values yields the lines of a session.
func (openCode) Values(s AgentSession) iter.Seq2[[]byte, error] {
	return made("opencode", s, func() ([]line, error) {
		info, messages, err := openRead(s)
		return openLines(info, messages), err
	})
}

func openLines(info openSession, messages []stored) []line {
	out := []line{{Cwd: info.Directory, Timestamp: info.Time.text(), Header: jsonObject(info)}}
	for _, m := range messages {
		out = append(out, line{Cwd: info.Directory, Timestamp: openTime{m.created}.text(), Record: m.raw, Malformed: m.malformed,
			Parts: jsonObject(append([]json.RawMessage{}, m.parts...))})
	}
	return out
}

// openRead reads a session: from an export, or from the files of its messages and parts.
func openRead(s AgentSession) (info openSession, messages []stored, err error) {
	if len(s.Files) == 1 {
		var e openDocument
		if err := readJSON(s.Path, &e); err == nil && e.Messages != nil {
			return e.Info, e.stored(), nil
		}
	}
	if err := readJSON(s.Path, &info); err != nil {
		return info, nil, err
	}
	messages, err = openMessages(s)
	return info, messages, err
}

// openMessages returns the messages of a session by time. A file that is not JSON has no time and stays after the
// message before it.
func openMessages(s AgentSession) (out []stored, err error) {
	parts := map[string][]string{} // by message
	for _, path := range s.Files {
		if dir := filepath.Dir(path); filepath.Base(filepath.Dir(dir)) == "part" {
			parts[filepath.Base(dir)] = append(parts[filepath.Base(dir)], path)
		}
	}
	for _, path := range s.Files {
		if filepath.Base(filepath.Dir(filepath.Dir(path))) != "message" {
			continue
		}
		m := stored{id: strings.TrimSuffix(filepath.Base(path), ".json")}
		if m.raw, m.malformed, err = openFile(path); err != nil {
			return nil, err
		}
		m.created = openCreated(m.raw)
		for _, part := range parts[m.id] {
			raw, malformed, err := openFile(part)
			if err != nil {
				return nil, err
			}
			if malformed != "" {
				raw = jsonObject(map[string]string{"type": "malformed", "text": malformed})
			}
			m.parts = append(m.parts, raw)
		}
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b stored) int { return strings.Compare(a.id, b.id) })
	for i := range out {
		if i > 0 && out[i].created == 0 {
			out[i].created = out[i-1].created
		}
	}
	slices.SortStableFunc(out, func(a, b stored) int { return cmp.Compare(a.created, b.created) })
	return out, nil
}

// openFile returns the JSON of a file, or its text if it is not JSON.
func openFile(path string) (raw json.RawMessage, malformed string, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	if !json.Valid(b) {
		return nil, strings.ToValidUTF8(string(b), "\ufffd"), nil
	}
	return b, "", nil
}
