package pack

import (
	"bytes"
	"errors"
	"hash/crc32"
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

// Encode names and encodes an object. Level 0 stores data unchanged, for content that is already compressed. Levels 1 to 9
// compress; 6 is usual. Encode is the slow part of writing and safe for concurrent use. It does not keep data.
func Encode(k Kind, data []byte, level int) Entry {
	level = min(max(level, 0), 9)
	size := len(data)
	if level > 0 {
		size /= 2
	}
	b := bytes.NewBuffer(appendHeader(make([]byte, 0, 64+size+size>>12), k, len(data)))
	z, ok := deflaters[level].Get().(*zlib.Writer)
	if !ok {
		var err error
		if z, err = zlib.NewWriterLevel(nil, level); err != nil {
			panic(err) // the level is between 0 and 9
		}
	}
	z.Reset(b)
	_, err := z.Write(data)
	if err = errors.Join(err, z.Close()); err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	deflaters[level].Put(z)
	return Entry{ID: Name(k, data), Kind: k, crc: crc32.ChecksumIEEE(b.Bytes()), raw: b.Bytes()}
}

// deflaters contains idle compressors by level; they are large and slow to create.
var deflaters [10]sync.Pool

// appendHeader appends the kind and the size of an entry: 4 bits of the size, then 7 a byte.
func appendHeader(dst []byte, k Kind, size int) []byte {
	c := byte(k)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		dst = append(dst, c|0x80)
		c = byte(size & 0x7f)
	}
	return append(dst, c)
}
