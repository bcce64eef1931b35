package pack

import (
	"bytes"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"io"
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

// minCompress is the size up to which content is not compressed, such as a tree of one entry: compression does not
// shorten it, and initialising a compressor costs hundreds of times as much as the rest.
const minCompress = 32

// Encode names and encodes an object. Level 0 stores data unchanged, for content that is already compressed, and so
// does every level for content of a few bytes. Levels 1 to 9 compress; 6 is usual. Encode is the slow part of writing
// and safe for concurrent use. It does not keep data.
func Encode(k Kind, data []byte, level int) Entry {
	e := Entry{ID: Name(k, data), Kind: k}
	if level <= 0 || len(data) <= minCompress {
		e.raw = appendStored(appendHeader(make([]byte, 0, 10+storedSize(len(data))), k, len(data)), data)
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

// deflaters contains idle compressors by level; they are large and slow to create.
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
