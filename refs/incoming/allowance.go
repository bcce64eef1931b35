package incoming

import (
	"fmt"
	"sync/atomic"

	"github.com/memvcs/mem/objects/pack"
)

const (
	// minUnpacked is the number of bytes that may always be unpacked, whatever the size of the packs, because repetitive
	// text compresses to almost nothing. A processor verifies as many in a few seconds.
	minUnpacked = 8 << 30
	// unpackRatio is the number of bytes that may be unpacked in addition for each byte of the packs. Transcripts compress
	// to a tenth.
	unpackRatio = 100
)

// An allowance is the number of bytes that may still be unpacked. It protects against decompression bombs: a signature
// proves authorship, not size. It is safe for concurrent use.
type allowance struct{ n atomic.Int64 }

// add increases the allowance for n received bytes.
func (a *allowance) add(n int64) { a.n.Add(unpackRatio * n) }

// spend reduces the allowance by n bytes, before they are unpacked. The error wraps [pack.ErrTooLarge] if it is used
// up.
func (a *allowance) spend(n int64) error {
	if a.n.Add(-n) < 0 {
		return fmt.Errorf("the received data unpacks to too many bytes: %w", pack.ErrTooLarge)
	}
	return nil
}
