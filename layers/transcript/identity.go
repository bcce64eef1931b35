package transcript

import "bytes"

// Identity returns what a copy of a record in another session has in common with it: everything that says who wrote what
// when, without the session, the directory and the client. It is nil for values that cannot be told apart by it:
// those without a time, and those without an id or an operation.
func Identity(v Value) []byte {
	if v.Opaque {
		return nil
	}
	names := [...]string{"type", "uuid", "timestamp", "operation", "content", "attachment", "message"}
	var parts [len(names)][]byte
	err := members(v.Raw, func(key, value []byte) bool {
		for i, name := range names {
			if string(key) == name {
				parts[i] = value
			}
		}
		return true
	})
	const uuid, timestamp, operation = 1, 2, 3
	if err != nil || parts[timestamp] == nil || parts[uuid] == nil && parts[operation] == nil {
		return nil
	}
	return bytes.Join(parts[:], []byte{0})
}
