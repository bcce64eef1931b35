package secrets

import (
	"context"
	"fmt"
	"io"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// A Leak is a secret in data that could be pushed. It has the location and never the secret. JSON is the output of
// mem secrets scan.
type Leak struct {
	Kind    string       `json:"kind"`              // "commit", "record", "object", "session", "format", "point"
	Name    objects.Hash `json:"name,omitzero"`     // of the record, the object or the session's stream
	Commit  string       `json:"commit"`            // that added it
	Session string       `json:"session,omitempty"` // of a session
	Message int          `json:"message,omitempty"` // of the session
	Rule    string       `json:"rule"`
	Hash    string       `json:"hash"`   // the first 12 digits of the BLAKE3 of the secret, for `mem secrets allow`
	Length  int          `json:"length"` // of the secret, in bytes
}

// Where returns the location of the secret for display.
func (l Leak) Where() string {
	switch l.Kind {
	case "commit":
		return "message of commit " + l.Commit[:min(10, len(l.Commit))]
	case "session":
		return fmt.Sprintf("%s#%d", records.ShortID(l.Session), l.Message)
	}
	return fmt.Sprintf("%s %s", l.Kind, l.Name.Short())
}

// String returns the location, the rule and the hash of the secret for display.
func (l Leak) String() string {
	return fmt.Sprintf("%s: %s, %d bytes, %s", l.Where(), l.Rule, l.Length, l.Hash)
}

// ScanOutgoing is [ScanLane] for this device's lane of p.
func ScanOutgoing(ctx context.Context, db *state.DB, p refs.Project, have func(commit string) bool) ([]Leak, error) {
	return ScanLane(ctx, db, refs.Lane{Project: p, Device: db.Refs.Device().ID}, have)
}

// ScanLane scans a lane with the current rules: messages of commits, records, objects, and decompressed streams of
// sessions that no commit with have has. Nothing may be pushed unless it returns no leak and no error.
func ScanLane(ctx context.Context, db *state.DB, l refs.Lane, have func(commit string) bool) (leaks []Leak, err error) {
	sessions, err := streamNames(ctx, db, l.Project)
	if err != nil {
		return nil, err
	}
	err = db.Refs.Outgoing(ctx, l, have, func(piece refs.Piece) error {
		where := Leak{Kind: piece.Kind, Name: piece.Name, Commit: piece.Commit}
		if piece.Kind == "stream" {
			if where.Kind, where.Session = "session", sessions[piece.Name]; piece.Name == stream.Whole(piece.End) {
				where.Kind, where.Name = "object", piece.End
			}
		}
		found, err := LeaksIn(piece.Content, piece.From, Gate(db), where)
		if leaks = append(leaks, found...); err != nil {
			return fmt.Errorf("scan %s %s: %w", piece.Kind, piece.Name.Short(), err)
		}
		return ctx.Err()
	})
	return leaks, err
}

// streamNames returns the session of each stream of p.
func streamNames(ctx context.Context, db *state.DB, p refs.Project) (map[objects.Hash]string, error) {
	st, err := trust.Outline(ctx, db, p)
	if err != nil {
		return nil, err
	}
	names := map[objects.Hash]string{}
	for _, s := range st.Sessions {
		for _, pt := range s.Points {
			names[stream.Name(pt.Session, pt.Generation)] = s.ID
		}
	}
	return names, nil
}

// Gate returns the rules for outgoing data. They are always on: a setting that allows a secret in memory does not
// allow to push it.
func Gate(db *state.DB) redact.Rules {
	if db.Opts.Gate.Any() {
		return db.Opts.Gate
	}
	return db.Opts.Rules
}

// LeaksIn returns the secrets in r after its first skip bytes. where describes r.
func LeaksIn(r io.Reader, skip int64, rules redact.Rules, where Leak) (leaks []Leak, err error) {
	if where.Kind != "object" && where.Kind != "session" { // short text written by mem
		text, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		return where.each(RedactOwn(rules, text)), nil
	}
	c := NewFileCleaner(r, rules)
	c.found = func(clean []byte, cuts []redact.Cut) { leaks = append(leaks, where.each(clean, cuts)...) }
	all := io.MultiReader(io.LimitReader(r, skip), c)
	if where.Kind == "session" {
		c.file = false
	}
	if where.Session == "" {
		_, err := io.Copy(io.Discard, all)
		return leaks, err
	}
	numbered := 0
	for v, err := range transcript.Stream(all, 0) {
		if err != nil {
			return leaks, err
		}
		for ; numbered < len(leaks) && skip+c.Cuts[numbered].At < v.Off+v.Size; numbered++ {
			leaks[numbered].Message = v.N
		}
	}
	return leaks, nil
}

// each returns a leak at l for each of some cuts from clean.
func (l Leak) each(clean []byte, cuts []redact.Cut) (out []Leak) {
	for _, c := range cuts {
		l.Rule = redact.RuleOf(clean[c.At : c.At+int64(c.Len)])
		l.Length, l.Hash = len(c.Bytes), redact.Fingerprint(c.Bytes)
		out = append(out, l)
	}
	return out
}
