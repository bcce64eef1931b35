package layers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
)

// An overflow is an overflow file of a tool result that is new or has changed: what a tool said that was too long
// for the transcript. It goes through the redaction step as the transcript does, with numbers of its own.
type overflow struct {
	name  string
	patch []byte // nil if the clean bytes are the exact ones
}

// overflow stages the overflow files of the session that are not stored as they are.
func (c *capture) overflow(ctx context.Context, p refs.Project, s *refs.Stage) error {
	c.files, c.snap.Files = nil, nil
	if c.base != nil {
		c.snap.Files = slices.Clone(c.base.Files)
	}
	for _, path := range c.src.Files {
		b, err := readRegular(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // gone since it was found
		}
		if err != nil {
			return err
		}
		if c.guard.forgot(b) {
			continue
		}
		name := filepath.Base(path)
		k := slices.IndexFunc(c.snap.Files, func(f FileRef) bool { return f.Name == name })
		if k >= 0 {
			same, err := c.sameFile(ctx, p, c.snap.Files[k], b)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if same {
				continue
			}
			c.snap.Files = slices.Delete(c.snap.Files, k, k+1)
		}
		ref, err := c.putFile(s, name, b)
		if err != nil {
			return err
		}
		c.snap.Files = append(c.snap.Files, ref)
	}
	slices.SortFunc(c.snap.Files, func(a, b FileRef) int { return strings.Compare(a.Name, b.Name) })
	c.added.Files = len(c.files)
	return nil
}

// sameFile reports whether the base holds the content b of an overflow file.
func (c *capture) sameFile(ctx context.Context, p refs.Project, f FileRef, b []byte) (bool, error) {
	if !f.Withheld {
		return objects.Sum(b) == f.Hash, nil
	}
	patch, err := c.m.filePatch(ctx, p, c.known, c.base, f.Name)
	return err == nil && patch.Raw == objects.Sum(b), err
}

// putFile stages an overflow file.
func (c *capture) putFile(s *refs.Stage, name string, raw []byte) (FileRef, error) {
	var numbers redact.Numbers
	clean, cuts := c.rules.Redact(raw, &numbers)
	h, err := s.Put(clean)
	if err != nil {
		return FileRef{}, err
	}
	o := overflow{name: name}
	if len(cuts) > 0 {
		o.patch = redact.Patch{Rules: c.snap.Rules, After: int64(len(clean)), Clean: h, RawLen: int64(len(raw)), Raw: objects.Sum(raw), Cuts: cuts}.Encode()
	}
	c.files = append(c.files, o)
	return FileRef{Name: name, Hash: h, Size: int64(len(clean)), Withheld: len(cuts) > 0}, nil
}

// again makes the snapshot of a transcript that is as it was, for the sake of its overflow files.
func (c *capture) again() {
	was := c.base.Snapshot
	c.added.Change = "grown"
	c.snap.Generation, c.snap.Original, c.snap.Size, c.snap.Segments = was.Generation, was.Original, was.Size, was.Segments
	c.snap.Scan, c.snap.Rules = was.Scan, was.Rules
}

// putPatches stages the patches of the session and of its overflow files.
func (c *capture) putPatches(tx *refs.Tx, record objects.Hash) error {
	if c.patch != nil {
		if err := tx.PutPatch(record, c.patch); err != nil {
			return err
		}
	}
	for _, f := range c.files {
		if f.patch == nil {
			continue
		}
		if err := tx.PutPatch(filePatchID(record, f.name), f.patch); err != nil {
			return err
		}
	}
	return nil
}

// filePatchID is the name by which originals.git holds the patch of an overflow file that was captured with a record.
func filePatchID(record objects.Hash, name string) objects.Hash {
	return objects.Sum([]byte("mem file 1\n" + record.String() + "\n" + name))
}

// filePatch returns the patch of an overflow file of a session at the growth point p. It belongs to the snapshot
// with which the file was captured last. The error wraps [ErrWithheld] if this machine does not have it.
func (m *Memory) filePatch(ctx context.Context, project refs.Project, s *Session, p *Point, name string) (patch redact.Patch, err error) {
	err = m.repo.View(ctx, project, func(tx *refs.Tx) error {
		for _, q := range slices.Backward(s.chain(p)) {
			b, err := tx.Patch(q.Stamp.Device, filePatchID(q.Stamp.Record, name))
			if errors.Is(err, objects.ErrNotFound) {
				continue
			}
			if err == nil {
				patch, err = redact.Decode(b)
			}
			return err
		}
		return fmt.Errorf("file %s of session %s: %w", name, ShortID(s.ID), ErrWithheld)
	})
	return patch, err
}

// WriteFile writes the exact bytes of an overflow file of a session at the growth point p. What was written is the
// file only if the error is nil.
func (m *Memory) WriteFile(ctx context.Context, project refs.Project, s *Session, p *Point, f FileRef, w io.Writer) error {
	if !f.Withheld {
		return m.WriteObject(ctx, project, f.Hash, w)
	}
	patch, err := m.filePatch(ctx, project, s, p, f.Name)
	if err != nil {
		return err
	}
	return m.repo.View(ctx, project, func(tx *refs.Tx) error {
		rc, err := tx.Get(ctx, f.Hash)
		if err != nil {
			return err
		}
		defer rc.Close()
		return redact.Restore(w, rc, patch)
	})
}

// fileSize returns how long an overflow file was when it was captured; ok is false if this machine does not know.
func (m *Memory) fileSize(ctx context.Context, project refs.Project, session *Session, p *Point, f FileRef, s *seen) (n int64, ok bool) {
	if !f.Withheld {
		return f.Size, true
	}
	id := filePatchID(p.Stamp.Record, f.Name)
	if n, ok := s.sizes[id]; ok {
		return n, true
	}
	patch, err := m.filePatch(ctx, project, session, p, f.Name)
	if err != nil {
		return 0, false // captured on another device
	}
	s.sizes[id], s.changed = patch.RawLen, true
	return patch.RawLen, true
}

func readRegular(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: no regular file", path)
	}
	if fi.Size() > pack.MaxSize { // no remote would take it
		return nil, fmt.Errorf("%s: %d bytes, more than %d MiB: %w", path, fi.Size(), pack.MaxSize>>20, pack.ErrTooLarge)
	}
	return io.ReadAll(f)
}
