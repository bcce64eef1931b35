package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// errRefused reports a payload with a value that Claude Code would not send.
var errRefused = errors.New("refused")

// maxSession is the maximal length of a session id.
const maxSession = 128

// checkSession refuses an id that is not safe as the name of a file.
func checkSession(id string) error {
	if id == "" || len(id) > maxSession {
		return fmt.Errorf("session id of %d bytes: %w", len(id), errRefused)
	}
	for i, c := range []byte(id) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '-' && c != '_') {
			return fmt.Errorf("session id with the byte %#x: %w", c, errRefused)
		}
	}
	return nil
}

// checkTranscript refuses a path that is not a session's file below Claude Code's projects directory: a path outside
// it, a path that leaves it through a symbolic link, and anything but a regular file. There reports whether the file
// exists: at the start of a session it does not. Errors never contain the path.
func checkTranscript(projects, path string) (there bool, err error) {
	switch {
	case len(path) > maxField || strings.ContainsRune(path, 0) || !filepath.IsAbs(path):
		return false, fmt.Errorf("transcript path: not absolute: %w", errRefused)
	case filepath.Clean(path) != path || filepath.Ext(path) != ".jsonl":
		return false, fmt.Errorf("transcript path: not that of a session's file: %w", errRefused)
	}
	real, err := filepath.EvalSymlinks(projects)
	if errors.Is(err, fs.ErrNotExist) && inside(projects, path) {
		return false, nil // the client has written nothing yet
	}
	if err != nil {
		return false, fmt.Errorf("projects directory: %w", withoutPath(err))
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) && (inside(projects, path) || inside(real, path)) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("directory of the transcript: %w", withoutPath(err))
	}
	if dir != real && !inside(real, dir) {
		return false, fmt.Errorf("transcript path: not in the projects directory: %w", errRefused)
	}
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("transcript: %w", withoutPath(err))
	}
	if !fi.Mode().IsRegular() {
		return false, fmt.Errorf("transcript: no regular file: %w", errRefused)
	}
	return true, nil
}

// inside reports whether path is below dir, by name only.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// withoutPath returns the reason of a file error without the name of the file.
func withoutPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
