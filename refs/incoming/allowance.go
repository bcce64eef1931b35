package incoming

import (
	"fmt"
	"sync/atomic"

	"github.com/memvcs/mem/objects/pack"
)

const (
	// unpackSlack is how many bytes of what came in are unpacked whatever its size: what says the same all the
	// time takes next to nothing, and that is no crime. To look at so many takes a processor a few seconds.
	unpackSlack = 8 << 30
	// unpackRatio is how many times its size what came in may unpack to beyond. Transcripts become a tenth.
	unpackRatio = 100
)

// An allowance is how many bytes may still be unpacked. Who signs a lane says with it who made it, not that it
// is small. It is safe for use by several goroutines.
type allowance struct{ n atomic.Int64 }

// came allows more: for so many bytes that came in.
func (a *allowance) came(n int64) { a.n.Add(unpackRatio * n) }

// spend is told how many bytes are about to be unpacked. The error wraps [pack.ErrTooLarge] if that is too much.
func (a *allowance) spend(n int64) error {
	if a.n.Add(-n) < 0 {
		return fmt.Errorf("all that came unpacks to too much: %w", pack.ErrTooLarge)
	}
	return nil
}
