package checkout

import (
	"io"

	"github.com/memvcs/mem/layers/transcript"
)

// A span is the place of a value in a transcript.
type span struct{ off, size int64 }

// copyValues writes the values from to to of a transcript byte for byte, one per line. Open calls its argument with
// the transcript. It is read twice, because a value can be too long for memory.
func copyValues(from, to int, w io.Writer, open func(func(io.Reader) error) error) error {
	var found []span
	err := open(func(r io.Reader) error {
		for v, err := range transcript.Stream(r, 1) {
			if err != nil {
				return err
			}
			if v.N > to {
				break
			}
			if v.N >= from {
				found = append(found, span{v.Off, v.Size})
			}
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		return err
	}
	return open(func(r io.Reader) error {
		at := int64(0)
		for _, s := range found {
			if _, err := io.CopyN(io.Discard, r, s.off-at); err != nil {
				return err
			}
			if _, err := io.CopyN(w, r, s.size); err != nil {
				return err
			}
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
			at = s.off + s.size
		}
		return nil
	})
}
