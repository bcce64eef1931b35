package transcript

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
)

// A DatabaseError reports a database of opencode sessions, which is not read.
type DatabaseError struct{ Path string }

func (e *DatabaseError) Error() string {
	return fmt.Sprintf("%s: the sessions of opencode are in this database, which is not read", e.Path)
}

// Sessions lists the sessions in a file that "opencode export" wrote, or in a directory of such files. A database, and
// a file that cannot be read, is an error next to the sessions in other files. JSON that is not a session is passed over.
func (openCode) Sessions(dir string) (out []AgentSession, err error) {
	fi, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	paths := []string{dir}
	if fi.IsDir() {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		paths = nil
		for _, e := range entries {
			if ext := filepath.Ext(e.Name()); e.Type().IsRegular() && (ext == ".json" || ext == ".db") {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	var unread []error
	for _, path := range paths {
		e, err := openExport(path)
		switch {
		case err != nil:
			unread = append(unread, err)
		case e.Info.ID != "" && e.Messages != nil:
			out = append(out, AgentSession{ID: e.Info.ID, Path: path, Files: []string{path}, Cwd: e.Info.Directory,
				Parent: parentID(e.Info.Parent)})
		}
	}
	return out, errors.Join(unread...)
}

// An openDocument is the output of "opencode export".
type openDocument struct {
	Info     openSession `json:"info"`
	Messages []struct {
		Info  json.RawMessage   `json:"info"`
		Parts []json.RawMessage `json:"parts"`
	} `json:"messages"`
}

// openExport reads the output of "opencode export", nothing if the file was deleted meanwhile. Fields of other types are
// ignored. The error is a [*FileError] or a [*DatabaseError].
func openExport(path string) (e openDocument, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return e, &FileError{path, err}
	}
	defer f.Close()
	in := bufio.NewReader(f)
	if head, _ := in.Peek(len(sqlite)); string(head) == sqlite { // an error is returned below
		return e, &DatabaseError{path}
	}
	var shape *json.UnmarshalTypeError
	if filepath.Ext(path) == ".db" {
		return e, nil
	}
	b, err := io.ReadAll(in)
	if err == nil {
		err = json.Unmarshal(b, &e)
	}
	if err != nil && !errors.As(err, &shape) {
		return e, &FileError{path, err}
	}
	return e, nil
}

// sqlite is the start of an SQLite database.
const sqlite = "SQLite format 3"

// Values yields a line for the session and a line for each message.
func (openCode) Values(s AgentSession) iter.Seq2[[]byte, error] {
	return made("opencode", s, func() ([]line, error) {
		e, err := openExport(s.Path)
		return e.lines(), err
	})
}

func (e openDocument) lines() []line {
	out := []line{{Cwd: e.Info.Directory, Timestamp: e.Info.Time.text(), Header: jsonObject(e.Info)}}
	for _, m := range e.Messages {
		created := openTime{parse(m.Info).Get("time.created").Int()}
		out = append(out, line{Cwd: e.Info.Directory, Timestamp: created.text(), Record: m.Info,
			Parts: jsonObject(append([]json.RawMessage{}, m.Parts...))})
	}
	return out
}
