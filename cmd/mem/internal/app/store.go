package app

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
)

// WithStore opens the memory, calls f and closes the memory. Unlike [WithMemory] it does not find the project of the
// directory, which can be slow in a git repository.
func WithStore(e *Env, f func(m *layers.Memory) error) (err error) {
	m, err := OpenMemory(e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return f(m)
}

// Label returns the name of a version, such as 6ecd8c99:v001.
func Label(v *records.Version) string { return term.ShortID(v.Session) + ":" + v.Name() }

// SessionID returns the id of a session to print: short for people, whole for scripts.
func SessionID(e *Env, id string) string {
	if e.Term.Stdout {
		return term.ShortID(id)
	}
	return id
}

// LabelFor returns the name of a version to print: the id of its session is short for people, whole for scripts.
func LabelFor(e *Env, v *records.Version) string { return SessionID(e, v.Session) + ":" + v.Name() }

// SessionName returns a name that starts with the short id of a session, to print: unchanged for people, with the
// whole id for scripts.
func SessionName(e *Env, name, session string) string {
	short := term.ShortID(session)
	if rest, ok := strings.CutPrefix(name, short); ok && short != "" {
		return SessionID(e, session) + rest
	}
	return name
}

// HashText returns a hash to print: short for people, whole for scripts.
func HashText(e *Env, h objects.Hash) string {
	if e.Term.Stdout {
		return "b3:" + h.Short()
	}
	return "b3:" + h.String()
}

// StoreError adds hints to an error of the store.
func StoreError(err error) error {
	const sessionFiles = "session files are ~/.claude/projects/*/*.jsonl; list them with \"mem ls --untracked\""
	var behind *originals.BehindError
	var src *capture.SourceError
	switch {
	case errors.As(err, &behind):
		id := term.ShortID(behind.Session.ID)
		return WithCode(ExitPartial, WithHint(err, "run \""+
			term.Shell("mem", "checkout", id+":original")+"\" there",
			"the clean transcript of all of it is here: mem cat-file b3:"+behind.Session.Now().Original.String()))
	case errors.Is(err, state.ErrNotTranscript):
		return WithHint(err, sessionFiles)
	case errors.Is(err, capture.ErrChanging):
		return WithHint(err,
			"retry when no program rewrites the file; a file that only grows can be added at any time")
	case errors.Is(err, originals.ErrWithheld):
		return WithHint(err, fmt.Sprintf("the clean transcript is here: %q", "mem show SESSION --format text"))
	case errors.As(err, &src) && errors.Is(err, fs.ErrPermission):
		return WithHint(err, "make it readable: chmod u+r")
	case errors.As(err, &src):
		return WithHint(err, sessionFiles)
	}
	return err
}
