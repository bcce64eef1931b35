package refs

import (
	"errors"
	"fmt"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
)

// PutPatch stores in originals.git the patch that belongs to the record id. It is durable before the
// commit of memory.git.
func (tx *Tx) PutPatch(id objects.Hash, patch []byte) error {
	if err := tx.needOrigin(); err != nil {
		return err
	}
	blob, err := tx.patches.add(pack.Blob, patch, deflate)
	if err != nil {
		return err
	}
	_, err = tx.origin.root.set(tx.r.originals, blob, patchPath(id)...)
	return err
}

func (tx *Tx) needOrigin() (err error) {
	if tx.patches == nil {
		if tx.patches, err = tx.r.stage(tx.ctx, tx.r.originals, originalsDir); err != nil {
			return err
		}
	}
	if tx.origin == nil {
		tx.origin, err = openLane(tx.r.originals, laneRef(tx.project, tx.r.device.ID), tx.r.device.ID)
	}
	return err
}

// FilePatch returns the name of the patch of an overflow file that was captured with a record.
func FilePatch(record objects.Hash, name string) objects.Hash {
	return objects.Sum([]byte("mem file 1\n" + record.String() + "\n" + name))
}

// Patch returns the patch that belongs to the record id of a device: nobody else's word counts for it. The error wraps
// [objects.ErrNotFound] if this machine does not have it, as for sessions that were captured on another one.
func (tx *Tx) Patch(device string, id objects.Hash) ([]byte, error) {
	l, err := openLane(tx.r.originals, laneRef(tx.project, device), "originals")
	if err != nil {
		return nil, err
	}
	b, err := l.read(patchPath(id)...)
	if errors.Is(err, objects.ErrNotFound) {
		return nil, fmt.Errorf("patch of %s: %w", id.Short(), objects.ErrNotFound)
	}
	return b, err
}
