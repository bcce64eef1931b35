package refs

import (
	"errors"

	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

var (
	// ErrNotRepo means that a directory contains no memory.
	ErrNotRepo = disk.ErrNotRepo
	// ErrLocked means that another process kept a lock for longer than the timeout.
	ErrLocked = disk.ErrLocked
	// ErrConflict means that a stream has changed since a stage was built. The caller can build the stage again.
	ErrConflict = errors.New("changed by another writer meanwhile")
	// ErrFormat means that a newer version of mem wrote the store.
	ErrFormat = lane.ErrFormat
	// ErrDamaged means that files without which a store cannot be opened are damaged or missing.
	ErrDamaged = disk.ErrDamaged
	// ErrUnsafe means that other users could change the store.
	ErrUnsafe = disk.ErrUnsafe
	// ErrRecord means that bytes are not a record in its canonical form.
	ErrRecord = lane.ErrRecord
	// ErrAhead means that other stores refuse the Lamport time of this device's lane.
	ErrAhead = lane.ErrAhead
)

// A WriteError means that the store cannot be written: it is full, read-only, locked or broken. Further writes would
// fail too.
type WriteError = disk.WriteError

// A DeviceError means that device.json is missing or damaged. The data of the store is intact; without a copy of the
// file the store can only continue as a new device.
type DeviceError = lane.DeviceError
