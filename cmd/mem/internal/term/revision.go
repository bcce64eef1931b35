package term

import (
	bodies "github.com/memvcs/mem/layers/records"
)

// ShortID returns the start of a session's id, for people.
func ShortID(id string) string { return bodies.ShortID(id) }
