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
