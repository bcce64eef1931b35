package refs

import (
	"fmt"

	"github.com/memvcs/mem/refs/lane"
)

// mayFollow reports whether this device's next Lamport time may be greater than n, that of another device. The bound is
// tighter than that of [Repo.AcceptsLamport], so that a store with a slower clock still accepts this device's lane.
func (r *Repo) mayFollow(n uint64) bool {
	return n <= lane.LamportBound(r.opts.Now().Add(-lane.ClockSlack))
}

// AcceptsLamport reports whether a fetched lane may have the Lamport time n.
func (r *Repo) AcceptsLamport(n uint64) bool { return n <= lane.LamportBound(r.opts.Now()) }

// CheckClock returns an error that wraps [ErrAhead] if other stores refuse this device's lane because of its Lamport
// time.
func (r *Repo) CheckClock(l Lane) error {
	tip, err := r.GitOf(l).Ref(l.LocalRef())
	if err != nil || tip.IsZero() {
		return err
	}
	c, err := r.GitOf(l).Commit(tip)
	if err != nil {
		return err
	}
	n, err := lane.LamportOf(c)
	if err == nil && !r.AcceptsLamport(n) {
		err = fmt.Errorf("lane of project %s: %w: %d", l.Project, ErrAhead, n)
	}
	return err
}
