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

	"github.com/memvcs/mem/hooks/settings"
)

// A note says that the file of a session is to be captured. It is on the disk before a hook ends, so nothing that was
// promised depends on who captures, or when.
type note struct {
	Version int            `json:"v"`
	Event   settings.Event `json:"event"`
	Session string         `json:"session"`
	Path    string         `json:"path"`            // of the session's file
	Agent   string         `json:"agent,omitempty"` // of the file of a subagent that it started
	Cwd     string         `json:"cwd"`
	Time    time.Time      `json:"time"`
	// the directory of the client that the hook ran for: who folds may run for another one
	Claude string `json:"claude,omitempty"`

	file string // in the spool
}

// sumLead begins the last member of a note: the first digits of the SHA-256 of the note without it. It tells a
// damaged note from a good one.
const (
	sumLead   = `,"sum":"`
	sumTail   = "\"}\n"
	sumDigits = 16
)

func noteSum(body []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(append(bytes.Clone(body), "}\n"...)))[:sumDigits]
}

// encode returns the note as it lies in the spool.
func (n note) encode() ([]byte, error) {
	b, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	body := bytes.TrimSuffix(b, []byte("}"))
	return append(append(append(bytes.Clone(body), sumLead...), noteSum(body)...), sumTail...), nil
}

// errNote says that a note is not as it was written.
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

// maxNote is how long a note can be at most.
const maxNote = 32 << 10

func (w *World) spool() string { return filepath.Join(w.Store, "spool") }

// leave writes n, and returns what makes it durable, the file and its name, unless the note is gone by then:
// who removes a note has stored what it speaks of. A note that the spool does not take is left in the next
// place that does ([Stranded]).
func (w *World) leave(n note) (durable func() error, err error) {
	b, err := n.encode()
	if err != nil {
		return nil, err
	}
	keep, failed := w.leaveIn(w.spool(), n, b)
	return sync.OnceValue(func() error {
		if failed == nil {
			failed = keep()
		}
		if failed == nil {
			return nil
		}
		if err := w.strand(n, b); err != nil {
			return fmt.Errorf("note: %w", cause(errors.Join(failed, err)))
		}
		w.note("note", n.Session, fmt.Errorf("left in %s: %w", w.strandedDir(), cause(failed)))
		return nil
	}), nil
}

// leaveIn writes a note of the content b in a directory, and returns what makes it durable.
func (w *World) leaveIn(dir string, n note, b []byte) (keep func() error, err error) {
	f, err := w.newNote(dir, n)
	if errors.Is(err, fs.ErrNotExist) { // the first hook of a store that is being made
		if err = os.MkdirAll(dir, 0o700); err == nil {
			f, err = w.newNote(dir, n)
		}
	}
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(b); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name())) // half a note is of no use
	}
	return func() error { return w.keep(f) }, nil
}

// keep makes a note durable if it is still there, and closes it.
func (w *World) keep(f *os.File) error {
	if _, err := os.Lstat(f.Name()); errors.Is(err, fs.ErrNotExist) {
		return f.Close()
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return settings.SyncDir(filepath.Dir(f.Name()))
}

// newNote makes the file of a note. Its name sorts by time.
func (w *World) newNote(dir string, n note) (*os.File, error) {
	name := fmt.Sprintf("%019d-%d-%s.note", n.Time.UnixNano(), w.Pid, n.Event)
	return os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
}

// notes returns notes that wait: those in the spool, and when these are done those that it did not take.
func (w *World) notes(without map[string]bool, most int) ([]note, error) {
	out, err := w.notesIn(w.spool(), without, most)
	if err != nil || len(out) > 0 || !ownDir(w.strandedDir()) {
		return out, err
	}
	return w.notesIn(w.strandedDir(), without, most)
}

// notesIn returns the oldest notes in a directory but for those in without, up to a number, in the order of
// time. One that is not whole is being written, or its writer was killed before anything was promised; after an
// hour it is removed, as is a file that never got its name. One of a newer mem is left to that.
func (w *World) notesIn(dir string, without map[string]bool, most int) ([]note, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("spool: %w", cause(err))
	}
	var out []note
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), settings.Unnamed) {
			if fi, err := e.Info(); err == nil && w.Now().Sub(fi.ModTime()) > time.Hour {
				os.Remove(file) // as below
			}
			continue
		}
		if !strings.HasSuffix(e.Name(), ".note") || !e.Type().IsRegular() {
			continue
		}
		if without[file] {
			continue
		}
		if len(out) == most {
			break
		}
		n, err := readNote(file)
		switch fi, serr := e.Info(); {
		case err == nil && n.Version == noteVersion && checkSession(n.Session) == nil:
			out = append(out, n)
		case errors.Is(err, errTorn) && serr == nil && w.Now().Sub(fi.ModTime()) > time.Hour:
			os.Remove(file) // if it stays, the next look removes it
		}
	}
	return out, nil // as the directory is sorted, and names begin with the time
}

// errTorn says that a note has no end.
var errTorn = errors.New("a note that is not whole")

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

// DamagedNotes calls bad with the name of every note in the spool of the store in dir that is not as a hook
// wrote it. Search looks for the one byte that makes it right, if fix is called.
func DamagedNotes(dir string, bad func(name string, err error,
	fix func(search func([]byte, func([]byte) bool) ([]byte, bool)) ([]byte, bool))) error {
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
			bad(e.Name(), err, func(search func([]byte, func([]byte) bool) ([]byte, bool)) ([]byte, bool) {
				return mendNote(file, search)
			})
		}
	}
	return err
}

func mendNote(file string, search func([]byte, func([]byte) bool) ([]byte, bool)) ([]byte, bool) {
	if fi, err := os.Lstat(file); err != nil || !fi.Mode().IsRegular() || fi.Size() > maxNote {
		return nil, false
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, false
	}
	return search(b, func(b []byte) bool {
		_, err := decodeNote(b)
		return err == nil && bytes.Contains(b, []byte(sumLead)) && b[len(b)-1] == '\n'
	})
}

// Spooled returns how many notes of the store in dir wait to be folded in.
func Spooled(dir string) int {
	files, err := filepath.Glob(filepath.Join(dir, "spool", "*.note"))
	if err != nil {
		return 0
	}
	return len(files)
}
