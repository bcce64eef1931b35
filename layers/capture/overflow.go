package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// An overflow is a staged overflow file: the output of a tool that was too long for the transcript, that of a command in
// the background, or what the client notes about a subagent. It is redacted like the transcript; its secrets are
// numbered separately.
type overflow struct {
	name  string
	patch []byte // nil if the clean bytes are the exact ones
}

// stageOverflow stages the overflow files of the session, and others, that are new or have changed.
func (c *Capture) stageOverflow(ctx context.Context, p refs.Project, s *refs.Stage, others []string) error {
	c.files, c.snap.Files = nil, nil
	if c.Base != nil {
		c.snap.Files = slices.Clone(c.Base.Files)
	}
	for _, path := range append(others, c.src.Files...) {
		if _, err := records.ParseFileName(filepath.Base(path)); err != nil {
			continue // not a name that every device can write
		}
		f, size, err := secrets.OpenRegular(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err == nil {
			err = errors.Join(c.stageFile(ctx, p, s, filepath.Base(path), io.NewSectionReader(f, 0, size)), f.Close())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	slices.SortFunc(c.snap.Files, func(a, b records.FileRef) int { return strings.Compare(a.Name, b.Name) })
	c.added.Files = len(c.files)
	return nil
}

// stageFile stages an overflow file, unless it is unchanged or was forgotten.
func (c *Capture) stageFile(ctx context.Context, p refs.Project, s *refs.Stage, name string,
	f *io.SectionReader) error {
	k := slices.IndexFunc(c.snap.Files, func(f records.FileRef) bool { return f.Name == name })
	var sum objects.Hash
	if k >= 0 || c.guard != nil {
		var forgot bool
		var err error
		if sum, forgot, err = c.guard.File(io.NewSectionReader(f, 0, f.Size())); err != nil || forgot {
			return err
		}
	}
	if k >= 0 {
		if same, err := c.sameFile(ctx, p, c.snap.Files[k], sum); err != nil || same {
			return err
		}
		c.snap.Files = slices.Delete(c.snap.Files, k, k+1)
	}
	ref, raw, err := c.putFile(ctx, s, name, io.NewSectionReader(f, 0, f.Size()), f.Size())
	if err == nil && c.guard != nil && raw != sum { // the file changed after the guard read it
		err = ErrChanging
	}
	if err != nil {
		return err
	}
	c.snap.Files = append(c.snap.Files, ref)
	return nil
}

// sameFile reports whether raw is the hash of the exact bytes of the overflow file f of Base.
func (c *Capture) sameFile(ctx context.Context, p refs.Project, f records.FileRef, raw objects.Hash) (bool, error) {
	if !f.Withheld {
		return raw == f.Hash, nil
	}
	patch, err := secrets.FilePatch(ctx, c.M, p, c.known, c.Base, f.Name)
	if errors.Is(err, originals.ErrWithheld) { // the patch was lost
		return false, nil
	}
	return err == nil && patch.Raw == raw, err
}

// putFile stages an overflow file of about the given size, and returns the hash of its exact bytes.
func (c *Capture) putFile(ctx context.Context, s *refs.Stage, name string, r io.Reader,
	size int64) (ref records.FileRef, raw objects.Hash, err error) {
	read := objects.NewHasher()
	in := &Counter{R: io.TeeReader(r, read)}
	clean := secrets.NewFileCleaner(in, c.Rules)
	out := &Counter{R: clean}
	ref.Name = name
	if size < largeFile(c.M) {
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
	ref.Size, ref.Withheld = out.N, len(clean.Cuts) > 0
	o := overflow{name: name}
	if ref.Withheld {
		o.patch = redact.Patch{Rules: c.snap.Rules, After: out.N, Clean: ref.Hash, RawLen: in.N, Raw: raw,
			Cuts: clean.Cuts}.Encode()
	}
	c.files = append(c.files, o)
	return ref, raw, nil
}

func largeFile(db *state.DB) int64 { return cmp.Or(db.Opts.LargeFile, state.LargeFile) }

// A Counter counts the bytes that are read through it.
type Counter struct {
	R io.Reader
	N int64 // bytes read so far
}

func (c *Counter) Read(p []byte) (int, error) {
	n, err := c.R.Read(p)
	c.N += int64(n)
	return n, err
}

// repeatBase makes a new snapshot with the unchanged transcript of Base.
func (c *Capture) repeatBase(change string) {
	was := c.Base.Snapshot
	c.added.Change = change
	c.snap.Generation, c.snap.Original, c.snap.Size, c.snap.Segments = was.Generation, was.Original, was.Size, was.Segments
	c.snap.Scan, c.snap.Rules = was.Scan, was.Rules
}

// putPatches stages the patches of the session and of its overflow files.
func (c *Capture) putPatches(tx *refs.Tx, record objects.Hash) error {
	if c.patch != nil {
		if err := tx.PutPatch(record, c.patch); err != nil {
			return err
		}
	}
	for _, f := range c.files {
		if f.patch == nil {
			continue
		}
		if err := tx.PutPatch(secrets.FilePatchID(record, f.name), f.patch); err != nil {
			return err
		}
	}
	return nil
}

// WriteFile writes the exact bytes of an overflow file at a growth point. If it returns an error, it may have written
// a part of them or wrong bytes.
func WriteFile(ctx context.Context, db *state.DB, at SessionPoint, f records.FileRef, w io.Writer) error {
	if !f.Withheld {
		return originals.WriteObject(ctx, db, at.Project, f.Hash, w)
	}
	patch, err := secrets.FilePatch(ctx, db, at.Project, at.Session, at.Point, f.Name)
	if err != nil {
		return err
	}
	return db.Refs.View(ctx, at.Project, func(tx *refs.Tx) error {
		rc, err := tx.Get(ctx, f.Hash)
		if err != nil {
			return err
		}
		defer rc.Close()
		return redact.Restore(w, rc, patch)
	})
}

// fileSize returns the size of an overflow file when it was captured; ok is false if this device does not know it.
func fileSize(ctx context.Context, db *state.DB, at SessionPoint, f records.FileRef, s *FileCache) (n int64, ok bool) {
	if !f.Withheld {
		return f.Size, true
	}
	id := secrets.FilePatchID(at.Point.Stamp.Record, f.Name)
	if n, ok := s.Sizes[id]; ok {
		return n, true
	}
	patch, err := secrets.FilePatch(ctx, db, at.Project, at.Session, at.Point, f.Name)
	if err != nil {
		return 0, false // captured on another device
	}
	s.Sizes[id], s.changed = patch.RawLen, true
	return patch.RawLen, true
}
