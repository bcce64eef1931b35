package pack

import (
	"bytes"
	"encoding/binary"
	"sort"
	"sync"
)

// window is the number of names that one step of a search reads. With 10^6 objects, the guessed position of a name has
// a standard deviation of 31, so the first window nearly always contains it.
const window = 200

// windowBuffers contains idle buffers for the names of a window.
var windowBuffers = sync.Pool{New: func() any { return new([]byte) }}

// find returns the offset of the entry of id. Names are distributed evenly, so it reads a window of names around the
// position that it guesses by interpolation. Every other step bisects the remaining range instead.
func (x *index) find(id ID) (off int64, ok bool, err error) {
	lo, hi := x.fan[id[0]], x.fan[int(id[0])+1]
	below, above := bucketBounds(id[0])
	pooled := windowBuffers.Get().(*[]byte)
	defer windowBuffers.Put(pooled)
	for step := 0; lo < hi; step++ {
		from, to := lo, hi
		if hi-lo > window {
			mid := lo + (hi-lo)/2
			if step%2 == 0 {
				mid = lo + int(float64(hi-lo)*fraction(prefix(id[:]), below, above))
			}
			from = min(max(lo, mid-window/2), hi-window)
			to = from + window
		}
		buf, err := x.names(*pooled, from, to)
		if err != nil {
			return 0, false, err
		}
		*pooled = buf
		first, last := buf[:idSize], buf[len(buf)-idSize:]
		switch {
		case bytes.Compare(id[:], first) < 0:
			hi, above = from, prefix(first)
		case bytes.Compare(id[:], last) > 0:
			lo, below = to, prefix(last)
		default:
			n := to - from
			i := sort.Search(n, func(i int) bool { return bytes.Compare(buf[i*idSize:(i+1)*idSize], id[:]) >= 0 })
			if i == n || ID(buf[i*idSize:]) != id {
				return 0, false, nil
			}
			off, err = x.offset(from + i)
			return off, err == nil, err
		}
	}
	return 0, false, nil
}

// prefix returns the first 8 bytes of a name as a number.
func prefix(name []byte) uint64 { return binary.BigEndian.Uint64(name) }

// bucketBounds returns the smallest and the largest prefix of names that begin with b.
func bucketBounds(b byte) (below, above uint64) { return uint64(b) << 56, uint64(b)<<56 | (1<<56 - 1) }

// fraction returns the relative position of v between below and above, from 0 to 1.
func fraction(v, below, above uint64) float64 {
	if v <= below || above <= below {
		return 0
	}
	return min(1, float64(v-below)/float64(above-below))
}
