// Package objects names content by its BLAKE3-256 hash.
//
// An object is immutable. Its [Hash] is its name, the same that "b3sum FILE" prints, and every reader checks an object
// against its name. A store only gains objects. The package also contains the only BLAKE3 hasher of the program
// ([Hasher]), and the one form of JSON in which equal values have equal names ([JSONLine]).
package objects

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/zeebo/blake3"
)

// Size is the length of a [Hash] in bytes.
const Size = 32

var (
	// ErrNotFound means that a store contains no object of that name.
	ErrNotFound = errors.New("object not found")
	// ErrCorrupt means that stored bytes do not match their name.
	ErrCorrupt = errors.New("object is corrupt")
)

// A Hash is the BLAKE3-256 of an object's bytes and so its name. The zero Hash names nothing.
type Hash [Size]byte

// Sum returns the name of an object with the content b.
func Sum(b []byte) (s Hash) {
	h := hashers.Get().(*blake3.Hasher)
	defer hashers.Put(h)
	h.Reset()
	h.Write(b) // never fails
	h.Sum(s[:0])
	return s
}

// hashers is the pool of [Sum]. A hasher on the stack, as in [blake3.Sum256], would grow the stack to 32 KB.
var hashers = sync.Pool{New: func() any { return blake3.New() }}

// ParseHash reads the 64 hexadecimal digits that [Hash.String] writes.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) != 2*Size {
		return h, fmt.Errorf("hash %q: want %d hexadecimal digits", s, 2*Size)
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return Hash{}, fmt.Errorf("hash %q: %w", s, err)
	}
	return h, nil
}

// String returns h as 64 lower-case hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Short returns the first 8 digits, for display.
func (h Hash) Short() string { return hex.EncodeToString(h[:4]) }

// IsZero reports whether h names nothing.
func (h Hash) IsZero() bool { return h == Hash{} }

// Compare orders hashes by their bytes, as [bytes.Compare] does.
func (h Hash) Compare(o Hash) int { return bytes.Compare(h[:], o[:]) }

// MarshalText returns what String returns.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (h *Hash) UnmarshalText(b []byte) (err error) {
	*h, err = ParseHash(string(b))
	return err
}

// A Hasher computes the name of content that arrives in pieces. Use [NewHasher].
type Hasher struct{ h *blake3.Hasher }

// NewHasher returns a Hasher of the empty content.
func NewHasher() *Hasher { return &Hasher{blake3.New()} }

// Write adds b to the content. It never fails.
func (h *Hasher) Write(b []byte) (int, error) { return h.h.Write(b) }

// Sum returns the name of the content so far; more may be written after it.
func (h *Hasher) Sum() (s Hash) {
	h.h.Sum(s[:0])
	return s
}

// Clone returns a Hasher with the same content so far, independent of h.
func (h *Hasher) Clone() *Hasher { return &Hasher{h.h.Clone()} }
