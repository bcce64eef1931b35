package refs

import (
	"fmt"

	"github.com/memvcs/mem/refs/lane"
)

// follows reports whether this device goes on from a Lamport time that another one wrote.
func (r *Repo) follows(n uint64) bool {
	return n <= lane.LamportBound(r.opts.Now().Add(-lane.ClockSlack))
}

// Takes reports whether a lane from elsewhere may have a Lamport time.
func (r *Repo) Takes(n uint64) bool { return n <= lane.LamportBound(r.opts.Now()) }

// CheckClock returns an error that wraps [ErrAhead] if other stores refuse this device's lane for its Lamport time.
func (r *Repo) CheckClock(l Lane) error {
	tip, err := r.Of(l).Ref(l.Local())
	if err != nil || tip.IsZero() {
		return err
	}
	c, err := r.Of(l).Commit(tip)
	if err != nil {
		return err
	}
	n, err := lane.LamportOf(c)
	if err == nil && !r.Takes(n) {
		err = fmt.Errorf("lane of project %s: %w: %d", l.Project, ErrAhead, n)
	}
	return err
}

// lamportHere returns the Lamport time of this device's lane of a project, 0 if it has none.
func (r *Repo) lamportHere(p Project) (uint64, error) {
	tip, err := r.memory.Ref(lane.Ref(p, r.device.ID))
	if err != nil || tip.IsZero() {
		return 0, err
	}
	c, err := r.memory.Commit(tip)
	if err != nil {
		return 0, err
	}
	return lane.LamportOf(c)
}
