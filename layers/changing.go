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

// A source is read more than once if its first cuts are in what is new of it. Nothing of that is taken for true unless all have read the
// same.

// exact returns the hash of the exact bytes that were captured: those up to end and the tail. read has hashed those that the cleaner was
// given, behind the place at, and if at has a hash of what is before it, that too.
func (c *capture) exact(at place, end int64, cuts bool, read *objects.Hasher) (objects.Hash, error) {
	var whole *objects.Hasher
	switch {
	case !cuts && !at.cuts: // the clean bytes are the exact ones
		whole = at.clean.Hash.Clone()
	case at.exact != nil:
		whole = read.Clone()
	default:
		whole = objects.NewHasher()
		if err := copyRange(whole, c.file, 0, at.raw); err != nil {
			return objects.Hash{}, err
		}
		if whole.Sum() != c.base.Original {
			return objects.Hash{}, ErrChanging
		}
		added := objects.NewHasher()
		if err := copyRange(io.MultiWriter(whole, added), c.file, at.raw, end); err != nil {
			return objects.Hash{}, err
		}
		if added.Sum() != read.Sum() {
			return objects.Hash{}, ErrChanging
		}
	}
	whole.Write(c.tail)
	return whole.Sum(), nil
}

// shorter says that a file ended before the end that it had.
func shorter() error {
	return fmt.Errorf("%w: it got shorter", ErrChanging)
}
