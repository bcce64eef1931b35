package capture

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Sources finds the session files under dir: dir may be Claude Code's configuration directory, its projects directory,
// one project in it, or any directory of session files. Subagents and overflow files are linked to their session.
// Symbolic links are followed only if dir is one, or if they are entries of a projects directory, where users link to
// other disks. Files that cannot be read do not hide the others: the sources are returned together with the joined
// errors, each a [*SourceError].
func Sources(dir string) ([]Source, error) {
	if sub := filepath.Join(dir, "projects"); IsDir(sub) {
		dir = sub
	}
	return sourcesUnder(withLinks(dir)...)
}

// sourcesUnder finds the session files under roots like [Sources]. It fails if the first root cannot be read.
func sourcesUnder(roots ...string) ([]Source, error) {
	var out []Source
	var failed []error
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			switch {
			case err != nil && path == roots[0]:
				return err
			case errors.Is(err, fs.ErrNotExist):
				return nil // deleted meanwhile
			case err == nil && (!d.Type().IsRegular() || !isSessionName(d.Name())):
				return nil
			}
			var fi fs.FileInfo
			if err == nil {
				fi, err = d.Info()
			}
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				failed = append(failed, &SourceError{Source{Path: path}, err})
			case fi.Size() > 0:
				out = append(out, SourceOf(path))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, errors.Join(failed...)
}

// isSessionName reports whether a file with this name can be a session. Hidden files are others' data about sessions,
// such as the resource forks "._<id>.jsonl" of macOS.
func isSessionName(name string) bool { return filepath.Ext(name) == ".jsonl" && name[0] != '.' }

// withLinks returns dir and, if it is a projects directory, the symbolic links to directories in it. The names end in
// a separator, so that WalkDir follows links.
func withLinks(dir string) []string {
	if !IsDir(dir) {
		return []string{dir}
	}
	slash := string(filepath.Separator)
	out := []string{strings.TrimSuffix(dir, slash) + slash}
	if filepath.Base(dir) != "projects" {
		return out
	}
	entries, _ := os.ReadDir(dir) // the walk reports the error
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); e.Type()&fs.ModeSymlink != 0 && IsDir(path) {
			out = append(out, path+slash)
		}
	}
	return out
}

// IsDir reports whether path is a directory or a symbolic link to one.
func IsDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// SourceOf returns the source for the session file at path, with its overflow files, or with the client's notes about the
// subagent.
func SourceOf(path string) Source {
	src := Source{Path: path}
	if parent, ok := SubagentOf(path); ok {
		src.Parent = parent
		if meta := strings.TrimSuffix(path, ".jsonl") + ".meta.json"; isRegular(meta) {
			src.Files = []string{meta}
		}
		return src
	}
	if dir, ok := strings.CutSuffix(path, ".jsonl"); ok {
		src.Files, src.filesErr = overflowFiles(dir)
	}
	return src
}

// isRegular reports whether path is a regular file.
func isRegular(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode().IsRegular()
}

// Subagents returns the sources of the subagents of the session file at path, sorted. It returns errors like
// [Sources].
func Subagents(path string) ([]Source, error) {
	out, err := sourcesUnder(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents"))
	if isMissing(err) {
		return nil, nil // most sessions have none
	}
	return out, err
}

// isMissing reports whether err says that a directory does not exist, or that its parent is a file.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// SubagentOf returns the session in a path of the form .../<session>/subagents/agent-x.jsonl; ok is false for others.
func SubagentOf(path string) (session string, ok bool) {
	dir := filepath.Dir(path)
	if filepath.Base(dir) != "subagents" {
		return "", false
	}
	return filepath.Base(filepath.Dir(dir)), true
}

// overflowFiles returns the regular files in dir/tool-results, sorted.
func overflowFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "tool-results"))
	if isMissing(err) {
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
