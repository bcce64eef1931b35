package refs

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// RenameDevice gives this device another name, which its commits bear from now on.
func (r *Repo) RenameDevice(ctx context.Context, name string) error {
	unlock, err := disk.Lock(ctx, filepath.Join(r.dir, "init.lock"), r.opts.LockTimeout)
	if err != nil {
		return fmt.Errorf("rename device: %w", err)
	}
	defer unlock()
	d, err := lane.ReadDevice(r.dir) // another process may have made it a new one
	if err != nil {
		return fmt.Errorf("rename device: %w", err)
	}
	d.Name = lane.CleanName(name)
	if err := d.Write(r.dir); err != nil {
		return fmt.Errorf("rename device: %w", err)
	}
	r.device = d
	return nil
}

// Seal returns a short key for a text that only this device can make: the same for the same text.
func (r *Repo) Seal(text string) string { return r.device.Seal(text) }

// KeyOf returns the key of a device that has a lane here, "" if it has none: what its first lane that arrived
// was signed with holds for ever.
func (r *Repo) KeyOf(device string) (string, error) {
	if device == r.device.ID {
		return r.device.PublicKey(), nil
	}
	all, err := r.memory.Refs(lane.Prefix)
	if err != nil {
		return "", err
	}
	for _, ref := range all {
		if _, d, ok := lane.Split(ref.Name); !ok || d != device {
			continue
		}
		c, err := r.memory.Commit(ref.ID)
		if err != nil {
			return "", err
		}
		return lane.Signer(c)
	}
	return "", nil
}
