package refs

import (
	"errors"
	"fmt"
	"time"
)

// The Lamport time of a lane says how many records its device had seen. Whoever signs a lane writes it down,
// and a device that follows a time of the far future would write what nobody takes. So the times of others are
// bounded by wall time: a lane may count as many records as all devices could have made by now, at
// recordsPerSecond since clockBegins, and freeRecords more, for clocks that are not set. Of two stores the one
// whose clock is behind takes less; so a store follows no time within clockSlack of that bound, and what it
// writes is taken by every store whose clock is less than clockSlack behind.
const (
	freeRecords      = 1 << 32
	recordsPerSecond = 1000
	clockSlack       = 24 * time.Hour

	// maxLamport is the largest Lamport time that a record may have at any time: a later one is absent.
	maxLamport = 1 << 45
)

func clockBegins() time.Time { return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) }

// ErrAhead says that the Lamport time of this device's lane is one that other stores refuse.
var ErrAhead = errors.New("its Lamport time is too far ahead, other stores refuse it")

// lamportBound is the largest Lamport time that a lane from elsewhere may have at a time.
func lamportBound(now time.Time) uint64 {
	return freeRecords + uint64(max(0, now.Sub(clockBegins())/(time.Second/recordsPerSecond)))
}

// follows reports whether this device goes on from a Lamport time that another one wrote.
func (r *Repo) follows(n uint64) bool { return n <= lamportBound(r.opts.Now().Add(-clockSlack)) }

// takes reports whether a lane from elsewhere may have a Lamport time.
func (r *Repo) takes(n uint64) bool { return n <= lamportBound(r.opts.Now()) }

// CheckClock returns an error that wraps [ErrAhead] if other stores refuse this device's lane for its Lamport time.
func (r *Repo) CheckClock(l Lane) error {
	tip, err := r.of(l).Ref(l.local())
	if err != nil || tip.IsZero() {
		return err
	}
	c, err := r.of(l).Commit(tip)
	if err != nil {
		return err
	}
	n, err := lamportOf(c)
	if err == nil && !r.takes(n) {
		err = fmt.Errorf("lane of project %s: %w: %d", l.Project, ErrAhead, n)
	}
	return err
}

// lamportHere returns the Lamport time of this device's lane of a project, 0 if it has none.
func (r *Repo) lamportHere(p Project) (uint64, error) {
	tip, err := r.memory.Ref(laneRef(p, r.device.ID))
	if err != nil || tip.IsZero() {
		return 0, err
	}
	c, err := r.memory.Commit(tip)
	if err != nil {
		return 0, err
	}
	return lamportOf(c)
}
