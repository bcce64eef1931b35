package pack

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// Limits limit what [Writer.Receive] accepts, because the sizes that a pack declares may be wrong.
type Limits struct {
	Bytes   int64 // of the pack as it arrives
	Objects int   // in the pack
	Object  int64 // bytes of one object, at most 64 MiB
	Ratio   int64 // maximum ratio of the unpacked size to the size of the pack, beyond 64 MiB

	Progress func(n int64) // called with the number of received bytes; may be nil
}

// minUnpacked is the number of bytes to which every pack may unpack, whatever its size.
const minUnpacked = 64 << 20

// maxPadding is the number of bytes that an entry may have in addition to twice the size of its object. A zlib stream
// may contain any number of blocks without content, which the entry would keep in memory.
const maxPadding = 1 << 20

// A Receipt contains the amounts that [Writer.Receive] received.
type Receipt struct {
	Objects int
	Deltas  int
	Bytes   int64 // of the pack as it arrived
}

// Receive reads a pack from a connection and adds its objects to w. It unpacks and names every object and verifies the
// checksum while the pack arrives in a temporary file; then it copies the whole objects and resolves the deltas. A delta
// is refused if its base is not in the pack, or is a later delta that it names. Errors wrap [ErrCorrupt] or [ErrTooLarge]
// if they are caused by the pack.
func (w *Writer) Receive(r io.Reader, l Limits) (got Receipt, err error) {
	f, err := os.CreateTemp(w.dir, packPrefix(w.mark)+"*")
	if err != nil {
		return got, writeError(err)
	}
	in := &receiver{w: w, l: l, f: f, at: map[ID]int64{}}
	in.src = &faultReader{Reader: io.TeeReader(&limitedReader{r, l.Bytes, l.Progress}, io.MultiWriter(f, counter{&in.got.Bytes}))}
	err = in.src.damage(in.scan())
	if err == nil {
		err = copyEntries(w, f, in.end(), in.items, func(id ID) bool { return !id.IsZero() })
	}
	if err == nil {
		err = in.resolve()
	}
	if err != nil {
		err = fmt.Errorf("receive a pack: %w", err)
	}
	return in.got, errors.Join(err, f.Close(), removeFile(f.Name()))
}

// A receiver receives a pack.
type receiver struct {
	w        *Writer
	l        Limits
	f        *os.File // the pack
	src      *faultReader
	got      Receipt
	unpacked int64
	items    []item       // in the order of the pack; those of deltas have no name
	room     int64        // maximum offset of the end of the last entry
	at       map[ID]int64 // objects by their names
}

// A counter counts the bytes that are written to it.
type counter struct{ n *int64 }

func (c counter) Write(p []byte) (int, error) {
	*c.n += int64(len(p))
	return len(p), nil
}

// A limitedReader fails after limit bytes.
type limitedReader struct {
	r        io.Reader
	left     int64
	progress func(int64) // may be nil
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.progress != nil {
		l.progress(int64(n))
	}
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("more bytes than allowed: %w", ErrTooLarge)
	}
	return n, err
}

// scan reads the whole pack.
func (in *receiver) scan() error {
	scanner := packfile.NewScanner(in.src)
	_, n, err := scanner.Header()
	if err != nil {
		return err
	}
	if int64(n) > int64(in.l.Objects) {
		return fmt.Errorf("%d objects: %w", n, ErrTooLarge)
	}
	for range n {
		if err := in.entry(scanner); err != nil {
			return err
		}
	}
	if _, err = scanner.Checksum(); err != nil {
		return err
	}
	return in.checkPadding(in.end())
}

// end returns the offset of the end of the entries. Nothing follows a pack but its checksum.
func (in *receiver) end() int64 { return in.got.Bytes - int64(idSize) }

// checkPadding returns an error if the last entry takes too many bytes up to off.
func (in *receiver) checkPadding(off int64) error {
	if len(in.items) > 0 && off > in.room {
		return fmt.Errorf("an entry of too many bytes up to byte %d: %w", off, ErrTooLarge)
	}
	return nil
}

// entry reads one entry.
func (in *receiver) entry(scanner *packfile.Scanner) error {
	h, err := scanner.NextObjectHeader()
	if err != nil {
		return err
	}
	if err = checkHeader(h, math.MaxInt32); err == nil {
		err = in.checkPadding(h.Offset)
	}
	if err == nil {
		err = in.spend(h.Length)
	}
	if err != nil {
		return err
	}
	in.got.Objects++
	in.room = h.Offset + 2*h.Length + maxPadding
	it := item{off: h.Offset}
	name := plumbing.NewHasher(h.Type, h.Length)
	it.crc, err = unpack(scanner, h, name)
	if !h.Type.IsDelta() {
		it.id = name.Sum()
		in.at[it.id] = it.off
	}
	in.items = append(in.items, it)
	return err
}

// unpack copies the data of the entry to w, whose header the scanner has just read.
func unpack(scanner *packfile.Scanner, h *packfile.ObjectHeader, w io.Writer) (crc uint32, err error) {
	n, crc, err := scanner.NextObject(w)
	if err == nil && n != h.Length {
		err = fmt.Errorf("%d bytes instead of %d", n, h.Length)
	}
	return crc, err
}

// spend adds n bytes of an object or a delta to the unpacked ones.
func (in *receiver) spend(n int64) error {
	if n > in.l.Object {
		return fmt.Errorf("an object of %d bytes: %w", n, ErrTooLarge)
	}
	if most := minUnpacked + in.l.Ratio*in.got.Bytes; in.unpacked > most {
		return fmt.Errorf("it unpacks to more than %d bytes: %w", most, ErrTooLarge)
	}
	in.unpacked += n
	return nil
}

// resolve adds the objects that are deltas.
func (in *receiver) resolve() error {
	u := unpacker{p: in.f, end: in.end(), spend: in.spend, cache: cache.NewBufferLRUDefault(), kinds: map[int64]Kind{},
		find: func(id ID) (int64, bool, error) { off, ok := in.at[id]; return off, ok, nil }}
	for _, it := range in.items {
		if !it.id.IsZero() {
			continue
		}
		k, data, err := u.object(it.off)
		if err != nil {
			return err
		}
		e := Encode(k, data, 6)
		if err := in.w.Add(e); err != nil {
			return err
		}
		in.at[e.ID] = it.off
		in.got.Deltas++
	}
	return nil
}
