package app

import (
	"errors"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/records"
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
