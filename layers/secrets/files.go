package secrets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// FilePatchID returns the name in originals.git of the patch of an overflow file that was captured with a record.
func FilePatchID(record objects.Hash, name string) objects.Hash {
	return lane.FilePatch(record, name)
}

// FilePatch returns the patch of an overflow file of a session at the growth point p. The error wraps
// [originals.ErrWithheld] if this device does not have it.
func FilePatch(ctx context.Context, db *state.DB, project refs.Project, s *state.Session, p *records.Point,
	name string) (patch redact.Patch, err error) {
	err = db.Refs.View(ctx, project, func(tx *refs.Tx) error {
		b, _, err := FindFilePatch(tx, s.Chain(p), name)
		if err == nil {
			patch, err = redact.Decode(b)
		}
		return err
	})
	return patch, err
}

// FindFilePatch returns the encoded patch of an overflow file and the record of the growth point that captured the file: the
// last one of a chain with a patch of it. The error wraps [originals.ErrWithheld] if there is none.
func FindFilePatch(tx *refs.Tx, chain []records.Point, name string) (b []byte, record objects.Hash, err error) {
	for _, q := range slices.Backward(chain) {
		b, err := tx.Patch(q.Stamp.Device, FilePatchID(q.Stamp.Record, name))
		if !errors.Is(err, objects.ErrNotFound) {
			return bytes.Clone(b), q.Stamp.Record, err
		}
	}
	return nil, objects.Hash{}, fmt.Errorf("file %s: %w", name, originals.ErrWithheld)
}

// OpenRegular opens a regular file without waiting for FIFOs or devices.
func OpenRegular(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|Nonblock, 0)
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
