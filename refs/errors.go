package refs

import (
	"errors"

	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

var (
	// ErrNotRepo says that a directory holds no memory.
	ErrNotRepo = disk.ErrNotRepo
	// ErrLocked says that another process kept a lock for longer than the timeout.
	ErrLocked = disk.ErrLocked
	// ErrConflict says that what a stage was built on has changed; do the work again.
	ErrConflict = errors.New("changed by another writer meanwhile")
	// ErrFormat says that a store was written by a newer version of mem.
	ErrFormat = lane.ErrFormat
	// ErrDamaged says that files without which a store cannot be opened are damaged or gone.
	ErrDamaged = disk.ErrDamaged
	// ErrUnsafe says that other users could change the store.
	ErrUnsafe = disk.ErrUnsafe
	// ErrRecord says that bytes are not a record in its canonical form.
	ErrRecord = lane.ErrRecord
	// ErrAhead says that the Lamport time of this device's lane is one that other stores refuse.
	ErrAhead = lane.ErrAhead
)

// A WriteError says that the store could not be written: it is full, read-only, locked or broken. What else was to be
// stored would fare no better.
type WriteError = disk.WriteError

// A DeviceError says that a store does not know which device it is on: device.json is missing or broken. Everything
// that was stored is there; without a copy of the file one can only go on as a new device.
type DeviceError = lane.DeviceError
