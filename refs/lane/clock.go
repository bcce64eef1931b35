package lane

import (
	"errors"
	"time"
)

// LamportBound returns the largest Lamport time that a fetched lane may have at the time now.
func LamportBound(now time.Time) uint64 {
	return LamportMargin + uint64(max(0, now.Sub(LamportStart())/(time.Second/recordsPerSecond)))
}

// LamportStart returns the time from which [LamportBound] counts.
func LamportStart() time.Time { return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) }

// The Lamport time of a lane is about the number of records that its device has seen, but its signer can write any
// number. A device that adopted a time in the far future would write records that no store accepts. So wall time
// bounds the times of other devices: recordsPerSecond since LamportStart, plus LamportMargin for clocks that are not
// set. A store with a slow clock has a lower bound than others. Therefore a store adopts no time within ClockSlack of
// its bound: every store whose clock is less than ClockSlack behind accepts its records.
const (
	LamportMargin    = 1 << 32
	recordsPerSecond = 1000
	ClockSlack       = 24 * time.Hour

	// MaxLamport is the largest Lamport time of any record. Records with a larger one are ignored.
	MaxLamport = 1 << 45
)

// ErrAhead means that other stores refuse the Lamport time of this device's lane.
var ErrAhead = errors.New("its Lamport time is too far ahead, other stores refuse it")
