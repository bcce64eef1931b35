package stream

import "math"

// A Chain verifies the segments of a stream in order, from the first one.
type Chain struct {
	r    *Reader
	blob []byte
}

// NewChain returns a Chain before the first segment.
func NewChain() *Chain {
	c := &Chain{}
	c.r = NewReader(math.MaxInt, func(int) ([]byte, error) { return c.blob, nil })
	return c
}

// Next verifies the next segment. After an error, which wraps [objects.ErrCorrupt] if the segment is invalid, the
// Chain must not be used. It does not keep blob.
func (c *Chain) Next(blob []byte) error {
	c.blob = blob
	err := c.r.next()
	c.blob = nil
	return err
}
