package capture

import (
	"errors"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
)

// A Place is the position in a file and in its stream where the new bytes begin.
type Place struct {
	Raw      int64 // the offset in the file
	Clean    stream.Tail
	Segments int
	Carry    transcript.Carry
	Cuts     bool            // the stored part has cuts
	Exact    *objects.Hasher // of the exact bytes before Raw
}

// A beginning hashes the next left bytes that are written to it; then Write returns errEnough.
type beginning struct {
	hash *objects.Hasher
	left int64
}

// errEnough ends writing to a beginning.
var errEnough = errors.New("enough")

func (b *beginning) Write(p []byte) (int, error) {
	n := min(int64(len(p)), b.left)
	b.hash.Write(p[:n])
	if b.left -= n; b.left == 0 {
		return int(n), errEnough
	}
	return len(p), nil
}

// An ending appends what is written to it to b, except the first skip bytes.
type ending struct {
	skip int64
	b    []byte
}

func (e *ending) Write(p []byte) (int, error) {
	n := min(e.skip, int64(len(p)))
	e.skip, e.b = e.skip-n, append(e.b, p[n:]...)
	return len(p), nil
}
