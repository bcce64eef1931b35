package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A note says that the file of a session is to be captured. It is on the disk before a hook ends, so nothing that was
// promised depends on who captures, or when.
type note struct {
	Version int       `json:"v"`
	Event   Event     `json:"event"`
	Session string    `json:"session"`
	Path    string    `json:"path"`            // of the session's file
	Agent   string    `json:"agent,omitempty"` // of the file of a subagent that it started
	Cwd     string    `json:"cwd"`
	Time    time.Time `json:"time"`

	file string // in the spool
}

const noteVersion = 1

// maxNote is how long a note can be at most.
const maxNote = 32 << 10

func (w *World) spool() string { return filepath.Join(w.Store, "spool") }

// leave makes n durable: the file and its name.
func (w *World) leave(n note) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	f, err := w.newNote(n)
	if errors.Is(err, fs.ErrNotExist) { // the first hook of a store that is being made
		if err = os.MkdirAll(w.spool(), 0o700); err == nil {
			f, err = w.newNote(n)
		}
	}
	if err != nil {
		return fmt.Errorf("note: %w", cause(err))
	}
	_, err = f.Write(append(b, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("note: %w", cause(err))
	}
	if err := syncDir(w.spool()); err != nil {
		return fmt.Errorf("note: %w", cause(err))
	}
	return nil
}

// newNote makes the file of a note. Its name sorts by time.
func (w *World) newNote(n note) (*os.File, error) {
	name := fmt.Sprintf("%019d-%d-%s.note", n.Time.UnixNano(), w.Pid, n.Event)
	return os.OpenFile(filepath.Join(w.spool(), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
}

// syncDir makes the names in a directory durable, where the system can.
func syncDir(dir string) error {
	if !strictDirs {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// notes returns the oldest notes in the spool but for those in without, up to a number, in the order of time. One that is not whole is being written, or its writer was
// killed before anything was promised; after an hour it is removed. One of a newer mem is left to that.
func (w *World) notes(without map[string]bool, most int) ([]note, error) {
	entries, err := os.ReadDir(w.spool())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("spool: %w", cause(err))
	}
	var out []note
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".note") || !e.Type().IsRegular() {
			continue
		}
		file := filepath.Join(w.spool(), e.Name())
		if without[file] {
			continue
		}
		if len(out) == most {
			break
		}
		n, whole := readNote(file)
		switch fi, err := e.Info(); {
		case whole && n.Version == noteVersion && checkSession(n.Session) == nil:
			out = append(out, n)
		case !whole && err == nil && w.Now().Sub(fi.ModTime()) > time.Hour:
			os.Remove(file) // if it stays, the next look removes it
		}
	}
	return out, nil // as the directory is sorted, and names begin with the time
}

func readNote(file string) (note, bool) {
	fi, err := os.Lstat(file)
	if err != nil || fi.Size() > maxNote {
		return note{}, false
	}
	b, err := os.ReadFile(file)
	if err != nil || len(b) == 0 || b[len(b)-1] != '\n' {
		return note{}, false
	}
	n := note{file: file}
	return n, json.Unmarshal(b, &n) == nil
}

// Spooled returns how many notes of the store in dir wait to be folded in.
func Spooled(dir string) int {
	files, err := filepath.Glob(filepath.Join(dir, "spool", "*.note"))
	if err != nil {
		return 0
	}
	return len(files)
}
