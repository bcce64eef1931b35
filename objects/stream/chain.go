package stream

import "math"

// A Chain checks segments of a stream from its beginning on, each behind the one before it.
type Chain struct {
	r    *Reader
	blob []byte
}

// NewChain returns a Chain that waits for the first segment.
func NewChain() *Chain {
	c := &Chain{}
	c.r = NewReader(math.MaxInt, func(int) ([]byte, error) { return c.blob, nil })
	return c
}

// Next checks the next segment. The error wraps [objects.ErrCorrupt] if it is not that; then the Chain is of no
// use any more. It does not keep blob.
func (c *Chain) Next(blob []byte) error {
	c.blob = blob
	err := c.r.next()
	c.blob = nil
	return err
}

// Release hands the memory of the Chain on, when it is not used any more.
func (c *Chain) Release() { c.r.release() }
