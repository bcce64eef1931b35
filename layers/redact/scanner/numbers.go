package scanner

import (
	"bytes"
	"encoding/json"

	"github.com/memvcs/mem/objects"
)

// Plain resolves JSON escapes, so that a secret is the same however it is escaped.
func Plain(secret []byte) []byte {
	if bytes.IndexByte(secret, '\\') < 0 {
		return secret
	}
	var s string
	if json.Unmarshal([]byte(`"`+string(secret)+`"`), &s) != nil {
		return secret
	}
	return []byte(s)
}

// Fingerprint returns the first 12 digits of the BLAKE3 of a secret, its JSON escapes resolved: what
// people tell it by without seeing it.
func Fingerprint(secret []byte) string { return objects.Sum(Plain(secret)).String()[:12] }
