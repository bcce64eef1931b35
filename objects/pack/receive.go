package pack

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zlib"
)

// Limits limit what [Writer.Receive] accepts, because the sizes that a pack declares may be wrong.
type Limits struct {
	Bytes   int64 // of the pack as it arrives
	Objects int   // in the pack
	Object  int64 // bytes of one object; of all but whole blobs at most 64 MiB
	Ratio   int64 // how many times its size a pack may unpack to, beyond 64 MiB

	Progress func(n int64) // called with the number of received bytes; may be nil

	// Blob is called with the content of each added blob of up to [MaxShown] bytes, in the order of the pack. It owns that
	// memory and returns a buffer for the next one. It may be nil.
	Blob func(id ID, content []byte) []byte
}

// MaxShown is the maximum size of a blob for [Limits.Blob], in bytes.
const MaxShown = 5 << 20

// slack is the number of bytes that a pack may unpack to whatever its size.
const slack = 64 << 20

// maxHeld is the maximum size of objects in memory: all except whole blobs, which are hashed while they stream.
const maxHeld = 64 << 20

// maxWaiting is the maximum size of the deltas that wait for the end of a pack, in bytes.
const maxWaiting = 128 << 20

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
	in := &inlet{w: w, l: l, f: newFeed(r, l.Bytes, l.Progress), at: map[int64]ID{}}
	err := in.receive()
	if err != nil {
		err = fmt.Errorf("receive a pack: %w", err)
	}
	return Receipt{in.n, in.deltas, in.f.offset()}, err
}

// An inlet receives a pack.
type inlet struct {
	w        *Writer
	l        Limits
	f        *feed
	n        int
	deltas   int
	unpacked int64
	spooled  int64        // bytes of objects that went through a file
	at       map[int64]ID // objects by their offset in the received pack
	byOffset map[int64][]waiting
	byID     map[ID][]waiting
	waits    int64       // bytes of deltas
	large    map[ID]bool // objects of more than maxHeld
	z        io.ReadCloser
	scratch  []byte
	shown    bytes.Buffer // the current content, for Limits.Blob
}

// A waiting delta is one whose base has not arrived yet.
type waiting struct {
	off   int64
	delta []byte
}

func (in *inlet) receive() error {
	in.byOffset, in.byID = map[int64][]waiting{}, map[ID][]waiting{}
	head, err := in.f.take(headerSize)
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
	fresh := in.w.Len() == 0
	for range n {
		if err := in.entry(); err != nil {
			return err
		}
	}
	whole := fresh && len(in.w.items) == int(n)
	sum, err := in.f.checksum()
	if err != nil {
		return err
	}
	if whole { // every entry was taken as it came, so that the pack that is written is the one that was read
		in.w.same = &sum
		return nil
	}
	return in.resolve()
}

// entry reads one entry.
func (in *inlet) entry() error {
	in.f.mark()
	off := in.f.offset()
	k, size, err := in.header()
	if err != nil {
		return err
	}
	if size > in.l.Object || k != Blob && size > maxHeld {
		return fmt.Errorf("an object of %d bytes: %w", size, ErrTooLarge)
	}
	if in.unpacked > slack+in.l.Ratio*off {
		return fmt.Errorf("it unpacks to more than %d bytes: %w", slack+in.l.Ratio*off, ErrTooLarge)
	}
	if size <= spoolAt {
		in.unpacked += size
	} else if in.spooled += size; in.spooled > spoolSlack+in.l.Ratio*off {
		return fmt.Errorf("its large objects unpack to more than %d bytes: %w", spoolSlack+in.l.Ratio*off, ErrTooLarge)
	}
	in.n++
	switch k {
	case Commit, Tree, Blob, Tag:
		if size > spoolAt {
			id, err := in.spool(k, size)
			in.at[off] = id
			return err
		}
		return in.whole(off, k, size)
	case offsetDelta:
		back, err := in.distance()
		if err != nil || back <= 0 || back > off {
			return fmt.Errorf("difference to byte %d before %d: %w", back, off, ErrCorrupt)
		}
		d, err := in.inflate(size)
		in.byOffset[off-back] = append(in.byOffset[off-back], waiting{off, d})
		return err
	case refDelta:
		b, err := in.f.take(idSize)
		if err != nil {
			return err
		}
		base := ID(b)
		d, err := in.inflate(size)
		in.byID[base] = append(in.byID[base], waiting{off, d})
		return err
	}
	return fmt.Errorf("entry of kind %d: %w", k, ErrCorrupt)
}

// whole reads an object into memory.
func (in *inlet) whole(off int64, k Kind, size int64) error {
	show := k == Blob && size <= MaxShown && in.l.Blob != nil
	var also io.Writer
	if show {
		in.shown.Reset()
		in.shown.Grow(int(size))
		also = &in.shown
	}
	id, err := in.object(k, size, also)
	if err != nil {
		return err
	}
	in.at[off] = id
	raw, n := in.f.marked(), len(in.w.items)
	if err := in.w.add(id, crc32.ChecksumIEEE(raw), raw); err != nil {
		return err
	}
	if show && len(in.w.items) > n {
		in.shown = *bytes.NewBuffer(in.l.Blob(id, in.shown.Bytes())[:0])
	}
	return nil
}

func (in *inlet) header() (Kind, int64, error) {
	c, err := in.f.ReadByte()
	if err != nil {
		return 0, 0, damage(err)
	}
	k, size := Kind(c>>4&7), int64(c&15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = in.f.ReadByte(); err != nil {
			return 0, 0, damage(err)
		}
		if shift > 53 {
			return 0, 0, fmt.Errorf("size of an entry: %w", ErrCorrupt)
		}
		size |= int64(c&0x7f) << shift
	}
	return k, size, nil
}

// distance reads the distance from an entry back to its base.
func (in *inlet) distance() (int64, error) {
	var n int64
	for i := range 8 {
		c, err := in.f.ReadByte()
		if err != nil {
			return 0, damage(err)
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
func (in *inlet) object(k Kind, size int64, also io.Writer) (id ID, err error) {
	h := sha1.New()
	h.Write(preamble(k, size))
	to := io.Writer(h)
	if also != nil {
		to = io.MultiWriter(h, also)
	}
	ok, err := in.stored(to, size)
	if err == nil && !ok {
		err = in.copy(to, size)
	}
	h.Sum(id[:0])
	return id, err
}

// stored reads content in stored blocks, as [Encode] writes it at level 0, without a decompressor. It reports false,
// with nothing read, if the content has another form.
func (in *inlet) stored(to io.Writer, size int64) (bool, error) {
	total := storedSize(int(size))
	b, err := in.f.peek(min(total, 7))
	if err != nil || len(b) < 7 || b[0] != 0x78 || b[1] != 1 || b[2]&6 != 0 || size > flushAt*8 {
		return false, nil // the decompressor reports the error, if there is one
	}
	if b, err = in.f.peek(total); err != nil {
		return false, nil // as above
	}
	left, rest := size, b[2:]
	check := adler32.New()
	for {
		n := int(rest[1]) | int(rest[2])<<8
		m := int(rest[3]) | int(rest[4])<<8
		last := rest[0] == 1
		if rest[0] > 1 || n != m^0xffff || len(rest) < 5+n+4 || !last && len(rest) < 5+n+5+4 {
			return false, nil
		}
		check.Write(rest[5 : 5+n])
		left -= int64(n)
		rest = rest[5+n:]
		if last {
			break
		}
	}
	if left != 0 || len(rest) != 4 || binary.BigEndian.Uint32(rest) != check.Sum32() {
		return false, nil
	}
	for rest := b[2:]; len(rest) > 4; {
		n := int(rest[1]) | int(rest[2])<<8
		if _, err := to.Write(rest[5 : 5+n]); err != nil {
			return false, err
		}
		rest = rest[5+n:]
	}
	_, err = in.f.take(total)
	return true, err
}

// copy unpacks size bytes into w.
func (in *inlet) copy(w io.Writer, size int64) error {
	z, err := in.inflater()
	if err != nil {
		return err
	}
	if in.scratch == nil {
		in.scratch = make([]byte, 64<<10)
	}
	n, err := io.CopyBuffer(w, onlyReader{io.LimitReader(z, size)}, in.scratch)
	if err != nil {
		return damage(err)
	}
	if n != size {
		return fmt.Errorf("an object of %d bytes has %d: %w", size, n, ErrCorrupt)
	}
	return atEnd(z)
}

func (in *inlet) inflate(size int64) ([]byte, error) {
	if in.waits += size; in.waits > maxWaiting {
		return nil, fmt.Errorf("differences of more than %d bytes: %w", maxWaiting, ErrTooLarge)
	}
	var b bytes.Buffer
	err := in.copy(&b, size)
	return b.Bytes(), err
}

func (in *inlet) inflater() (io.Reader, error) {
	if in.z == nil {
		z, err := zlib.NewReader(in.f)
		if err != nil {
			return nil, damage(err)
		}
		in.z = z
		return z, nil
	}
	if err := in.z.(zlib.Resetter).Reset(in.f, nil); err != nil {
		return nil, damage(err)
	}
	return in.z, nil
}
