package records

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/memvcs/mem/objects"
)

// A codec writes values in a compact form or reads them back, by the same calls in the same order: each
// method writes what its pointer holds, or fills it. Text goes into a table, each word once. Reading
// garbage sets failed and never asks for more memory than the input has bytes.
type Codec struct {
	B       []byte // written so far
	In      string // still to be read; words that were read share memory with it
	Reading bool
	Failed  bool
	Table   []string          // of words, when writing
	Index   map[string]uint64 // of the words in table
	Text    string            // all words in their order, when reading
	Ends    []uint32          // of the words in text
	raw     []byte            // a copy of in, for those who want bytes; it ends where in does
}

// Done reports whether all was read and was as encode wrote it.
func (c *Codec) Done() bool { return !c.Failed && c.In == "" }

// Count reads how many things follow; each takes a byte at least.
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

func (c *Codec) Take(n int) string {
	if n > len(c.In) {
		c.Failed = true
		n = len(c.In)
	}
	out := c.In[:n]
	c.In = c.In[n:]
	return out
}

func (c *Codec) Uint(p *uint64) {
	if c.Reading {
		*p = c.readUint()
		return
	}
	c.B = binary.AppendUvarint(c.B, *p)
}

// Number is a whole number of any type, small ones in few bytes.
func Number[T ~int | ~int64](c *Codec, p *T) {
	n := uint64(int64(*p)<<1) ^ uint64(int64(*p)>>63)
	c.Uint(&n)
	if c.Reading {
		*p = T(int64(n>>1) ^ -int64(n&1))
	}
}

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

func (c *Codec) Fixed(p []byte) {
	if c.Reading {
		copy(p, c.Take(len(p)))
		return
	}
	c.B = append(c.B, p...)
}

func (c *Codec) Hash(p *objects.Hash) { c.Fixed(p[:]) }

// Word is text of any type, kept in the table.
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

// List is a slice, nil or not, whose elements each writes or reads.
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
		*p = append(*p, *new(T)) // written before it is read: fresh memory that is read first costs two page faults
		each(&(*p)[len(*p)-1])
	}
}

// Length reads how many elements of a list follow. It reports false if there is no list.
func (c *Codec) Length() (n int, ok bool) {
	all := c.readUint()
	if all == 0 || all-1 > uint64(len(c.In)) {
		c.Failed = c.Failed || all > 0
		return 0, false
	}
	return int(all - 1), true
}

// Words is a list of words. It is read into the room of those that are there.
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

// Bytes is a slice of bytes; all that were read share memory.
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

// Time keeps the instant and, where it is not UTC, the offset, as the JSON form does.
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
