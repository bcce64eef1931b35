package redact

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/memvcs/mem/objects"
)

// Restore writes the original at the growth point of the last patch to w: the clean bytes with the secrets, and the
// tail. patches are the patches of all growth points with cuts, oldest first. Before of each must be After of the
// previous one, and Prev, if it is set, the name of the previous one.
//
// clean is read to its end. If Restore returns an error, it may have written a part of the original or wrong bytes. The
// error wraps [ErrPatch] or [objects.ErrCorrupt] if the clean bytes and the patches do not belong together.
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

// checkChain reports an error unless each patch begins where the previous one ends.
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

// A source reads clean bytes and counts them.
type source struct {
	r  *bufio.Reader
	at int64
}

// restore copies the clean bytes of one growth point to w, with the secrets of p.
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

// A counter counts the bytes that are written through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
