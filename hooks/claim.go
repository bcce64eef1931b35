package hooks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// What a session is handed over it is handed over once, though the hooks of the settings and those of the
// plugin both run. The first one claims the occasion by making a file of its name.

// The sources of a SessionStart that matter here.
const (
	sourceResume  = "resume"
	sourceFork    = "fork"
	sourceCompact = "compact"
)

// together is how long after another hook one may come that runs for the same occasion.
const together = 10 * time.Second

// wantsContext reports whether the session is to be given a context now. One that is resumed or forked has that
// of its start.
func (r *run) wantsContext() bool {
	switch r.p.Source {
	case sourceResume, sourceFork:
		return false
	case sourceCompact:
		return r.claim("compact", together)
	}
	return r.claim("start", 0)
}

// claim reports whether this is the first hook of the session on an occasion. After a time, if it is not 0, the
// next occasion begins. Without a place for the file everybody is first.
func (r *run) claim(occasion string, last time.Duration) bool {
	file := filepath.Join(r.Store, "cache", "hooks", r.p.Session+"."+occasion)
	now := strconv.FormatInt(r.Now().UnixMilli(), 10) + "\n"
	for range 2 {
		err := create(file, now)
		if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(filepath.Dir(file), 0o700) == nil {
			err = create(file, now)
		}
		if !errors.Is(err, fs.ErrExist) {
			return true
		}
		if last == 0 || r.since(file) < last || remove(file) != nil {
			return false
		}
	}
	return false
}

// since returns how long ago a claim was made.
func (r *run) since(file string) time.Duration {
	b, err := os.ReadFile(file)
	at, perr := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil || perr != nil {
		return 0 // it is being made
	}
	return r.Now().Sub(time.UnixMilli(at)).Abs()
}

// create makes a small file that was not there.
func create(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
