package checkout

import (
	"fmt"
	"io"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/transcript"
)

// copyValues writes the values from to to of a transcript, one per line.
func copyValues(r io.Reader, from, to int, w io.Writer) error {
	for v, err := range transcript.Stream(r, originals.HugeValue) {
		if err != nil {
			return err
		}
		if v.N > to {
			return nil
		}
		if v.N < from {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s\n", v.Raw); err != nil {
			return err
		}
	}
	return nil
}
