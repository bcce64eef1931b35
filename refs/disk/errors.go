// Package disk writes files whole and durably. Those of a store are closed to other users, have a checksum if they are JSON,
// and are changed under kernel locks that end with their process. Those for a user go through a [Tree], because parts of
// their names come from records, and so from other devices. The package knows neither git nor the content of the files.
package disk

import "errors"

var (
	// ErrUnsafe means that other users could change the store.
	ErrUnsafe = errors.New("not private to you")
	// ErrNotRepo means that a directory contains no memory.
	ErrNotRepo = errors.New("not a memory")
	// ErrDamaged means that files without which a store cannot be opened are damaged or missing.
	ErrDamaged = errors.New("the store is damaged")
	// ErrLocked means that another process kept a lock for longer than the timeout.
	ErrLocked = errors.New("locked by another process")
)
