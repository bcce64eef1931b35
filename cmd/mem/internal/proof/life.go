package proof

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

// A life is the history of one session: all states that were written, and which of them were acknowledged.
type life struct {
	*Generator
	file     string
	content  []byte         // the last state that was offered
	names    []objects.Hash // of all states that were offered
	ends     []int          // how long they are
	acked    int            // the last one that a command acknowledged, -1 for none
	noted    int            // the last one that a hook acknowledged: it is there when the notes are folded
	pushed   int            // what the remote has acknowledged
	versions map[string]bool
	asked    map[int]bool // ratios that versions were asked for
	gone     [2]bool      // whether it may be listed, and may be taken out of the lists
	removed  bool         // it was to be taken out at least once
	tries    int          // to forget it
}

// newLife starts a session on the machine of the store.
func newLife(s *Store, n uint64, cwd string) *life {
	w := NewGenerator(n, cwd)
	w.Mark = fmt.Sprintf("mark%xof%x", w.dice, n)
	return &life{
		Generator: w, file: s.Transcript(w.ID), acked: -1, noted: -1, pushed: -1,
		versions: map[string]bool{}, asked: map[int]bool{}, gone: [2]bool{true, false},
	}
}

// Transcript returns where Claude Code would keep the transcript of a session.
func (s *Store) Transcript(id string) string {
	return filepath.Join(s.Home, "claude", "projects", "-home-user-app", id+".jsonl")
}

// grow appends to the transcript, like Claude Code.
func (l *life) grow(records int) error {
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
func (m *machine) grow(ctx context.Context, l *life, records int) error {
	lock := flock.New(filepath.Join(m.Dir, "spool", "fold.lock"), flock.SetPermissions(0o600))
	// no hook has run yet
	if _, err := lock.TryLockContext(ctx, 5*time.Millisecond); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(l.grow(records), lock.Close())
}

// last returns the newest state.
func (l *life) last() int { return len(l.names) - 1 }

// payload writes the input of a hook of the session and returns the file.
func (l *life) payload(s *Store) (string, error) {
	b, err := json.Marshal(map[string]any{"session_id": l.ID, "transcript_path": l.file, "cwd": l.Cwd})
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.Home, l.ID+".payload")
	return path, os.WriteFile(path, b, 0o600)
}

// state checks that a hash is of the required state or a later one.
func (l *life) state(name objects.Hash, from int, when string) error {
	if from = max(0, from); from > l.last() || !slices.Contains(l.names[from:], name) {
		at := slices.Index(l.names, name)
		return broken("%s: session %s is at %s, state %d of those it was given; the last one acknowledged is %d of %d", when,
			l.ID, name.Short(), at, l.acked, l.last())
	}
	return nil
}

// restored checks restored bytes.
func (l *life) restored(content []byte, when string) error {
	if !bytes.HasPrefix(l.content, content) {
		return broken("%s: %d bytes of session %s came back, which are not those it was given", when, len(content), l.ID)
	}
	return l.state(objects.Sum(content), l.acked, when)
}

// reached checks restored bytes if background programs may have read the file during a write: they are a prefix of the
// file and include everything acknowledged.
func (l *life) reached(content []byte, when string) error {
	if !bytes.HasPrefix(l.content, content) || l.acked >= 0 && len(content) < l.ends[l.acked] {
		return l.restored(content, when)
	}
	return nil
}

// must returns whether the session must be listed, must not be, or either.
func (l *life) must() (listed, either bool) { return l.gone[0], l.gone[0] && l.gone[1] }

func (l *life) String() string { return fmt.Sprintf("session %s", l.ID) }

// rewrite writes the transcript again, because a power cut may lose unsynced data of the client.
func (l *life) rewrite() error {
	if l.last() < 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(l.file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(l.file, l.content, 0o600)
}
