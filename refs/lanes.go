package refs

import (
	"fmt"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/refs/lane"
)

// Lanes returns the lanes of memory.git but for those of [Home], sorted by project and device.
func (r *Repo) Lanes() ([]Lane, error) {
	all, err := r.memory.Refs(lane.Prefix)
	if err != nil {
		return nil, fmt.Errorf("list lanes: %w", err)
	}
	var lanes []Lane
	for _, ref := range all {
		if l, ok := lane.Parse(ref.Name); ok {
			l.Tip = ref.ID
			lanes = append(lanes, l)
		}
	}
	return lanes, nil
}

// Git returns memory.git, from which lanes are copied to remotes. originals.git is to be had for a remote
// alone: [Repo.Originals].
func (r *Repo) Git() *gitstore.Repo { return r.memory }

// Selves returns the devices that this store is or was of, sorted: those that have a lane in [Home], which
// never travels.
func (r *Repo) Selves() ([]string, error) {
	all, err := r.memory.Refs(lane.Prefix + string(Home) + "/")
	if err != nil {
		return nil, fmt.Errorf("list lanes: %w", err)
	}
	var out []string
	for _, ref := range all {
		if _, device, ok := lane.Split(ref.Name); ok {
			out = append(out, device)
		}
	}
	return out, nil
}

// Describe tells f what the newest commit of a lane says of its device: its name, its key, and when it was made.
func (r *Repo) Describe(l Lane, f func(name, key string, at time.Time)) error {
	c, err := r.memory.Commit(l.Tip)
	if err != nil {
		return fmt.Errorf("lane of %s: %w", l.Device, err)
	}
	key, err := lane.Signer(c)
	if err != nil {
		return fmt.Errorf("lane of %s: commit %s: %w", l.Device, l.Tip, err)
	}
	f(c.Name, key, c.Time)
	return nil
}
