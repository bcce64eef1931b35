package hooks

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/refs/disk"
)

// captureOff reports whether capture is off for this session: by MEM_CAPTURE, a file .memignore or the settings.
// Settings of one project are checked when the spool is drained, where the project is known.
func (r *run) captureOff() (bool, error) {
	switch r.Getenv("MEM_CAPTURE") {
	case "off":
		return true, r.switchOff()
	case "on":
		if err := r.switchOn(); err != nil {
			return true, err
		}
	}
	if r.isOff(r.p.Session) || ignored(r.p.Cwd) {
		return true, nil
	}
	s, err := r.Settings()
	return !s.Capture, err
}

// ignored reports whether the directory or one above it, up to the root of its repository, has a file .memignore.
// Outside a repository only the directory itself counts.
func ignored(dir string) bool {
	if dir == "" || !filepath.IsAbs(dir) {
		return false
	}
	if exists(dir, ".memignore") {
		return true
	}
	found := false
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		found = found || exists(d, ".memignore")
		if exists(d, ".git") {
			return found
		}
		if filepath.Dir(d) == d {
			return false
		}
	}
}

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// offFile marks a session that MEM_CAPTURE switched off, so that the next SessionStart does not capture it. The mark is
// not in the cache because that may be deleted at any time.
func (w *World) offFile(session string) string {
	return filepath.Join(w.Store, "hooks", session+".off")
}

// isOff reports whether a session is switched off.
func (w *World) isOff(session string) bool {
	_, err := os.Lstat(w.offFile(session))
	return checkSession(session) == nil && err == nil
}

// switchOff marks the session of the hook as switched off.
func (r *run) switchOff() error {
	if r.isOff(r.p.Session) {
		return nil
	}
	file := r.offFile(r.p.Session)
	if err := withDir(file, func() error { return disk.WriteFile(file, nil) }); err != nil {
		return fmt.Errorf("switch capture off: %w", withoutPath(err))
	}
	return nil
}

// switchOn removes the mark.
func (r *run) switchOn() error {
	if err := remove(r.offFile(r.p.Session)); err != nil {
		return fmt.Errorf("switch capture on: %w", withoutPath(err))
	}
	return nil
}

// sessionOf returns the session of a file below a projects directory. A subagent's file, at any depth, belongs to the
// session that started the subagent.
func sessionOf(path string) string {
	for dir := filepath.Dir(path); filepath.Dir(dir) != dir && filepath.Base(dir) != "projects"; dir = filepath.Dir(dir) {
		if filepath.Base(dir) == "subagents" {
			return filepath.Base(filepath.Dir(dir))
		}
	}
	return capture.Source{Path: path}.SessionID()
}
