package hooks

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// The hooks of the settings and of the plugin may both run for one event, but a session gets its context once. The
// first hook claims the event by creating a file.

// Sources of a SessionStart.
const (
	sourceResume  = "resume"
	sourceFork    = "fork"
	sourceCompact = "compact"
)

// sameEvent is the longest time between two hooks that run for the same event.
const sameEvent = 10 * time.Second

// wantsContext reports whether this hook hands over a context. A resumed or forked session has the context of its
// start.
func (r *run) wantsContext() bool {
	switch r.p.Source {
	case sourceResume, sourceFork:
		return false
	case sourceCompact:
		return r.claim("compact", sameEvent)
	}
	return r.claim("start", 0)
}

// claim reports whether this is the first hook of the session for an event. A claim expires after a time, unless
// that is 0. If the file cannot be created, every hook is the first.
func (r *run) claim(occasion string, last time.Duration) bool {
	file := r.sessionFile(r.p.Session, "."+occasion)
	now := strconv.AppendInt(nil, r.Now().UnixMilli(), 10)
	for range 2 {
		err := withDir(file, func() error { return writeFile(file, os.O_EXCL, append(now, '\n')) })
		if !errors.Is(err, fs.ErrExist) {
			return true
		}
		if last == 0 || r.since(file) < last || remove(file) != nil {
			return false
		}
	}
	return false
}

// since returns how long ago a claim was made. A claim without a time is being written, or its writer was killed.
func (r *run) since(file string) time.Duration {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	if at, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil {
		return r.Now().Sub(time.UnixMilli(at)).Abs()
	}
	fi, err := os.Lstat(file)
	if err != nil {
		return 0
	}
	return r.Now().Sub(fi.ModTime()).Abs()
}
