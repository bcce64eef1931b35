package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/memvcs/mem/objects"
)

// A session is the history of one session file: all states that were written, and which of them were acknowledged.
type session struct {
	*Generator
	file     string
	content  []byte         // the newest state
	names    []objects.Hash // of all states
	ends     []int          // their lengths in bytes
	acked    int            // the last state that a command acknowledged, -1 for none
	noted    int            // the last state that a hook acknowledged: it is stored after the next drain
	pushed   int            // the last state that the remote acknowledged
	versions map[string]bool
	ratios   map[int]bool // ratios of the requested versions
	may      visibility
	removed  bool // a removal was requested at least once
	tries    int  // attempts to forget it
}

// A visibility is the set of acceptable states in the lists: both while the outcome of a command is unknown.
type visibility struct{ listed, hidden bool }

// newSession starts a session on the machine of the store.
func newSession(s *Store, n uint64, cwd string) *session {
	w := NewGenerator(n, cwd)
	w.Mark = fmt.Sprintf("mark%xof%x", w.random, n)
	return &session{
		Generator: w, file: s.Transcript(w.ID), acked: -1, noted: -1, pushed: -1,
		versions: map[string]bool{}, ratios: map[int]bool{}, may: visibility{listed: true},
	}
}

// Transcript returns where Claude Code would keep the transcript of a session.
func (s *Store) Transcript(id string) string {
	return filepath.Join(s.Home, "claude", "projects", "-home-user-app", id+".jsonl")
}

// grow appends to the transcript, like Claude Code.
func (l *session) grow(records int) error {
	more := l.More(records)
	if err := os.MkdirAll(filepath.Dir(l.file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(l.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(more); err != nil {
		f.Close()
		return err
	}
	l.content = append(l.content, more...)
	l.names, l.ends = append(l.names, objects.Sum(l.content)), append(l.ends, len(l.content))
	return f.Close()
}

// grow appends to a session while no background capture runs, which could read an incomplete write.
func (m *machine) grow(ctx context.Context, l *session, records int) error {
	lock := flock.New(filepath.Join(m.Dir, "spool", "fold.lock"), flock.SetPermissions(0o600))
	// no hook has run yet
	if _, err := lock.TryLockContext(ctx, 5*time.Millisecond); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(l.grow(records), lock.Close())
}

// last returns the newest state.
func (l *session) last() int { return len(l.names) - 1 }

// payload writes the input of a hook of the session and returns the file.
func (l *session) payload(s *Store) (string, error) {
	b, err := json.Marshal(map[string]any{"session_id": l.ID, "transcript_path": l.file, "cwd": l.Cwd})
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.Home, l.ID+".payload")
	return path, os.WriteFile(path, b, 0o600)
}

// checkState checks that a hash is the hash of the required state or of a later one.
func (l *session) checkState(name objects.Hash, from int, when string) error {
	if from = max(0, from); from > l.last() || !slices.Contains(l.names[from:], name) {
		at := slices.Index(l.names, name)
		return brokenf("%s: session %s is at %s, state %d; the last acknowledged state is %d of %d", when, l.ID,
			name.Short(), at, l.acked, l.last())
	}
	return nil
}

// checkRestored checks restored bytes.
func (l *session) checkRestored(content []byte, when string) error {
	if !bytes.HasPrefix(l.content, content) {
		return brokenf("%s: %d bytes of session %s were restored, which differ from its file", when, len(content), l.ID)
	}
	return l.checkState(objects.Sum(content), l.acked, when)
}

// checkPrefix checks restored bytes if background programs may have read the file during a write: they are a prefix of
// the file and include everything acknowledged.
func (l *session) checkPrefix(content []byte, when string) error {
	if !bytes.HasPrefix(l.content, content) || l.acked >= 0 && len(content) < l.ends[l.acked] {
		return l.checkRestored(content, when)
	}
	return nil
}

func (l *session) String() string { return fmt.Sprintf("session %s", l.ID) }

// rewrite writes the transcript again, because a power cut may lose unsynced data of the client.
func (l *session) rewrite() error {
	if l.last() < 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(l.file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(l.file, l.content, 0o600)
}
