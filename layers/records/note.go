package records

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// KindNote is the kind of the record of a note. Its text is part of the record, so that whatever holds for records holds
// for notes: they are synced, checked, cleaned and forgotten like them.
const KindNote = "note"

// The places of notes: the first element of their names.
const (
	NoteMemory     = "memory"             // Claude Code's auto memory of a project
	NotePlans      = "plans"              // plans of its sessions
	NoteAgent      = "agent-memory"       // the memory of subagents, in the project
	NoteAgentLocal = "agent-memory-local" // the same, of this checkout only
)

// MaxNote is the maximal size of a note in bytes. Claude Code itself loads 25 KB of its index.
const MaxNote = 1 << 20

// A Note is one state of a file with notes of Claude Code: the body of a "note" record.
type Note struct {
	File     string    `json:"file"` // place and name: memory/MEMORY.md
	Text     string    `json:"text,omitempty"`
	Deleted  bool      `json:"deleted,omitempty"`
	Dir      string    `json:"dir"` // the directory of the place on its device
	Modified time.Time `json:"modified,omitzero"`
	Session  string    `json:"session,omitempty"`  // the session that wrote the text, "" if none did
	Restored bool      `json:"restored,omitempty"` // mem wrote the file
	Cut      int       `json:"cut,omitempty"`      // secrets that redaction removed
	// After names the states that this one replaced, as device/lamport. Two states of a file that neither came after
	// the other are of two machines that both changed it. Hashes would make a test of guesses of a forgotten text.
	After []string `json:"after,omitempty"`
	// Undoes names the restored states that this one takes back: what they replaced is replaced no more.
	Undoes []string `json:"undoes,omitempty"`
}

// NoteState names a state of a file in [Note.After].
func NoteState(s Stamp) string { return s.Device + "/" + strconv.FormatUint(s.Lamport, 10) }

// ParseNoteFile checks the name of a note and returns its place and its name in it.
func ParseNoteFile(s string) (place, name string, err error) {
	place, name, _ = strings.Cut(s, "/")
	switch place {
	case NoteMemory, NotePlans, NoteAgent, NoteAgentLocal:
	default:
		return "", "", fmt.Errorf("%.80q is not a note", s)
	}
	if len(s) > 1024 || !filepath.IsLocal(name) {
		return "", "", fmt.Errorf("%.80q is not a note", s)
	}
	for elem := range strings.SplitSeq(name, "/") {
		if _, err := ParseFileName(elem); err != nil {
			return "", "", err
		}
	}
	return place, name, nil
}

func checkNote(b *Note) error {
	if _, _, err := ParseNoteFile(b.File); err != nil {
		return err
	}
	if b.Session != "" {
		if err := wantSessions(b.Session); err != nil {
			return err
		}
	}
	if len(b.Text) > MaxNote {
		return fmt.Errorf("a note of %d bytes", len(b.Text))
	}
	if b.Deleted && b.Text != "" {
		return errors.New("a deleted note with a text")
	}
	return nil
}
