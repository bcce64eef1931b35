package originals

import (
	"errors"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
)

// ErrRewritten says that a file does not start with what is stored of it, though it seemed to have grown.
var ErrRewritten = errors.New("the file does not start with what is stored")

// A place is where in the file and in its stream the new bytes begin.
type Place struct {
	Raw      int64
	Clean    stream.Tail
	Segments int
	Carry    transcript.Carry
	Cuts     bool            // the stored part has cuts
	Exact    *objects.Hasher // of the exact bytes before raw; nil if those are the clean ones
}

// Beginning hashes as many bytes as are left, and then has enough.
type Beginning struct {
	W    *objects.Hasher
	Left int64
}

var ErrEnough = errors.New("enough")

func (b *Beginning) Write(p []byte) (int, error) {
	n := min(int64(len(p)), b.Left)
	b.W.Write(p[:n])
	if b.Left -= n; b.Left == 0 {
		return int(n), ErrEnough
	}
	return len(p), nil
}

// Ending keeps what is written to it behind the first bytes.
type Ending struct {
	Skip int64
	B    []byte
}

func (e *Ending) Write(p []byte) (int, error) {
	n := min(e.Skip, int64(len(p)))
	e.Skip, e.B = e.Skip-n, append(e.B, p[n:]...)
	return len(p), nil
}
