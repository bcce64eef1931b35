package capture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/transcript"
)

// AgentSources finds the sessions of another agent under dir. A session that is not a file of JSON lines is converted
// to one in the directory temp; its files become overflow files. Directories are the candidates for the hashes with
// which Gemini names working directories. The sources are returned together with the joined errors: a [*SourceError]
// for each unreadable file and an [transcript.DatabaseError] for an unreadable database.
func AgentSources(name, dir, temp string, directories []string) ([]Source, error) {
	a := transcript.AgentByName(name)
	if a == nil {
		return nil, fmt.Errorf("no agent is called %q", name)
	}
	return agentSources(a, dir, temp, directories)
}

func agentSources(a transcript.Agent, dir, temp string, directories []string) (out []Source, err error) {
	sessions, err := a.Sessions(dir)
	unread, err := unreadSources(err)
	if err != nil {
		return nil, err
	}
	for _, s := range sessions {
		if len(s.Files) == 0 && !s.Packed {
			out = append(out, Source{Path: s.Path, ID: s.ID, Cwd: s.Cwd, Parent: s.Parent})
			continue
		}
		if s.Cwd == "" {
			s.Cwd = geminiDirectory(s.Path, directories)
		}
		path := filepath.Join(temp, string(records.SessionOf(s.ID))+".jsonl")
		read, err := writeValues(a, s, path)
		if err != nil {
			return nil, fmt.Errorf("convert %s: %w", s.Path, err)
		}
		if read != nil {
			unread = append(unread, &SourceError{Source{Path: s.Path}, fmt.Errorf("read %s: %w", s.Path, read)})
			continue
		}
		out = append(out, Source{Path: path, ID: s.ID, Origin: s.Path, Cwd: s.Cwd, Files: s.Files, Parent: s.Parent})
	}
	return out, errors.Join(unread...)
}

// unreadSources splits a joined error: unread are the errors of single files and of a database, fatal the others.
func unreadSources(err error) (unread []error, fatal error) {
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for _, one := range list {
		var file *transcript.FileError
		var database *transcript.DatabaseError
		switch {
		case errors.As(one, &file):
			unread = append(unread, &SourceError{Source{Path: file.Path}, file})
		case errors.As(one, &database):
			unread = append(unread, one)
		default:
			fatal = errors.Join(fatal, one)
		}
	}
	return unread, fatal
}

// geminiDirectory returns the directory in directories whose hash names the directory of a chat, or else Gemini's
// directory itself.
func geminiDirectory(chat string, directories []string) string {
	project := filepath.Dir(filepath.Dir(chat))
	for _, dir := range directories {
		if transcript.GeminiProject(dir) == filepath.Base(project) {
			return dir
		}
	}
	return project
}

// UnknownValues counts the values of types that package transcript does not know in a session of an agent, by type. path
// is the Path of its [Source].
func UnknownValues(name, path string) (map[string]int, error) {
	out := map[string]int{}
	a := transcript.AgentByName(name)
	if a == nil {
		return out, nil
	}
	for value, err := range (transcript.Codex{}).Values(transcript.AgentSession{Path: path}) { // the lines of any agent's file
		if err != nil {
			return nil, err
		}
		if kind := a.Unknown(value); kind != "" {
			out[kind]++
		}
	}
	return out, nil
}

// writeValues writes the values of a session into a new file. read is the error of the session if it cannot be read.
func writeValues(a transcript.Agent, s transcript.AgentSession, path string) (read, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	for value, err := range a.Values(s) {
		if err != nil {
			return err, f.Close()
		}
		if _, err := f.Write(value); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return nil, f.Close()
}
