package refs

import (
	"errors"
	"fmt"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// PutPatch stores the patch of the record id in originals.git. It becomes durable before the commit of memory.git.
func (tx *Tx) PutPatch(id objects.Hash, patch []byte) error {
	if err := tx.ensureOriginals(); err != nil {
		return err
	}
	blob, err := tx.patches.add(pack.Blob, patch, deflate)
	if err != nil {
		return err
	}
	_, err = tx.originals.Root.Set(tx.r.originals, blob, lane.PatchPath(id)...)
	return err
}

func (tx *Tx) ensureOriginals() (err error) {
	if tx.patches == nil {
		if tx.patches, err = tx.r.stage(tx.ctx, tx.r.originals, OriginalsDir); err != nil {
			return err
		}
	}
	if tx.originals == nil {
		tx.originals, err = lane.Open(tx.r.originals, lane.Ref(tx.project, tx.r.device.ID), tx.r.device.ID)
	}
	return err
}

// Patch returns the patch of the record id from the lane of the record's device; patches in other lanes are ignored.
// The error wraps [objects.ErrNotFound] if it is missing, as for sessions that were captured on another machine.
func (tx *Tx) Patch(device string, id objects.Hash) ([]byte, error) {
	l, err := lane.Open(tx.r.originals, lane.Ref(tx.project, device), "originals")
	if err != nil {
		return nil, err
	}
	b, err := l.Read(lane.PatchPath(id)...)
	if errors.Is(err, objects.ErrNotFound) {
		return nil, fmt.Errorf("patch of %s: %w", id.Short(), objects.ErrNotFound)
	}
	return b, err
}
