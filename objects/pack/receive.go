package pack

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zlib"
)

// Limits limit what [Writer.Receive] accepts, because the sizes that a pack declares may be wrong.
type Limits struct {
	Bytes   int64 // of the pack as it arrives
	Objects int   // in the pack
	Object  int64 // bytes of one object; of all but whole blobs at most 64 MiB
	Ratio   int64 // maximum ratio of the unpacked size to the size of the pack, beyond 64 MiB

	Progress func(n int64) // called with the number of received bytes; may be nil
}

// minUnpacked is the number of bytes to which every pack may unpack, whatever its size.
const minUnpacked = 64 << 20

// maxPending is the maximum size of the deltas that wait for their bases, in bytes.
const maxPending = 128 << 20

// maxPadding is the number of bytes that an entry may have in addition to twice the size of its object. A zlib stream
// may contain any number of blocks without content, which the entry would keep in memory.
const maxPadding = 1 << 20

// A Receipt contains the amounts that [Writer.Receive] received.
type Receipt struct {
	Objects int
	Deltas  int
	Bytes   int64 // of the pack as it arrived
}

// Receive reads a pack from a connection and adds its objects to w. It resolves deltas, unpacks and names every object,
// verifies the checksum at the end, and reads nothing after it. A pack with deltas against objects outside itself is
// refused. Errors wrap [ErrCorrupt] or [ErrTooLarge] if they are caused by the pack.
func (w *Writer) Receive(r io.Reader, l Limits) (Receipt, error) {
	in := &receiver{w: w, l: l, f: newMarkReader(r, l.Bytes, l.Progress), at: map[int64]ID{}}
	err := in.receive()
	if err != nil {
		err = fmt.Errorf("receive a pack: %w", err)
	}
	return Receipt{in.n, in.deltas, in.f.offset()}, err
}

// A receiver receives a pack.
type receiver struct {
	w            *Writer
	l            Limits
	f            *markReader
	n            int
	deltas       int
	unpacked     int64
	at           map[int64]ID // objects by their offset in the received pack
	byOffset     map[int64][]pendingDelta
	byID         map[ID][]pendingDelta
	pendingBytes int64 // bytes of deltas
	z            io.ReadCloser
	scratch      []byte
}

// A pendingDelta is a delta whose base has not arrived yet.
type pendingDelta struct {
	off   int64
	delta []byte
}

func (in *receiver) receive() error {
	in.byOffset, in.byID = map[int64][]pendingDelta{}, map[ID][]pendingDelta{}
	head, err := in.f.next(headerSize)
	if err != nil {
		return err
	}
	if string(head[:8]) != packHeader(0)[:8] {
		return fmt.Errorf("it begins with %q: %w", head[:8], ErrCorrupt)
	}
	n := int64(binary.BigEndian.Uint32(head[8:]))
	if n > int64(in.l.Objects) {
		return fmt.Errorf("%d objects: %w", n, ErrTooLarge)
	}
	for range n {
		if err := in.entry(); err != nil {
			return err
		}
	}
	if err := in.f.checksum(); err != nil {
		return err
	}
	return in.resolve()
}

// entry reads one entry.
func (in *receiver) entry() error {
	in.f.mark()
	off := in.f.offset()
	k, size, _, err := decodeHeader(in.f)
	if err != nil {
		return err
	}
	if size > min(in.l.Object, MaxSize) {
		return fmt.Errorf("an object of %d bytes: %w", size, ErrTooLarge)
	}
	in.f.maxKept = 2*size + maxPadding
	if in.unpacked > minUnpacked+in.l.Ratio*off {
		return fmt.Errorf("it unpacks to more than %d bytes: %w", minUnpacked+in.l.Ratio*off, ErrTooLarge)
	}
	in.unpacked += size
	in.n++
	switch k {
	case Commit, Tree, Blob, Tag:
		return in.wholeObject(off, k, size)
	case offsetDelta:
		back, err := readDistance(in.f)
		if err != nil || back <= 0 || back > off {
			return fmt.Errorf("delta at byte %d: its base is %d bytes before it: %w", off, back, ErrCorrupt)
		}
		d, err := in.inflate(size)
		in.byOffset[off-back] = append(in.byOffset[off-back], pendingDelta{off, d})
		return err
	case refDelta:
		b, err := in.f.next(idSize)
		if err != nil {
			return err
		}
		base := ID(b)
		d, err := in.inflate(size)
		in.byID[base] = append(in.byID[base], pendingDelta{off, d})
		return err
	}
	return fmt.Errorf("entry of kind %d: %w", k, ErrCorrupt)
}

// wholeObject reads an object into memory.
func (in *receiver) wholeObject(off int64, k Kind, size int64) error {
	id, err := in.object(k, size)
	if err != nil {
		return err
	}
	in.at[off] = id
	raw := in.f.marked()
	return in.w.add(id, crc32.ChecksumIEEE(raw), raw)
}

// readDistance reads the distance from an entry back to its base.
func readDistance(r io.ByteReader) (int64, error) {
	var n int64
	for i := range 8 {
		c, err := r.ReadByte()
		if err != nil {
			return 0, asCorrupt(err)
		}
		if i > 0 {
			n++
		}
		n = n<<7 | int64(c&0x7f)
		if c&0x80 == 0 {
			return n, nil
		}
	}
	return 0, ErrCorrupt
}

// object reads the content of an object and returns its name. If a writer is given, it also gets the content.
func (in *receiver) object(k Kind, size int64) (id ID, err error) {
	h := sha1.New()
	h.Write(preamble(k, size))
	err = in.copy(h, size)
	h.Sum(id[:0])
	return id, err
}

// copy unpacks size bytes into w.
func (in *receiver) copy(w io.Writer, size int64) error {
	z, err := in.inflater()
	if err != nil {
		return err
	}
	if in.scratch == nil {
		in.scratch = make([]byte, 64<<10)
	}
	n, err := io.CopyBuffer(w, onlyReader{io.LimitReader(z, size)}, in.scratch)
	if err != nil {
		return asCorrupt(err)
	}
	if n != size {
		return fmt.Errorf("an object of %d bytes has %d: %w", size, n, ErrCorrupt)
	}
	return checkEnd(z)
}

func (in *receiver) inflate(size int64) ([]byte, error) {
	if in.pendingBytes += size; in.pendingBytes > maxPending {
		return nil, fmt.Errorf("deltas of more than %d bytes: %w", maxPending, ErrTooLarge)
	}
	var b bytes.Buffer
	err := in.copy(&b, size)
	return b.Bytes(), err
}

func (in *receiver) inflater() (io.Reader, error) {
	if in.z == nil {
		z, err := zlib.NewReader(in.f)
		if err != nil {
			return nil, asCorrupt(err)
		}
		in.z = z
		return z, nil
	}
	if err := in.z.(zlib.Resetter).Reset(in.f, nil); err != nil {
		return nil, asCorrupt(err)
	}
	return in.z, nil
}
