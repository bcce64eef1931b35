package records

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/memvcs/mem/objects"
)

// A Codec encodes values in a compact form, or decodes them with the same calls in the same order: each method encodes
// the value at its pointer, or sets it. Texts are stored once, in a table. Malformed input sets Failed and never
// allocates more memory than the input has bytes.
type Codec struct {
	B       []byte // encoded so far
	In      string // not decoded yet; decoded words share its memory
	Reading bool
	Failed  bool
	Table   []string          // of words, to encode
	Index   map[string]uint64 // of the words in Table
	Text    string            // all words in order, to decode
	Ends    []uint32          // of the words in Text
	raw     []byte            // a copy of the end of In, for Bytes
}

// Done reports whether the whole input was decoded without error.
func (c *Codec) Done() bool { return !c.Failed && c.In == "" }

// Count decodes the number of elements that follow. Each has at least one byte.
func (c *Codec) Count() int {
	n := c.readUint()
	if n > uint64(len(c.In)) {
		c.Failed = true
		return 0
	}
	return int(n)
}

func (c *Codec) readUint() uint64 {
	var n uint64
	for i := 0; i < len(c.In) && i < binary.MaxVarintLen64; i++ {
		x := c.In[i]
		n |= uint64(x&0x7f) << (7 * i)
		if x >= 0x80 {
			continue
		}
		if i == binary.MaxVarintLen64-1 && x > 1 {
			break // more than 64 bits
		}
		c.In = c.In[i+1:]
		return n
	}
	c.Failed, c.In = true, ""
	return 0
}

// Take returns the next n bytes.
func (c *Codec) Take(n int) string {
	if n > len(c.In) {
		c.Failed = true
		n = len(c.In)
	}
	out := c.In[:n]
	c.In = c.In[n:]
	return out
}

// Uint codes an unsigned integer.
func (c *Codec) Uint(p *uint64) {
	if c.Reading {
		*p = c.readUint()
		return
	}
	c.B = binary.AppendUvarint(c.B, *p)
}

// Number codes an integer. Small numbers take few bytes.
func Number[T ~int | ~int64](c *Codec, p *T) {
	n := uint64(int64(*p)<<1) ^ uint64(int64(*p)>>63)
	c.Uint(&n)
	if c.Reading {
		*p = T(int64(n>>1) ^ -int64(n&1))
	}
}

// Bool codes a boolean.
func (c *Codec) Bool(p *bool) {
	n := 0
	if *p {
		n = 1
	}
	Number(c, &n)
	*p = n == 1
}

func (c *Codec) float(p *float64) {
	n := math.Float64bits(*p)
	c.Uint(&n)
	*p = math.Float64frombits(n)
}

// Fixed codes bytes of a known length.
func (c *Codec) Fixed(p []byte) {
	if c.Reading {
		copy(p, c.Take(len(p)))
		return
	}
	c.B = append(c.B, p...)
}

// Hash codes a hash.
func (c *Codec) Hash(p *objects.Hash) { c.Fixed(p[:]) }

// Word codes a text by its place in the table.
func Word[T ~string](c *Codec, p *T) {
	if c.Reading {
		*p = T(c.readWord())
		return
	}
	n, ok := c.Index[string(*p)]
	if !ok {
		n = uint64(len(c.Table))
		c.Index[string(*p)], c.Table = n, append(c.Table, string(*p))
	}
	c.Uint(&n)
}

func (c *Codec) readWord() string {
	n := c.readUint()
	if n >= uint64(len(c.Ends)) {
		c.Failed = true
		return ""
	}
	from := uint32(0)
	if n > 0 {
		from = c.Ends[n-1]
	}
	return c.Text[from:c.Ends[n]]
}

// List codes a slice. each codes an element. A nil slice stays nil.
func List[S ~[]T, T any](c *Codec, p *S, each func(*T)) {
	if !c.Reading {
		n := uint64(len(*p) + 1)
		if *p == nil {
			n = 0
		}
		c.Uint(&n)
		for i := range *p {
			each(&(*p)[i])
		}
		return
	}
	n, ok := c.Length()
	if !ok {
		return
	}
	*p = make(S, 0, min(n, 1<<14))
	for i := 0; i < n && !c.Failed; i++ {
		*p = append(*p, *new(T)) // write before reading: reading fresh memory first costs two page faults
		each(&(*p)[len(*p)-1])
	}
}

// Length decodes the length of a list. ok is false for a nil list.
func (c *Codec) Length() (n int, ok bool) {
	all := c.readUint()
	if all == 0 || all-1 > uint64(len(c.In)) {
		c.Failed = c.Failed || all > 0
		return 0, false
	}
	return int(all - 1), true
}

// Words codes a list of words. It decodes into the memory of *p.
func (c *Codec) Words(p *[]string) {
	if !c.Reading {
		List(c, p, func(s *string) { Word(c, s) })
		return
	}
	n, _ := c.Length()
	*p = (*p)[:0]
	for i := 0; i < n && !c.Failed; i++ {
		*p = append(*p, c.readWord())
	}
}

// Bytes codes a byte slice. Decoded slices share memory.
func (c *Codec) Bytes(p *[]byte) {
	if c.Reading {
		n := c.Count()
		if c.raw == nil {
			c.raw = []byte(c.In)
		}
		at := len(c.raw) - len(c.In)
		c.In, *p = c.In[n:], c.raw[at:at+n:at+n]
		return
	}
	c.B = append(binary.AppendUvarint(c.B, uint64(len(*p))), *p...)
}

// Time codes an instant and, unless it is UTC, the offset, as JSON does.
func (c *Codec) Time(p *time.Time) {
	if c.Reading {
		*p = c.readTime()
		return
	}
	kind := utcTime
	_, offset := p.Zone()
	switch {
	case p.IsZero():
		kind = zeroTime
	case offset != 0 || p.Location() != time.UTC:
		kind = zonedTime
	}
	Number(c, &kind)
	if kind == zeroTime {
		return
	}
	sec, nsec := p.Unix(), p.Nanosecond()
	Number(c, &sec)
	Number(c, &nsec)
	if kind == zonedTime {
		Number(c, &offset)
	}
}

const zeroTime, utcTime, zonedTime = 0, 1, 2

func (c *Codec) readTime() time.Time {
	var kind, nsec, offset int
	var sec int64
	if Number(c, &kind); kind == zeroTime {
		return time.Time{}
	}
	Number(c, &sec)
	Number(c, &nsec)
	t := time.Unix(sec, int64(nsec)).UTC()
	if kind == zonedTime {
		Number(c, &offset)
		t = t.In(time.FixedZone("", offset))
	}
	return t
}
