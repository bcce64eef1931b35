package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript/agents"
	trusted "github.com/memvcs/mem/layers/trust"
)

// AgentSources finds the sessions of another agent under dir. A session that is no stream of values is written
// into temp as one, and its own files belong to it as overflow files do. Directories are what Gemini's hashes
// of directories are looked up in. Files that cannot be read are a [SourceError] each and a database is a
// [*agents.DatabaseError], joined, next to the other sources.
func AgentSources(name, dir, temp string, directories []string) (out []Source, err error) {
	a := agents.ByName(name)
	if a == nil {
		return nil, fmt.Errorf("no agent is called %q", name)
	}
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
		if err := writeValues(a, s, path); err != nil {
			return nil, fmt.Errorf("read %s: %w", s.Path, err)
		}
		out = append(out, Source{Path: path, ID: s.ID, Origin: s.Path, Cwd: s.Cwd, Files: s.Files, Parent: s.Parent})
	}
	return out, errors.Join(unread...)
}

// unreadSources returns the errors about single files and a database, and apart from these what ends an import.
func unreadSources(err error) (unread []error, fatal error) {
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for _, one := range list {
		var file *agents.FileError
		var database *agents.DatabaseError
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

// OtherSessions counts the sessions of other agents that work in the project of dir and are not in memory, by agent.
// roots says where each agent keeps its sessions. For each project they are returned only once, as long as the
// cache lasts.
func (m Ops) OtherSessions(ctx context.Context, dir string, roots map[string]string) (map[string]int, error) {
	p, _, err := projects.On(m.DB).Locate(ctx, dir)
	if err != nil {
		return nil, err
	}
	said := m.CachePath("others", string(p.ID))
	if _, ok := state.ReadCacheBytes(said); ok {
		return nil, nil
	}
	here := []string{dir}
	paths, err := projects.On(m.DB).Paths(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range paths {
		if b.Project == p.ID {
			here = append(here, b.Path)
		}
	}
	st, err := trusted.On(m.DB).Outline(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	out, ours := map[string]int{}, map[string]bool{} // ours says whether a directory is one of the project
	for name, root := range roots {
		sessions, _ := agents.ByName(name).Sessions(root) // an agent that cannot be read is not mentioned
		for _, s := range sessions {
			if s.Parent != "" || st.Session(Source{ID: s.ID}.SessionID()) != nil {
				continue
			}
			if _, met := ours[s.Cwd]; !met && slices.ContainsFunc(here, func(d string) bool { return isBelow(s.Cwd, d) }) {
				of, _ := projects.Locate(ctx, paths, s.Cwd)
				ours[s.Cwd] = of.ID == p.ID
			}
			if ours[s.Cwd] {
				out[name]++
			}
		}
	}
	if len(out) > 0 {
		m.WriteCache(said, out)
	}
	return out, nil
}

// isBelow reports whether path is dir or in it.
func isBelow(path, dir string) bool {
	return path != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+
		string(filepath.Separator)))
}

// geminiDirectory returns the directory whose hash a chat lies below, or else the one that Gemini keeps for it.
func geminiDirectory(chat string, directories []string) string {
	project := filepath.Dir(filepath.Dir(chat))
	for _, dir := range directories {
		if agents.GeminiProject(dir) == filepath.Base(project) {
			return dir
		}
	}
	return project
}

// UnknownValues counts the values of a session of an agent that nothing here understands, by their types. path is
// that of its [Source].
func UnknownValues(name, path string) (map[string]int, error) {
	out := map[string]int{}
	a := agents.ByName(name)
	if a == nil {
		return out, nil
	}
	for value, err := range (agents.Codex{}).Values(agents.Session{Path: path}) { // the lines of any stream
		if err != nil {
			return nil, err
		}
		if kind := a.Unknown(value); kind != "" {
			out[kind]++
		}
	}
	return out, nil
}

func writeValues(a agents.Agent, s agents.Session, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	for value, err := range a.Values(s) {
		if err == nil {
			_, err = f.Write(value)
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}
