package layers

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Sources finds the session files under dir: dir itself may be Claude Code's configuration, its
// projects directory, one project of it, or any directory of session files. Subagents and overflow
// files are linked to the session they belong to. Symbolic links are not followed. What cannot be read below
// dir does not hide the rest: it is returned with the errors, each a [*SourceError], joined.
func Sources(dir string) ([]Source, error) {
	if sub := filepath.Join(dir, "projects"); isDir(sub) {
		dir = sub
	}
	var out []Source
	var failed []error
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			if path == dir {
				return err
			}
			if !errors.Is(err, fs.ErrNotExist) { // not gone meanwhile
				failed = append(failed, &SourceError{Source{Path: path}, err})
			}
			return nil
		}
		if !d.Type().IsRegular() || filepath.Ext(path) != ".jsonl" {
			return nil
		}
		switch fi, err := d.Info(); {
		case errors.Is(err, fs.ErrNotExist):
			return nil // gone meanwhile
		case err != nil:
			failed = append(failed, &SourceError{Source{Path: path}, err})
			return nil
		case fi.Size() == 0:
			return nil // nothing in it yet
		}
		out = append(out, SourceOf(path))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, errors.Join(failed...)
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// SourceOf returns the source for the session file at path.
func SourceOf(path string) Source {
	src := Source{Path: path}
	if parent, ok := subagentOf(path); ok {
		src.Parent = parent
		return src
	}
	if dir, ok := strings.CutSuffix(path, ".jsonl"); ok {
		src.Files, src.unread = overflowFiles(dir)
	}
	return src
}

// Subagents returns the sources of the subagents of the session file at path, sorted. The errors are those of [Sources].
func Subagents(path string) ([]Source, error) {
	out, err := Sources(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // most sessions have none
	}
	return out, err
}

// subagentOf returns the session of a path .../<session>/subagents/agent-x.jsonl.
func subagentOf(path string) (string, bool) {
	dir := filepath.Dir(path)
	if filepath.Base(dir) != "subagents" {
		return "", false
	}
	return filepath.Base(filepath.Dir(dir)), true
}

// overflowFiles returns the files of <session>/tool-results, sorted.
func overflowFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "tool-results"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil // most sessions have none
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			out = append(out, filepath.Join(dir, "tool-results", e.Name()))
		}
	}
	return out, nil
}
