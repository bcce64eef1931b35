package originals

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// ErrWithheld reports that this device does not have the patch that the exact bytes of a session need: patches stay on
// the device that captured the session.
var ErrWithheld = errors.New("the exact bytes were kept on the device that captured the session")

// Patches returns the patches that turn the clean stream into the exact bytes of the snapshot p, oldest first. The
// error wraps [ErrWithheld] if this device does not have one.
func Patches(ctx context.Context, db *state.DB, project refs.Project, s *state.Session,
	p *records.Point) ([]redact.Patch, error) {
	var out []redact.Patch
	chain := s.Chain(p)
	err := db.Refs.View(ctx, project, func(tx *refs.Tx) error {
		for i := len(chain) - 1; i >= 0; i-- {
			b, err := tx.Patch(chain[i].Stamp.Device, chain[i].Stamp.Record)
			if errors.Is(err, objects.ErrNotFound) {
				return fmt.Errorf("session %s: %w", records.ShortID(s.ID), ErrWithheld)
			}
			if err != nil {
				return err
			}
			patch, err := redact.Decode(b)
			if err != nil {
				return fmt.Errorf("patch of %s: %w", records.ShortID(s.ID), err)
			}
			out = append(out, patch)
			if patch.Before == 0 {
				break
			}
		}
		return nil
	})
	slices.Reverse(out)
	return out, err
}

// WriteOriginal writes the exact bytes of a session's file at the snapshot p. If it returns an error, it may have
// written a part of them or wrong bytes.
func WriteOriginal(ctx context.Context, db *state.DB, project refs.Project, s *state.Session, p *records.Point,
	w io.Writer) error {
	if !p.Withheld {
		return WriteObject(ctx, db, project, p.Original, w)
	}
	patches, err := Patches(ctx, db, project, s, p)
	if err != nil {
		return err
	}
	return db.Refs.View(ctx, project, func(tx *refs.Tx) error {
		rc, err := tx.Get(ctx, p.Original)
		if err != nil {
			return err
		}
		defer rc.Close()
		return redact.Restore(w, rc, patches...)
	})
}

// Open returns the bytes of a session's file at the snapshot p: the exact ones if this device has them, else those
// without secrets.
func Open(ctx context.Context, db *state.DB, project refs.Project, s *state.Session, p *records.Point) (r io.ReadCloser,
	exact bool, err error) {
	exact = true
	if p.Withheld {
		_, err := Patches(ctx, db, project, s, p)
		if exact = err == nil; err != nil && !errors.Is(err, ErrWithheld) {
			return nil, false, err
		}
	}
	out, in := io.Pipe()
	go func() {
		if exact {
			in.CloseWithError(WriteOriginal(ctx, db, project, s, p, in))
		} else {
			in.CloseWithError(WriteObject(ctx, db, project, p.Original, in))
		}
	}()
	return out, exact, nil
}

// WriteExact writes the exact bytes of a session, or those that this device has and returns a [*BehindError].
func WriteExact(ctx context.Context, db *state.DB, rev state.Rev, w io.Writer) error {
	p, behind := Exact(ctx, db, rev.Project.ID, rev.Session)
	if p == nil {
		return behind
	}
	if err := WriteOriginal(ctx, db, rev.Project.ID, rev.Session, p, w); err != nil {
		return err
	}
	return behind
}

// WriteObject writes the object h of a project.
func WriteObject(ctx context.Context, db *state.DB, project refs.Project, h objects.Hash, w io.Writer) error {
	return db.Refs.View(ctx, project, func(tx *refs.Tx) error {
		rc, err := tx.Get(ctx, h)
		if err != nil {
			return err
		}
		defer rc.Close()
		_, err = io.Copy(w, rc)
		return err
	})
}

// WriteAnywhere writes the content of the object h to w, whatever project contains it. The error is a
// [*state.NotFoundError] if none does.
func WriteAnywhere(ctx context.Context, db *state.DB, h objects.Hash, w io.Writer) error {
	ids, err := db.Refs.Projects()
	if err != nil {
		return err
	}
	for _, id := range ids {
		var rc io.ReadCloser
		err := db.Refs.View(ctx, id, func(tx *refs.Tx) (err error) {
			if rc, err = tx.Get(ctx, h); err != nil {
				return err
			}
			defer rc.Close()
			_, err = io.Copy(w, rc)
			return err
		})
		if rc != nil || !errors.Is(err, objects.ErrNotFound) {
			return err
		}
	}
	return &state.NotFoundError{What: "object", Name: "b3:" + h.String()}
}

// Object returns the content of the object h of a project.
func Object(ctx context.Context, db *state.DB, project refs.Project, h objects.Hash) ([]byte, error) {
	var b bytes.Buffer
	err := WriteObject(ctx, db, project, h, &b)
	return b.Bytes(), err
}
