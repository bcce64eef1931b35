package refs

import (
	"fmt"
	"slices"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/refs/lane"
)

// Lanes returns the lanes of memory.git except those of [Home], sorted by project and device.
func (r *Repo) Lanes() ([]Lane, error) { return r.projectLanes(false) }

// projectLanes returns the lanes of one repository that can be pushed: those of all projects except [Home].
func (r *Repo) projectLanes(originals bool) ([]Lane, error) {
	lanes, err := r.lanes(originals)
	return slices.DeleteFunc(lanes, func(l Lane) bool { return l.Project == Home }), err
}

// lanes returns all lanes of one repository, sorted by project and device.
func (r *Repo) lanes(originals bool) ([]Lane, error) {
	all, err := r.GitOf(Lane{Originals: originals}).Refs(lane.Prefix)
	if err != nil {
		return nil, fmt.Errorf("list lanes: %w", err)
	}
	var lanes []Lane
	for _, ref := range all {
		if p, device, ok := lane.SplitRef(ref.Name); ok {
			lanes = append(lanes, Lane{Project: p, Device: device, Tip: ref.ID, Originals: originals})
		}
	}
	return lanes, nil
}

// Git returns memory.git. For originals.git see [Repo.Originals].
func (r *Repo) Git() *gitstore.Repo { return r.memory }

// OwnDevices returns the current and former device ids of this store, sorted: those with a lane in [Home], which is
// never pushed.
func (r *Repo) OwnDevices() ([]string, error) {
	all, err := r.memory.Refs(lane.Prefix + string(Home) + "/")
	if err != nil {
		return nil, fmt.Errorf("list lanes: %w", err)
	}
	var out []string
	for _, ref := range all {
		if _, device, ok := lane.SplitRef(ref.Name); ok {
			out = append(out, device)
		}
	}
	return out, nil
}

// Describe calls f with the device's name, its key and the time in the tip of a lane.
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
