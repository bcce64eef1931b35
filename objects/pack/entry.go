package pack

import (
	"bytes"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zlib"
)

// An Entry is an object in the encoding of a pack. Create one with [Encode].
type Entry struct {
	ID   ID
	Kind Kind
	crc  uint32
	raw  []byte
}

// Size returns the number of bytes that e takes in a pack.
func (e Entry) Size() int { return len(e.raw) }

// Release returns the memory of e for reuse. e must not be used any more. Calling it is optional.
func (e Entry) Release() {
	if cap(e.raw) < spareFrom { // not worth reusing
		return
	}
	select {
	case spare <- e.raw[:0]:
	default:
	}
}

// Show gives the content of a blob to l.Blob, as [Writer.Receive] does, if it stands in the entry as [Encode]
// stores it at level 0 and has the name that the entry says. Of others it does nothing: whoever reads them
// finds out. It uses buf and returns what it may use next.
func (l Limits) Show(e Entry, buf []byte) []byte {
	if l.Blob == nil || e.Kind != Blob || len(e.raw) == 0 || len(e.raw) > MaxShown {
		return buf
	}
	content, ok := e.stored(buf[:0])
	if !ok || Name(Blob, content) != e.ID {
		return content
	}
	return l.Blob(e.ID, content)
}

// stored appends the content of an entry to dst. It reports false if that is in no stored blocks, or they are
// not in order to the last byte.
func (e Entry) stored(dst []byte) ([]byte, bool) {
	from, size, head := len(dst), int64(e.raw[0]&15), 1
	for shift := 4; e.raw[head-1]&0x80 != 0; shift += 7 {
		if head == len(e.raw) || shift > 53 {
			return dst, false
		}
		size |= int64(e.raw[head]&0x7f) << shift
		head++
	}
	rest := e.raw[head:]
	if len(rest) < 7 || rest[0] != 0x78 || rest[1] != 1 {
		return dst, false
	}
	for rest = rest[2:]; ; {
		if len(rest) < 5+4 || rest[0] > 1 {
			return dst, false
		}
		n, m, last := int(rest[1])|int(rest[2])<<8, int(rest[3])|int(rest[4])<<8, rest[0] == 1
		if n != m^0xffff || len(rest) < 5+n+4 {
			return dst, false
		}
		dst, rest = append(dst, rest[5:5+n]...), rest[5+n:]
		if last {
			content := dst[from:]
			return dst, int64(len(content)) == size && len(rest) == 4 &&
				binary.BigEndian.Uint32(rest) == adler32.Checksum(content)
		}
	}
}

// spareFrom is the capacity from which the memory of an entry is reused.
const spareFrom = 64 << 10

// spare is the memory of entries that were released.
var spare = make(chan []byte, 4)

// room returns memory for n bytes.
func room(n int) []byte {
	if n >= spareFrom {
		select {
		case b := <-spare:
			return slices.Grow(b, n)
		default:
		}
	}
	return make([]byte, 0, n)
}

// tiny is the size up to which content is not compressed, such as a directory of one entry: compression does not
// shorten it, and initialising a compressor costs hundreds of times as much as the rest.
const tiny = 32

// Encode names and encodes an object. Level 0 stores it as it is, for content that is compressed
// already, and so is content of a few bytes; 1 to 9 compress, 6 is usual. It is the slow part of writing, needs
// no lock and may run in many goroutines at once. It does not keep data.
func Encode(k Kind, data []byte, level int) Entry {
	e := Entry{ID: Name(k, data), Kind: k}
	if level <= 0 || len(data) <= tiny {
		e.raw = appendStored(appendHeader(room(10+storedSize(len(data))), k, len(data)), data)
	} else {
		e.raw = appendDeflated(appendHeader(make([]byte, 0, 64+len(data)/2), k, len(data)), data, min(level, 9))
	}
	e.crc = crc32.ChecksumIEEE(e.raw)
	return e
}

// appendHeader appends the kind and the size of an entry: 4 bits of the size, then 7 a byte.
func appendHeader(dst []byte, k Kind, size int) []byte {
	c := byte(k)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		dst = append(dst, c|0x80)
		c = byte(size & 0x7f)
	}
	return append(dst, c)
}

// maxStored is the maximum size of a stored block of a deflate stream.
const maxStored = 1<<16 - 1

// storedSize returns the length of the output of appendStored for n bytes.
func storedSize(n int) int { return 2 + 5*max(1, (n+maxStored-1)/maxStored) + n + 4 }

// appendStored appends data as a zlib stream of stored blocks, all full but the last.
func appendStored(dst, data []byte) []byte {
	dst = append(dst, 0x78, 0x01)
	for rest := data; ; {
		n := min(len(rest), maxStored)
		var last byte
		if n == len(rest) {
			last = 1
		}
		dst = append(dst, last, byte(n), byte(n>>8), byte(^n), byte(^n>>8))
		dst = append(dst, rest[:n]...)
		rest = rest[n:]
		if last == 1 {
			break
		}
	}
	return binary.BigEndian.AppendUint32(dst, adler32.Checksum(data))
}

// deflaters holds idle compressors by level; one is large and slow to make.
var deflaters [10]sync.Pool

func appendDeflated(dst, data []byte, level int) []byte {
	z, ok := deflaters[level].Get().(*zlib.Writer)
	if !ok {
		var err error
		if z, err = zlib.NewWriterLevel(io.Discard, level); err != nil {
			panic(err) // the level is between 1 and 9
		}
	}
	b := bytes.NewBuffer(dst)
	z.Reset(b)
	if _, err := z.Write(data); err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	if err := z.Close(); err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	deflaters[level].Put(z)
	return b.Bytes()
}
