package transcript

import (
	"bytes"
	"slices"
)

// Identity returns what a copy of a record in another session has in common with it: everything that says who wrote what
// when, without the session, the directory and the client. It is nil for values that cannot be told apart by it:
// those without a time, and those without an id or an operation.
func Identity(v Value) []byte {
	return identity(v, "type", "uuid", "timestamp", "operation", "content", "attachment", "message")
}

// Place returns what a record has in common with itself in another file of its session, in which a resume wrote other paths:
// [Identity] without the content. It is nil for the same values.
func Place(v Value) []byte {
	return identity(v, "type", "uuid", "timestamp", "operation")
}

// identity returns the members of a record that names lists, which begin with "type", "uuid", "timestamp" and "operation".
func identity(v Value, names ...string) []byte {
	if v.Opaque || v.cut() {
		return nil
	}
	parts := make([][]byte, len(names))
	err := members(v.Raw, func(key, value []byte) bool {
		if i := slices.Index(names, string(key)); i >= 0 {
			parts[i] = value
		}
		return true
	})
	const uuid, timestamp, operation = 1, 2, 3
	if err != nil || parts[timestamp] == nil || parts[uuid] == nil && parts[operation] == nil {
		return nil
	}
	return bytes.Join(parts, []byte{0})
}
