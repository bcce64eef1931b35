package term

import (
	"github.com/memvcs/mem/layers/records"
)

// ShortID returns the start of a session's id, for people.
func ShortID(id string) string { return records.ShortID(id) }
