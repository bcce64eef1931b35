package secrets

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A Secret describes a redacted secret without its text. JSON is the output of mem secrets list.
type Secret struct {
	Session string `json:"sessionId"`
	File    string `json:"file,omitempty"` // its overflow file
	No      int    `json:"no"`             // number in its placeholder
	Rule    string `json:"rule"`
	Message int    `json:"message,omitempty"` // first message with it
	Places  int    `json:"places"`
	Hash    string `json:"hash"`   // first 12 digits of its BLAKE3
	Length  int    `json:"length"` // in bytes
}

// Secrets returns the secrets of a session at its current growth point, by number, and those of its overflow files.
// The error wraps [originals.ErrWithheld] if the session was captured on another device, which its secrets never
// leave.
func Secrets(ctx context.Context, db *state.DB, p refs.Project, s *state.Session) ([]Secret, error) {
	now := s.Now()
	var out []Secret
	if now.Withheld {
		patches, err := originals.Patches(ctx, db, p, s, now)
		if err != nil {
			return nil, err
		}
		var cuts []redact.Cut
		for _, patch := range patches {
			cuts = append(cuts, patch.Cuts...)
		}
		if out, err = secretsAt(ctx, db, p, now.Original, cuts); err != nil {
			return nil, fmt.Errorf("session %s: %w", records.ShortID(s.ID), err)
		}
	}
	for _, f := range now.Files {
		if !f.Withheld {
			continue
		}
		patch, err := FilePatch(ctx, db, p, s, now, f.Name)
		if err != nil {
			return nil, err
		}
		found, err := secretsAt(ctx, db, p, f.Hash, patch.Cuts)
		if err != nil {
			return nil, fmt.Errorf("session %s, file %s: %w", records.ShortID(s.ID), f.Name, err)
		}
		for i := range found {
			found[i].File, found[i].Message = f.Name, 0
		}
		out = append(out, found...)
	}
	for i := range out {
		out[i].Session = s.ID
	}
	return out, nil
}

// secretsAt describes sorted cuts from the clean content.
func secretsAt(ctx context.Context, db *state.DB, p refs.Project, content objects.Hash, cuts []redact.Cut) ([]Secret, error) {
	byNo := map[int]*Secret{}
	err := originals.Stream(ctx, db, p, content, func(r io.Reader) error {
		for v, err := range transcript.Whole(r) {
			if err != nil {
				return err
			}
			for ; len(cuts) > 0 && cuts[0].At < v.Off+v.Size; cuts = cuts[1:] {
				c := cuts[0]
				from := c.At - v.Off
				if from < 0 || from+int64(c.Len) > v.Size {
					return io.ErrUnexpectedEOF
				}
				mark := v.Raw[from : from+int64(c.Len)]
				if s := byNo[c.No]; s != nil {
					s.Places++
					continue
				}
				byNo[c.No] = &Secret{No: c.No, Rule: redact.RuleOf(mark), Message: v.N, Places: 1,
					Hash: redact.Fingerprint(c.Bytes), Length: len(c.Bytes)}
			}
		}
		if len(cuts) > 0 {
			return io.ErrUnexpectedEOF
		}
		return nil
	})
	var out []Secret
	for _, s := range byNo {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Secret) int { return a.No - b.No })
	return out, err
}

// ScanStored scans stored data with the current rules: the content of a revision or, without one, this device's lane
// of the project.
func ScanStored(ctx context.Context, db *state.DB, p refs.Project, rev *state.Rev) ([]Leak, error) {
	if rev == nil {
		return ScanOutgoing(ctx, db, p, func(string) bool { return false })
	}
	if rev.Hash.IsZero() {
		return nil, fmt.Errorf("%s: no content to scan", rev.Kind)
	}
	where := Leak{Kind: "object", Name: rev.Hash}
	if rev.Session != nil && (rev.Kind == state.IsSession || rev.Kind == state.IsOriginal) {
		where.Kind, where.Session = "session", rev.Session.ID
	}
	var leaks []Leak
	err := originals.Stream(ctx, db, rev.Project.ID, rev.Hash, func(r io.Reader) (err error) {
		leaks, err = LeaksIn(r, 0, Gate(db), where)
		return err
	})
	return leaks, err
}
