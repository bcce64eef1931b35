package lane

import (
	"errors"
	"time"
)

// LamportBound is the largest Lamport time that a lane from elsewhere may have at a time.
func LamportBound(now time.Time) uint64 {
	return FreeRecords + uint64(max(0, now.Sub(ClockBegins())/(time.Second/recordsPerSecond)))
}

func ClockBegins() time.Time { return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) }

// The Lamport time of a lane says how many records its device had seen. Whoever signs a lane writes it down,
// and a device that follows a time of the far future would write what nobody takes. So the times of others are
// bounded by wall time: a lane may count as many records as all devices could have made by now, at
// recordsPerSecond since ClockBegins, and FreeRecords more, for clocks that are not set. Of two stores the one
// whose clock is behind takes less; so a store follows no time within ClockSlack of that bound, and what it
// writes is taken by every store whose clock is less than ClockSlack behind.
const (
	FreeRecords      = 1 << 32
	recordsPerSecond = 1000
	ClockSlack       = 24 * time.Hour

	// MaxLamport is the largest Lamport time that a record may have at any time: a later one is absent.
	MaxLamport = 1 << 45
)

// ErrAhead says that the Lamport time of this device's lane is one that other stores refuse.
var ErrAhead = errors.New("its Lamport time is too far ahead, other stores refuse it")
