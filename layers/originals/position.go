package originals

import (
	"errors"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
)

// ErrRewritten reports a file that has grown but does not start with the stored bytes.
var ErrRewritten = errors.New("the file does not start with the stored bytes")

// A Place is the position in a file and in its stream where the new bytes begin.
type Place struct {
	Raw      int64 // the offset in the file
	Clean    stream.Tail
	Segments int
	Carry    transcript.Carry
	Cuts     bool            // the stored part has cuts
	Exact    *objects.Hasher // of the exact bytes before Raw; nil if they are the clean ones
}

// A Beginning hashes the next Left bytes that are written to it; then Write returns [ErrEnough].
type Beginning struct {
	W    *objects.Hasher
	Left int64
}

// ErrEnough ends writing to a [Beginning].
var ErrEnough = errors.New("enough")

func (b *Beginning) Write(p []byte) (int, error) {
	n := min(int64(len(p)), b.Left)
	b.W.Write(p[:n])
	if b.Left -= n; b.Left == 0 {
		return int(n), ErrEnough
	}
	return len(p), nil
}

// An Ending appends what is written to it to B, except the first Skip bytes.
type Ending struct {
	Skip int64
	B    []byte
}

func (e *Ending) Write(p []byte) (int, error) {
	n := min(e.Skip, int64(len(p)))
	e.Skip, e.B = e.Skip-n, append(e.B, p[n:]...)
	return len(p), nil
}
