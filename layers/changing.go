package layers

import (
	"errors"
	"fmt"
	"io"

	"github.com/memvcs/mem/objects"
)

// ErrChanging says that a file was written anew while it was read. One that only grows is no such file: what came
// behind the end that it had is for the next capture.
var ErrChanging = errors.New("the file changed while it was read")

// A source is read several times: to compare it with what is stored, to store and scan it, to name its exact bytes. Nothing
// of that is taken for true unless all have read the same.

// exact returns the hash of the exact bytes that were captured: those up to end, of which the new ones from at on have
// the hash read if they were cleaned, and the tail.
func (c *capture) exact(at place, end int64, cuts bool, read objects.Hash) (objects.Hash, error) {
	if !cuts && !at.cuts { // the clean bytes are the exact ones
		whole := at.clean.Hash.Clone()
		whole.Write(c.tail)
		return whole.Sum(), nil
	}
	whole, before, added := objects.NewHasher(), objects.NewHasher(), objects.NewHasher()
	if err := copyRange(io.MultiWriter(whole, before), c.file, 0, at.raw); err != nil {
		return objects.Hash{}, err
	}
	if err := copyRange(io.MultiWriter(whole, added), c.file, at.raw, end); err != nil {
		return objects.Hash{}, err
	}
	if added.Sum() != read || !c.begins(at, before) {
		return objects.Hash{}, ErrChanging
	}
	whole.Write(c.tail)
	return whole.Sum(), nil
}

// begins reports whether h has hashed the bytes that the stored part of the stream was made from.
func (c *capture) begins(at place, h *objects.Hasher) bool {
	switch {
	case at.raw == 0:
		return true
	case !at.cuts:
		return h.Sum() == c.base.Original
	}
	last := c.prev[len(c.prev)-1]
	h.Write(last.Tail)
	return h.Sum() == last.Raw
}

// shorter says that a file ended before the end that it had.
func shorter() error {
	return fmt.Errorf("%w: it got shorter", ErrChanging)
}
