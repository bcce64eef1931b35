package redact

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/memvcs/mem/objects"
)

// Restore writes the original to w: the clean bytes of the last patch's growth point, with what was
// cut out put back, and its tail. patches are those of all growth points that hold cuts up to that
// one, oldest first; Before of each must be After of the one before it, and a Prev that is set must
// be the name of the one before it.
//
// clean is read to its end. What was written is the original only if the error is nil; one that
// wraps [ErrPatch] or [objects.ErrCorrupt] says that the pieces do not belong together.
func Restore(w io.Writer, clean io.Reader, patches ...Patch) error {
	if err := checkChain(patches); err != nil {
		return err
	}
	last := patches[len(patches)-1]
	sum := objects.NewHasher()
	out := &counter{w: io.MultiWriter(w, sum)}
	in := &source{r: bufio.NewReaderSize(clean, 64<<10)}
	for _, p := range patches {
		if err := in.restore(out, p); err != nil {
			return err
		}
	}
	if _, err := in.r.ReadByte(); err != io.EOF {
		if err == nil {
			err = fmt.Errorf("%w: more clean bytes than %d", ErrPatch, last.After)
		}
		return fmt.Errorf("restore original: %w", err)
	}
	if _, err := out.Write(last.Tail); err != nil {
		return fmt.Errorf("restore original: %w", err)
	}
	if out.n != last.RawLen || sum.Sum() != last.Raw {
		return fmt.Errorf("restore original: %d bytes %s, want %d bytes %s: %w", out.n, sum.Sum(), last.RawLen, last.Raw,
			objects.ErrCorrupt)
	}
	return nil
}

// checkChain reports whether each patch goes on where the one before it ended.
func checkChain(patches []Patch) error {
	if len(patches) == 0 {
		return fmt.Errorf("restore original: %w: no patch", ErrPatch)
	}
	var after int64
	var prev objects.Hash
	for i, p := range patches {
		if err := p.check(); err != nil {
			return fmt.Errorf("restore original: patch %d: %w", i, err)
		}
		if p.Before != after || i > 0 && !p.Prev.IsZero() && p.Prev != prev {
			return fmt.Errorf("restore original: %w: patch %d does not follow the one before it", ErrPatch, i)
		}
		after = p.After
		if i+1 < len(patches) && !patches[i+1].Prev.IsZero() {
			prev = p.Name()
		}
	}
	return nil
}

// source reads clean bytes and knows how many it has read.
type source struct {
	r  *bufio.Reader
	at int64
}

// restore copies the clean bytes of p's growth to w with its cuts put back.
func (s *source) restore(w io.Writer, p Patch) error {
	for _, c := range p.Cuts {
		if err := s.copy(w, c.At); err != nil {
			return err
		}
		if err := s.copy(io.Discard, c.At+int64(c.Len)); err != nil {
			return err
		}
		if _, err := w.Write(c.Bytes); err != nil {
			return fmt.Errorf("restore original: %w", err)
		}
	}
	return s.copy(w, p.After)
}

// copy copies clean bytes to w up to the offset to.
func (s *source) copy(w io.Writer, to int64) error {
	n, err := io.CopyN(w, s.r, to-s.at)
	s.at += n
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("restore original: %w: %d clean bytes, want more than %d", ErrPatch, s.at, s.at)
	}
	if err != nil {
		return fmt.Errorf("restore original: %w", err)
	}
	return nil
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
