package hooks

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/memvcs/mem/refs/disk"

	"github.com/memvcs/mem/hooks/settings"
)

// A note asks for the capture of a session's file. It is durable before its hook ends, so it does not matter which
// process captures the session, or when.
type note struct {
	Version int            `json:"v"`
	Event   settings.Event `json:"event"`
	Session string         `json:"session"`
	Path    string         `json:"path"`            // of the session's file
	Agent   string         `json:"agent,omitempty"` // of the file of a subagent that it started
	Cwd     string         `json:"cwd"`
	Time    time.Time      `json:"time"`
	// the directory of the client that ran the hook; the hook that captures may run for another client
	Claude string `json:"claude,omitempty"`

	file string // in the spool
}

// The last member of a note is its sum: the first digits of the SHA-256 of the note without the sum.
const (
	sumLead   = `,"sum":"`
	sumTail   = "\"}\n"
	sumDigits = 16
)

func noteSum(body []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(append(bytes.Clone(body), "}\n"...)))[:sumDigits]
}

// encode returns the content of the note's file.
func (n note) encode() ([]byte, error) {
	b, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	body := bytes.TrimSuffix(b, []byte("}"))
	return append(append(append(bytes.Clone(body), sumLead...), noteSum(body)...), sumTail...), nil
}

// errNote reports a damaged note.
var errNote = errors.New("a damaged note")

// decodeNote reads a note. Notes of an older mem have no sum.
func decodeNote(b []byte) (n note, err error) {
	if i := bytes.LastIndex(b, []byte(sumLead)); i >= 0 {
		sum, ok := strings.CutSuffix(string(b[i+len(sumLead):]), sumTail)
		if !ok || sum != noteSum(b[:i]) {
			return n, errNote
		}
	}
	if err := json.Unmarshal(b, &n); err != nil {
		return n, fmt.Errorf("%w: %w", errNote, err)
	}
	return n, nil
}

const noteVersion = 1

// maxNote is the maximal size of a note: JSON needs up to six bytes for a byte of one of the paths.
const maxNote = 128 << 10

func (w *World) spool() string { return filepath.Join(w.Store, "spool") }

// spoolNote writes n and returns a function that makes it durable. The function does nothing if the note is gone by
// then: a note is removed after its capture is durable. A note that cannot be written to the spool goes to the
// fallback directory, see [FallbackNotes].
func (w *World) spoolNote(n note) (durable func() error, err error) {
	b, err := n.encode()
	if err != nil {
		return nil, err
	}
	keep, failed := w.writeNote(w.spool(), n, b)
	return sync.OnceValue(func() error {
		if failed == nil {
			failed = keep()
		}
		if failed == nil {
			return nil
		}
		if err := w.writeFallback(n, b); err != nil {
			return fmt.Errorf("note: %w", withoutPath(errors.Join(failed, err)))
		}
		w.logError("note", n.Session, fmt.Errorf("left in %s: %w", w.fallbackDir(), withoutPath(failed)))
		return nil
	}), nil
}

// writeNote writes a note with the content b to a directory, and returns a function that makes it durable. The name of
// the file sorts by time.
func (w *World) writeNote(dir string, n note, b []byte) (sync func() error, err error) {
	file := filepath.Join(dir, fmt.Sprintf("%019d-%d-%s.note", n.Time.UnixNano(), w.Pid, n.Event))
	var f *os.File
	if err := withDir(file, func() (err error) {
		f, err = os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
		return err
	}); err != nil {
		return nil, err
	}
	if _, err = f.Write(b); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name())) // do not keep half a note
	}
	return func() error { return syncNote(f) }, nil
}

// syncNote makes a note durable if it still exists, and closes it.
func syncNote(f *os.File) error {
	if _, err := os.Lstat(f.Name()); errors.Is(err, fs.ErrNotExist) {
		return f.Close()
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(f.Name()))
}

// notes returns up to limit waiting notes, without those in a set: from the spool, or from the fallback directory if
// the spool has none.
func (w *World) notes(without map[string]bool, limit int) ([]note, error) {
	out, err := w.notesIn(w.spool(), without, limit)
	if err != nil || len(out) > 0 || !isPrivateDir(w.fallbackDir()) {
		return out, err
	}
	return w.notesIn(w.fallbackDir(), without, limit)
}

// notesIn returns up to limit notes in a directory, the oldest first, without those in a set. An incomplete note is
// being written, or its writer was killed before it promised anything; it is removed after an hour, as are temporary
// files. Notes of another version are ignored.
func (w *World) notesIn(dir string, without map[string]bool, limit int) ([]note, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("spool: %w", withoutPath(err))
	}
	var out []note
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), disk.Temporary) {
			if fi, err := e.Info(); err == nil && w.Now().Sub(fi.ModTime()) > time.Hour {
				os.Remove(file) // if it stays, the next call removes it
			}
			continue
		}
		if !strings.HasSuffix(e.Name(), ".note") || !e.Type().IsRegular() || without[file] {
			continue
		}
		if len(out) == limit {
			break
		}
		n, err := readNote(file)
		switch fi, serr := e.Info(); {
		case err == nil && n.Version == noteVersion && checkSession(n.Session) == nil:
			out = append(out, n)
		case errors.Is(err, errTorn) && serr == nil && w.Now().Sub(fi.ModTime()) > time.Hour:
			os.Remove(file) // as above
		}
	}
	return out, nil // ReadDir sorts, and names begin with the time
}

// errTorn reports a note without its end.
var errTorn = errors.New("an incomplete note")

func readNote(file string) (note, error) {
	fi, err := os.Lstat(file)
	if err != nil {
		return note{}, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > maxNote {
		return note{}, errNote
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return note{}, err
	}
	if len(b) == 0 || b[len(b)-1] != '\n' {
		return note{}, errTorn
	}
	n, err := decodeNote(b)
	n.file = file
	return n, err
}

// DamagedNotes calls bad with the name of every damaged note in the spool of the store in dir.
func DamagedNotes(dir string, bad func(name string, err error)) error {
	entries, err := os.ReadDir(filepath.Join(dir, "spool"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".note") {
			continue
		}
		file := filepath.Join(dir, "spool", e.Name())
		if _, err := readNote(file); err != nil && !errors.Is(err, errTorn) && !errors.Is(err, fs.ErrNotExist) {
			bad(e.Name(), err)
		}
	}
	return err
}

// Spooled returns the number of waiting notes in the spool of the store in dir.
func Spooled(dir string) int { return countFiles(filepath.Join(dir, "spool"), "*.note") }
