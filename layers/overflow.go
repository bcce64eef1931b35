package layers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// An overflow is an overflow file of a tool result that is new or has changed: what a tool said that was too long
// for the transcript. It goes through the redaction step as the transcript does, with numbers of its own.
type overflow struct {
	name  string
	patch []byte // nil if the clean bytes are the exact ones
}

// largeFile is the size from which on an overflow file is stored as a stream of its own: it is never in memory as a whole then, and
// may be of any size.
const largeFile = 4 << 20

// overflow stages the overflow files of the session that are not stored as they are.
func (c *capture) overflow(ctx context.Context, p refs.Project, s *refs.Stage) error {
	c.files, c.snap.Files, c.looks = nil, nil, nil
	if c.base != nil {
		c.snap.Files = slices.Clone(c.base.Files)
	}
	for _, path := range c.src.Files {
		if _, err := records.ParseFileName(filepath.Base(path)); err != nil {
			continue // no device could write it out again
		}
		f, size, err := openRegular(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // gone since it was found
		}
		if err == nil {
			err = errors.Join(c.overflowFile(ctx, p, s, filepath.Base(path), f, size), f.Close())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	slices.SortFunc(c.snap.Files, func(a, b FileRef) int { return strings.Compare(a.Name, b.Name) })
	c.added.Files = len(c.files)
	return nil
}

// overflowFile stages an overflow file, unless it is stored as it is or was forgotten.
func (c *capture) overflowFile(ctx context.Context, p refs.Project, s *refs.Stage, name string, f io.ReaderAt, size int64) error {
	k := slices.IndexFunc(c.snap.Files, func(f FileRef) bool { return f.Name == name })
	var sum objects.Hash
	if k >= 0 || c.guard != nil {
		var forgot bool
		var err error
		if sum, forgot, err = c.guard.file(io.NewSectionReader(f, 0, size)); err != nil || forgot {
			return err
		}
	}
	if k >= 0 {
		if same, err := c.sameFile(ctx, p, c.snap.Files[k], sum); err != nil || same {
			return err
		}
		c.snap.Files = slices.Delete(c.snap.Files, k, k+1)
	}
	ref, raw, err := c.putFile(ctx, s, name, io.NewSectionReader(f, 0, size), size)
	if err == nil && c.guard != nil && raw != sum { // what was looked at is not what was taken in
		err = ErrChanging
	}
	if err != nil {
		return err
	}
	c.snap.Files = append(c.snap.Files, ref)
	return nil
}

// sameFile reports whether the base holds the content of the name raw of an overflow file.
func (c *capture) sameFile(ctx context.Context, p refs.Project, f FileRef, raw objects.Hash) (bool, error) {
	if !f.Withheld {
		return raw == f.Hash, nil
	}
	patch, err := c.m.filePatch(ctx, p, c.known, c.base, f.Name)
	if errors.Is(err, ErrWithheld) { // it was lost
		return false, nil
	}
	return err == nil && patch.Raw == raw, err
}

// putFile stages an overflow file of about the given size, and returns the name of its exact bytes.
func (c *capture) putFile(ctx context.Context, s *refs.Stage, name string, r io.Reader, size int64) (ref FileRef, raw objects.Hash, err error) {
	read := objects.NewHasher()
	in := &counter{r: io.TeeReader(r, read)}
	clean := newFileCleaner(in, size, c.rules)
	out := &counter{r: clean}
	ref.Name = name
	if size < c.m.largeFile() {
		ref.Hash, err = s.PutReader(out)
	} else {
		var g refs.Growth
		g, err = s.PutLong(ctx, out)
		ref.Hash = g.Sum
	}
	if err != nil {
		return ref, raw, err
	}
	raw = read.Sum()
	ref.Size, ref.Withheld = out.n, len(clean.cuts) > 0
	o := overflow{name: name}
	if ref.Withheld {
		o.patch = redact.Patch{Rules: c.snap.Rules, After: out.n, Clean: ref.Hash, RawLen: in.n, Raw: raw, Cuts: clean.cuts}.Encode()
	}
	if c.rules.Any() && !clean.pieces {
		c.looks = append(c.looks, look{end: ref.Hash})
	}
	c.files = append(c.files, o)
	return ref, raw, nil
}

func (m *Memory) largeFile() int64 { return cmp.Or(m.opts.LargeFile, largeFile) }

// A counter counts what is read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
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
	return refs.FilePatch(record, name)
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

// A fileChain is the overflow files of a snapshot, with the records that may hold their patches.
type fileChain struct {
	files   []FileRef
	records []objects.Hash // of the snapshot and of those before it, the newest first
}

// chainOf returns the fileChain of a growth point of a session.
func chainOf(s *Session, p *Point) fileChain {
	c := fileChain{files: p.Files}
	if len(p.Files) > 0 {
		for _, q := range slices.Backward(s.chain(p)) {
			c.records = append(c.records, q.Stamp.Record)
		}
	}
	return c
}

// patch returns the patch of a file of the chain, and reports whether it belongs to the newest record; nil for a file whose
// bytes are exact. The error wraps [ErrWithheld] if this machine does not have it.
func (c fileChain) patch(tx *refs.Tx, device string, f FileRef) (b []byte, own bool, err error) {
	if !f.Withheld {
		return nil, false, nil
	}
	for i, record := range c.records {
		b, err := tx.Patch(device, filePatchID(record, f.Name))
		if !errors.Is(err, objects.ErrNotFound) {
			return bytes.Clone(b), i == 0, err
		}
	}
	return nil, false, fmt.Errorf("file %s: %w", f.Name, ErrWithheld)
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

// openRegular opens a regular file without waiting for FIFOs or devices.
func openRegular(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, 0, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = errors.New("no regular file")
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, fi.Size(), nil
}
