package redact

import (
	"bufio"
	"cmp"
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
// error wraps [errPatch] or [objects.ErrCorrupt] if the clean bytes and the patches do not belong together.
func Restore(w io.Writer, clean io.Reader, patches ...Patch) error {
	if err := restore(w, bufio.NewReaderSize(clean, 64<<10), patches); err != nil {
		return fmt.Errorf("restore original: %w", err)
	}
	return nil
}

func restore(w io.Writer, clean io.Reader, patches []Patch) error {
	if err := checkChain(patches); err != nil {
		return err
	}
	sum, at := objects.NewHasher(), int64(0)
	w = io.MultiWriter(w, sum)
	copyTo := func(w io.Writer, to int64) error {
		n, err := io.CopyN(w, clean, to-at)
		if at += n; errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: %d clean bytes, want more", errPatch, at)
		}
		return err
	}
	for _, p := range patches {
		for _, c := range p.Cuts {
			if err := copyTo(w, c.At); err != nil {
				return err
			}
			if err := copyTo(io.Discard, c.At+int64(c.Len)); err != nil {
				return err
			}
			if _, err := w.Write(c.Bytes); err != nil {
				return err
			}
		}
		if err := copyTo(w, p.After); err != nil {
			return err
		}
	}
	if n, err := io.CopyN(io.Discard, clean, 1); err != io.EOF {
		return cmp.Or(err, fmt.Errorf("%w: %d clean bytes more than %d", errPatch, n, at))
	}
	last := patches[len(patches)-1]
	if _, err := w.Write(last.Tail); err != nil {
		return err
	}
	if sum.Sum() != last.Raw {
		return fmt.Errorf("%s, want %d bytes %s: %w", sum.Sum(), last.RawLen, last.Raw, objects.ErrCorrupt)
	}
	return nil
}

// checkChain reports an error unless each patch begins where the previous one ends.
func checkChain(patches []Patch) error {
	if len(patches) == 0 {
		return fmt.Errorf("%w: no patch", errPatch)
	}
	var after int64
	var prev objects.Hash
	for i, p := range patches {
		if err := p.check(); err != nil {
			return fmt.Errorf("patch %d: %w", i, err)
		}
		if p.Before != after || i > 0 && !p.Prev.IsZero() && p.Prev != prev {
			return fmt.Errorf("%w: patch %d does not follow the one before it", errPatch, i)
		}
		after = p.After
		if i+1 < len(patches) && !patches[i+1].Prev.IsZero() {
			prev = p.Name()
		}
	}
	return nil
}
