package refs

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// RenameDevice changes the name of this device. Its later commits carry the new name.
func (r *Repo) RenameDevice(ctx context.Context, name string) error {
	unlock, err := disk.Lock(ctx, filepath.Join(r.dir, "init.lock"), r.opts.LockTimeout)
	if err != nil {
		return fmt.Errorf("rename device: %w", err)
	}
	defer unlock()
	d, err := lane.ReadDevice(r.dir) // another process may have changed it
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

// MAC returns a short message authentication code of text, which only this device can compute.
func (r *Repo) MAC(text string) string { return r.device.MAC(text) }

// KeyOf returns the key of a device, "" if it has no lane here. It is the key that signed the device's first fetched
// lane, and never changes. The error is that of its first lane if no tip of its lanes is readable.
func (r *Repo) KeyOf(device string) (string, error) {
	if device == r.device.ID {
		return r.device.PublicKey(), nil
	}
	var unreadable error
	for _, originals := range []bool{false, true} {
		all, err := r.lanes(originals)
		if err != nil {
			return "", err
		}
		if !originals {
			outside, err := r.Outside()
			if err != nil {
				return "", err
			}
			all = append(all, outside...)
		}
		for _, l := range all {
			if l.Device != device {
				continue
			}
			key, err := r.signerOf(l)
			if err == nil {
				return key, nil
			}
			unreadable = cmp.Or(unreadable, err)
		}
	}
	return "", unreadable
}

// signerOf returns the key that signed the tip of a lane.
func (r *Repo) signerOf(l Lane) (string, error) {
	c, err := r.GitOf(l).Commit(l.Tip)
	if err != nil {
		return "", fmt.Errorf("key of the device %s: %w", l.Device, err)
	}
	return lane.Signer(c)
}
