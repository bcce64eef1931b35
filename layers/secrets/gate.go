package secrets

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/redact/scanner"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// A Leak is a secret that stands where it could travel. It says where, and never what.
type Leak struct {
	Kind    string       `json:"kind"`              // "commit", "record", "object", "session", "format", "point"
	Name    objects.Hash `json:"name,omitzero"`     // of the record, the object or the session's stream
	Commit  string       `json:"commit"`            // that brought it
	Session string       `json:"session,omitempty"` // of a session
	Message int          `json:"message,omitempty"` // of the session
	Rule    string       `json:"rule"`
	Hash    string       `json:"hash"`   // the first 12 digits of the BLAKE3 of the secret, for `mem secrets allow`
	Length  int          `json:"length"` // of the secret, in bytes
}

// Where says for people where the secret stands.
func (l Leak) Where() string {
	switch l.Kind {
	case "commit":
		return "message of commit " + l.Commit[:min(10, len(l.Commit))]
	case "session":
		return fmt.Sprintf("%s#%d", records.ShortID(l.Session), l.Message)
	}
	return fmt.Sprintf("%s %s", l.Kind, l.Name.Short())
}

// String says for people where the secret stands, and how it can be told.
func (l Leak) String() string {
	return fmt.Sprintf("%s: %s, %d bytes, %s", l.Where(), l.Rule, l.Length, l.Hash)
}

// ScanOutgoing looks with the newest rules at every byte of this device's lane of p that no commit has which
// have knows: messages of commits, records, objects, and the streams of sessions, decompressed. It returns
// what it finds, and believes no note that something was looked at before.
func (m Ops) ScanOutgoing(ctx context.Context, p refs.Project, have func(commit string) bool) ([]Leak, error) {
	return m.scanLane(ctx, refs.Lane{Project: p, Device: m.Refs.Device().ID}, have, nil)
}

// GateLane is [Ops.ScanOutgoing] of a lane that need not be this device's, before it is pushed. What these very
// rules looked at on this device before, under the same name, it does not read again. Nothing may be pushed
// unless it returns no leak and no error.
func (m Ops) GateLane(ctx context.Context, l refs.Lane, have func(commit string) bool) ([]Leak, error) {
	return m.scanLane(ctx, l, have, m.Looked(l.Project, m.Gate()))
}

func (m Ops) scanLane(ctx context.Context, l refs.Lane, have func(commit string) bool, known lookedAt) ([]Leak, error) {
	sessions, err := m.streamNames(ctx, l.Project)
	if err != nil {
		return nil, err
	}
	g := newGatekeeper(m.Gate(), known, m.Opts.Workers)
	err = m.Refs.Outgoing(ctx, l, have, func(piece refs.Piece) error {
		where := Leak{Kind: piece.Kind, Name: piece.Name, Commit: piece.Commit}
		if piece.Kind == "stream" {
			if where.Kind, where.Session = "session", sessions[piece.Name]; piece.Name == stream.Whole(piece.End) {
				where.Kind, where.Name = "object", piece.End
			}
		}
		return errors.Join(g.take(piece, where), ctx.Err())
	})
	leaks, clean, failed := g.done()
	if failed != nil || err != nil {
		return leaks, cmp.Or(failed, err)
	}
	m.NoteLooked(l.Project, g.rules, clean)
	return leaks, nil
}

// streamNames returns which session each stream of p holds.
func (m Ops) streamNames(ctx context.Context, p refs.Project) (map[objects.Hash]string, error) {
	st, err := trust.On(m.DB).Outline(ctx, p)
	if err != nil {
		return nil, err
	}
	names := map[objects.Hash]string{}
	for _, s := range st.Sessions {
		for _, pt := range s.Points {
			names[stream.Name(s.ID, pt.Generation)] = s.ID
		}
	}
	return names, nil
}

// Gate returns the rules that look at what goes out. They are never off: what a setting lets into the memory need not
// be what may leave it.
func (m Ops) Gate() redact.Rules {
	if m.Opts.Gate.Any() {
		return m.Opts.Gate
	}
	return m.Opts.Rules
}

// LeaksIn returns the secrets in what r, which is size bytes long, holds behind its first skip bytes. where
// says what it is.
func LeaksIn(r io.Reader, size, skip int64, rules redact.Rules, where Leak) ([]Leak, error) {
	before := lineCounter{}
	if _, err := io.CopyN(&before, r, skip); err != nil {
		return nil, err
	}
	var leaks []Leak
	lines := before.n
	found := func(clean []byte, cuts []redact.Cut) {
		at := 0
		for _, cut := range cuts {
			lines += bytes.Count(clean[at:cut.At], originals.Newline)
			at = int(cut.At)
			leak := where
			if leak.Session != "" {
				leak.Message = lines + 1
			}
			leak.Rule = redact.RuleOf(clean[at : at+cut.Len])
			leak.Length, leak.Hash = len(cut.Bytes), scanner.Fingerprint(cut.Bytes)
			leaks = append(leaks, leak)
		}
		lines += bytes.Count(clean[at:], originals.Newline)
	}
	if where.Kind != "object" && where.Kind != "session" { // what mem wrote itself, which is short
		text, err := io.ReadAll(r)
		if err == nil {
			found(RedactOwn(rules, text))
		}
		return leaks, err
	}
	c := NewFileCleaner(r, size-skip, rules)
	if where.Kind == "session" {
		c.text = nil
	}
	c.found = found
	_, err := io.Copy(io.Discard, OnlyReader{c})
	return leaks, err
}

// A lineCounter counts the line ends that are written to it.
type lineCounter struct{ n int }

func (l *lineCounter) Write(p []byte) (int, error) {
	l.n += bytes.Count(p, originals.Newline)
	return len(p), nil
}

// OnlyReader hides what else a reader can do.
type OnlyReader struct{ io.Reader }
