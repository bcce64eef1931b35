package capture

import (
	"bytes"
	"io"
	"strconv"
	"unicode/utf16"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
)

// ListOptions select what to list.
type ListOptions struct {
	Claude     string // the configuration directory of Claude Code; "" to list no files
	Dir        string // the working directory: its files belong to the project too
	SessionDir string // a directory of session files that belong to the project too; "" for none
	Subagents  bool
	Removed    bool
	Revoked    bool
	Forgotten  bool // list the files of deleted sessions, which are not captured again, as untracked, without what they say
	// Unreadable is called with the error of a file or directory that cannot be read; the listing continues if it
	// returns nil. If it is nil, the listing ends with that error.
	Unreadable func(error) error
	// Ignored is called with each file with the name of a session file that is none: a hidden file, such as the
	// "._<id>.jsonl" of macOS, or one without a session record. It may be nil.
	Ignored func(p state.Project, path string)
	// Read is what [ListOptions.ReadFiles] returned, for the lists of several projects; nil to read it for each list.
	Read *ClientFiles
}

// ignore calls o.Ignored if it is set.
func (o ListOptions) ignore(p state.Project, path string) {
	if o.Ignored != nil {
		o.Ignored(p, path)
	}
}

// NoSession reports whether a file has no record of a session. A file whose first record is being written has one.
func NoSession(path string) bool {
	f, size, err := OpenSource(path)
	if err != nil {
		return false // adding the file reports the error
	}
	defer f.Close()
	head := make([]byte, min(size, 4<<10))
	if _, err := f.ReadAt(head, 0); err != nil || bytes.Contains(head, []byte(`"type"`)) {
		return false
	}
	if !bytes.ContainsRune(head, '\n') && bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) {
		return false
	}
	ok, err := isSession(f, size)
	return err == nil && !ok
}

// NoteUnreadable returns the error with which the listing ends, nil if it continues.
func (o ListOptions) NoteUnreadable(err error) error {
	if o.Unreadable == nil {
		return err
	}
	return o.Unreadable(err)
}

// titleOf returns the title of the session in a file, and the session that it is a fork of. The guard may be nil.
func titleOf(path string, g *originals.Guard, rules redact.Rules) (title, forkOf string) {
	file, size, err := OpenSource(path)
	if err != nil {
		return "", "" // the listing continues; adding the file reports the error
	}
	defer file.Close()
	var f originals.SourceFile = file
	if g != nil {
		if f, err = g.Through(Source{Path: path}.SessionID(), file, size); err != nil {
			return "", ""
		}
	}
	forkOf, _ = transcript.ForkedFrom(io.NewSectionReader(f, 0, size)) // adding the file reports the error
	var numbers redact.Numbers
	return transcript.Title(io.NewSectionReader(f, 0, size), func(b []byte) []byte {
		clean, _ := rules.Redact(b, &numbers)
		return clean
	}), forkOf
}

// clientNameMax is the length of the longest name of [ClientDir] without a hash.
const clientNameMax = 200

// ClientDir returns the name of the directory in which Claude Code stores the sessions of the working directory
// dir: each UTF-16 code unit that is not an ASCII letter or digit becomes '-'; a name longer than 200 is cut there,
// and a hash of the whole path is appended. Several directories can have the same name.
func ClientDir(dir string) string {
	units := utf16.Encode([]rune(dir))
	name := make([]byte, len(units))
	var h int32
	for i, u := range units {
		name[i] = '-'
		if u < 128 && (u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9') {
			name[i] = byte(u)
		}
		h = h*31 + int32(u)
	}
	if len(name) <= clientNameMax {
		return string(name)
	}
	abs := int64(h)
	if abs < 0 {
		abs = -abs
	}
	return string(name[:clientNameMax]) + "-" + strconv.FormatInt(abs, 36)
}
