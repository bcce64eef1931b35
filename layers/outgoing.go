package layers

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/memvcs/mem/layers/redact"
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

// String says for people where the secret stands.
func (l Leak) String() string {
	where := fmt.Sprintf("%s %s", l.Kind, l.Name.Short())
	switch l.Kind {
	case "commit":
		where = "message of commit " + l.Commit[:min(10, len(l.Commit))]
	case "session":
		where = fmt.Sprintf("%s#%d", ShortID(l.Session), l.Message)
	}
	return fmt.Sprintf("%s: %s, %d bytes, %s", where, l.Rule, l.Length, l.Hash)
}

// ScanOutgoing looks with the newest rules at every byte of this device's lane of p that no commit has which
// have knows: messages of commits, records, objects, and the streams of sessions, decompressed. It returns
// what it finds. Nothing may be pushed unless it returns no leak and no error.
func (m *Memory) ScanOutgoing(ctx context.Context, p refs.Project, have func(commit string) bool) ([]Leak, error) {
	return m.scanLane(ctx, refs.Lane{Project: p, Device: m.repo.Device().ID}, have)
}

// scanLane is [Memory.ScanOutgoing] of a lane that need not be this device's.
func (m *Memory) scanLane(ctx context.Context, l refs.Lane, have func(commit string) bool) ([]Leak, error) {
	sessions, err := m.streamNames(ctx, l.Project)
	if err != nil {
		return nil, err
	}
	var leaks []Leak
	err = m.repo.Outgoing(ctx, l, have, func(piece refs.Piece) error {
		leak := Leak{Kind: piece.Kind, Name: piece.Name, Commit: piece.Commit}
		if piece.Kind == "stream" {
			leak.Kind, leak.Session = "session", sessions[piece.Name]
		}
		s := leakScanner{rules: m.opts.Rules, leak: leak, skip: piece.From, leaks: &leaks}
		if _, err := io.Copy(onlyWriter{&s}, piece.Content); err != nil {
			return fmt.Errorf("scan %s %s: %w", piece.Kind, piece.Name.Short(), err)
		}
		s.scan(len(s.buf))
		return ctx.Err()
	})
	return leaks, err
}

// streamNames returns which session each stream of p holds.
func (m *Memory) streamNames(ctx context.Context, p refs.Project) (map[objects.Hash]string, error) {
	st, err := m.Outline(ctx, p)
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

// A leakScanner looks for secrets in what is written to it, whole lines at a time.
type leakScanner struct {
	rules redact.Rules
	leak  Leak  // where
	skip  int64 // bytes that need not be looked at
	lines int   // before buf
	buf   []byte
	leaks *[]Leak
}

func (s *leakScanner) Write(p []byte) (int, error) {
	n := len(p)
	if s.skip > 0 {
		pass := int(min(s.skip, int64(n)))
		s.lines += bytes.Count(p[:pass], []byte("\n"))
		s.skip -= int64(pass)
		p = p[pass:]
	}
	s.buf = append(s.buf, p...)
	if len(s.buf) >= 1<<20 {
		s.scan(bytes.LastIndexByte(s.buf, '\n') + 1)
	}
	return n, nil
}

// scan looks at the first n bytes of the buffer and drops them.
func (s *leakScanner) scan(n int) {
	at := 0
	for _, f := range s.rules.Find(s.buf[:n]) {
		s.lines += bytes.Count(s.buf[at:f.Start], []byte("\n"))
		at = f.Start
		leak := s.leak
		if leak.Session != "" {
			leak.Message = s.lines + 1
		}
		leak.Rule, leak.Length, leak.Hash = f.Rule, f.End-f.Start, redact.Fingerprint(s.buf[f.Start:f.End])
		*s.leaks = append(*s.leaks, leak)
	}
	s.lines += bytes.Count(s.buf[at:n], []byte("\n"))
	s.buf = append(s.buf[:0], s.buf[n:]...)
}
