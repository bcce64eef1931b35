package lexical

import (
	"encoding/json"
)

// Valid reports whether value is JSON.
func Valid(value []byte) bool { return json.Valid(value) }
