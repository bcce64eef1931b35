package sealed

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"filippo.io/age"

	"github.com/memvcs/mem/objects/pack"
)

// segmentFormat is the version of the segment format.
const segmentFormat = "mem segment 1"

const (
	// partSize is the size of the blobs of a segment: hosts refuse large files, and a blob is in memory as a whole.
	partSize = 8 << 20
	// maxHead is the maximum size of the head of a segment.
	maxHead = 4 << 10
	// minSegment is the minimum size of a segment. Up to maxPowerOfTwo, sizes are padded to powers of two.
	minSegment, maxPowerOfTwo = 16 << 10, 1 << 20
)

// A head describes the content and the position of a segment.
type head struct {
	Format   string `json:"format"`
	Lane     string `json:"lane"`             // branch of the lane
	Previous string `json:"after,omitempty"`  // parent commit on the remote; "" for the first
	OldTip   string `json:"before,omitempty"` // former tip of the lane; "" for none
	Tip      string `json:"tip"`              // new tip of the lane
	Pack     int64  `json:"pack"`             // size of the pack that follows
}

// paddedSize returns the size that n bytes are padded to, to hide it: the next power of two up to 1 MiB, then a Padmé
// size, at most 12 % and seldom 3 % more.
func paddedSize(n int64) int64 {
	if n <= minSegment {
		return minSegment
	}
	e := bits.Len64(uint64(n)) - 1 // 2^e <= n
	if n <= maxPowerOfTwo {
		return 1 << bits.Len64(uint64(n-1))
	}
	mask := int64(1)<<(e-bits.Len64(uint64(e))) - 1
	return (n + mask) &^ mask
}

// seal writes a segment, encrypted to an epoch.
func (h head) seal(w io.Writer, to age.Recipient, content func(io.Writer) error) error {
	h.Format = segmentFormat
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	out, err := age.Encrypt(w, to)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if _, err := out.Write(line); err != nil {
		return err
	}
	if err := content(out); err != nil {
		return err
	}
	size := int64(len(line)) + h.Pack
	if _, err := io.CopyN(out, zeros{}, paddedSize(size)-size); err != nil {
		return err
	}
	return out.Close()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// openSegment decrypts a segment up to its head. The error wraps [ErrTampered] if no member has written it.
func openSegment(r io.Reader, epochs []age.Identity) (head, *bufio.Reader, error) {
	plain, err := age.Decrypt(r, epochs...)
	if err != nil {
		return head{}, nil, fmt.Errorf("%w: %w", ErrTampered, err)
	}
	in := bufio.NewReaderSize(tamperReader{plain}, 64<<10)
	h, err := readHead(in)
	return h, in, err
}

// tamperReader adds [ErrTampered] to all errors of age.
type tamperReader struct{ io.Reader }

func (m tamperReader) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", ErrTampered, err)
	}
	return n, err
}

// readHead reads the head of a decrypted segment.
func readHead(in *bufio.Reader) (h head, err error) {
	var line []byte
	for len(line) == 0 || line[len(line)-1] != '\n' {
		if len(line) == maxHead {
			return h, fmt.Errorf("%w: the head of a segment has more than %d bytes", ErrTampered, maxHead)
		}
		c, err := in.ReadByte()
		if err != nil {
			return h, fmt.Errorf("%w: segment without a head: %w", ErrTampered, err)
		}
		line = append(line, c)
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, fmt.Errorf("%w: head of a segment: %w", ErrTampered, err)
	}
	if h.Format != segmentFormat {
		return h, fmt.Errorf("format %.40q, perhaps of a newer mem: %w", h.Format, ErrTampered)
	}
	tip, err := pack.ParseID(h.Tip)
	if err != nil || tip.IsZero() || h.Pack < 0 {
		return h, fmt.Errorf("%w: head of a segment", ErrTampered)
	}
	return h, nil
}

// readPack passes the pack of a segment to receive, and checks that only padding follows.
func (h head) readPack(in *bufio.Reader, receive func(io.Reader) error) error {
	body := &io.LimitedReader{R: in, N: h.Pack}
	if err := receive(body); err != nil {
		return err
	}
	if body.N != 0 {
		return fmt.Errorf("%w: %d bytes after the pack", ErrTampered, body.N)
	}
	for {
		_, err := in.Peek(1)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: padding: %w", ErrTampered, err)
		}
		b, err := in.Peek(in.Buffered())
		if err != nil {
			return err
		}
		if len(bytes.Trim(b, "\x00")) > 0 {
			return fmt.Errorf("%w: padding is not zero", ErrTampered)
		}
		if _, err := in.Discard(len(b)); err != nil {
			return err
		}
	}
}
