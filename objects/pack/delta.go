package pack

import (
	"fmt"
)

// applyDelta applies a delta, git's list of copies and insertions, to base. The result has at most limit bytes.
func applyDelta(base, delta []byte, limit int64) ([]byte, error) {
	from, rest, ok := deltaSize(delta)
	if !ok || from != int64(len(base)) {
		return nil, fmt.Errorf("delta of a base of %d bytes, not %d: %w", from, len(base), ErrCorrupt)
	}
	to, rest, ok := deltaSize(rest)
	if !ok {
		return nil, fmt.Errorf("delta without a size: %w", ErrCorrupt)
	}
	if to > limit {
		return nil, fmt.Errorf("delta of %d bytes: %w", to, ErrTooLarge)
	}
	out := make([]byte, 0, to)
	for len(rest) > 0 {
		op := rest[0]
		rest = rest[1:]
		var piece []byte
		switch {
		case op&0x80 != 0:
			var off, size int64
			if off, size, rest, ok = copyOp(op, rest); !ok || off+size > int64(len(base)) {
				return nil, fmt.Errorf("delta copies beyond its base: %w", ErrCorrupt)
			}
			piece = base[off : off+size]
		case op > 0 && int(op) <= len(rest):
			piece, rest = rest[:op], rest[op:]
		default:
			return nil, fmt.Errorf("delta with the operation %d: %w", op, ErrCorrupt)
		}
		if int64(len(out)+len(piece)) > to {
			return nil, fmt.Errorf("delta produces more than %d bytes: %w", to, ErrCorrupt)
		}
		out = append(out, piece...)
	}
	if int64(len(out)) != to {
		return nil, fmt.Errorf("delta produces %d bytes, not %d: %w", len(out), to, ErrCorrupt)
	}
	return out, nil
}

// deltaSize reads a number of 7 bits a byte, the lowest first.
func deltaSize(b []byte) (n int64, rest []byte, ok bool) {
	for i, c := range b {
		if i > 7 {
			return 0, nil, false
		}
		n |= int64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return n, b[i+1:], true
		}
	}
	return 0, nil, false
}

// copyOp reads the arguments of a copy: those bytes of offset and size that are not 0.
func copyOp(op byte, b []byte) (off, size int64, rest []byte, ok bool) {
	for i := range 7 {
		if op>>i&1 == 0 {
			continue
		}
		if len(b) == 0 {
			return 0, 0, nil, false
		}
		if i < 4 {
			off |= int64(b[0]) << (8 * i)
		} else {
			size |= int64(b[0]) << (8 * (i - 4))
		}
		b = b[1:]
	}
	if size == 0 {
		size = 0x10000
	}
	return off, size, b, true
}
