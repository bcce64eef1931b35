package redact

import (
	"bytes"
	"encoding/json"

	"github.com/memvcs/mem/objects"
)

// Plain resolves JSON escapes, so that a secret has the same bytes however it is escaped.
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

// Fingerprint returns the first 12 hexadecimal digits of the BLAKE3 hash of a secret, with its JSON escapes resolved.
// It identifies the secret without showing it.
func Fingerprint(secret []byte) string { return objects.Sum(Plain(secret)).String()[:12] }
