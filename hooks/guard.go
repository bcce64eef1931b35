package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/layers/capture"
)

// errRefused says that a payload names what no hook of Claude Code would.
var errRefused = errors.New("refused")

// maxSession is how long the id of a session may be.
const maxSession = 128

// checkSession refuses an id that could be anything but the name of a file: ids become such names.
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

// checkTranscript refuses a path that is not that of a session's file below Claude Code's projects directory: one that
// leaves it, goes through a symbolic link out of it, or names anything but a regular file. There says whether the file
// exists: at the start of a session it does not yet. The words of an error never hold the path.
func checkTranscript(projects, path string) (there bool, err error) {
	switch {
	case len(path) > maxField || strings.ContainsRune(path, 0) || !filepath.IsAbs(path):
		return false, fmt.Errorf("transcript path: not absolute: %w", errRefused)
	case filepath.Clean(path) != path || filepath.Ext(path) != ".jsonl":
		return false, fmt.Errorf("transcript path: not that of a session's file: %w", errRefused)
	}
	real, err := filepath.EvalSymlinks(projects)
	if errors.Is(err, fs.ErrNotExist) && inside(projects, path) {
		return false, nil // the client has written nothing at all yet
	}
	if err != nil {
		return false, fmt.Errorf("projects directory: %w", cause(err))
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) && (inside(projects, path) || inside(real, path)) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("directory of the transcript: %w", cause(err))
	}
	if dir != real && !inside(real, dir) {
		return false, fmt.Errorf("transcript path: not in the projects directory: %w", errRefused)
	}
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("transcript: %w", cause(err))
	}
	if !fi.Mode().IsRegular() {
		return false, fmt.Errorf("transcript: no regular file: %w", errRefused)
	}
	return true, nil
}

// inside reports whether path lies below dir, by their names alone.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// cause returns what went wrong with a file without saying which.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// ignored reports whether the directory or one above it, up to the root of its repository, has a file .memignore.
// Outside a repository only the directory itself counts.
func ignored(dir string) bool {
	if dir == "" || !filepath.IsAbs(dir) {
		return false
	}
	if has(dir, ".memignore") {
		return true
	}
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if has(d, ".git") {
			return ignoredUpTo(dir, d)
		}
		if filepath.Dir(d) == d {
			return false
		}
	}
}

func ignoredUpTo(dir, root string) bool {
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if has(d, ".memignore") {
			return true
		}
		if d == root {
			return false
		}
	}
}

func has(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// A session that MEM_CAPTURE switched off stays so: it would be no use if the next session that starts captured it. The
// mark is not in the cache, for that may be deleted at any time.
func (w *World) offFile(session string) string {
	return filepath.Join(w.Store, "hooks", session+".off")
}

// isOff reports whether a session was switched off.
func (w *World) isOff(session string) bool {
	_, err := os.Lstat(w.offFile(session))
	return checkSession(session) == nil && err == nil
}

// switchOff marks the session of the hook as one that is not captured, whoever looks at it later.
func (r *run) switchOff() error {
	if r.isOff(r.p.Session) {
		return nil
	}
	if err := settings.WriteFile(r.offFile(r.p.Session), nil); err != nil {
		return fmt.Errorf("switch capture off: %w", cause(err))
	}
	return nil
}

// switchOn takes the mark away.
func (r *run) switchOn() error {
	err := os.Remove(r.offFile(r.p.Session))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("switch capture on: %w", cause(err))
	}
	return nil
}

// sessionOf returns the session that a file is of: that of a subagent's file is the one that started it.
func sessionOf(path string) string {
	if dir := filepath.Dir(path); filepath.Base(dir) == "subagents" {
		return filepath.Base(filepath.Dir(dir))
	}
	return capture.Source{Path: path}.SessionID()
}
