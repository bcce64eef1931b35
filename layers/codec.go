package layers

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/memvcs/mem/objects"
)

// A codec writes values in a compact form or reads them back, by the same calls in the same order: each
// method writes what its pointer holds, or fills it. Text goes into a table, each word once. Reading
// garbage sets failed and never asks for more memory than the input has bytes.
type codec struct {
	b       []byte // written so far
	in      string // still to be read; words that were read share memory with it
	reading bool
	failed  bool
	table   []string          // of words, when writing
	index   map[string]uint64 // of the words in table
	text    string            // all words in their order, when reading
	ends    []uint32          // of the words in text
	raw     []byte            // a copy of in, for those who want bytes; it ends where in does
}

// encode returns what fill writes to a codec: the table of words, then the values.
func encode(fill func(*codec)) []byte {
	c := &codec{index: map[string]uint64{}}
	fill(c)
	out := binary.AppendUvarint(make([]byte, 0, 2*len(c.b)), uint64(len(c.table)))
	for _, w := range c.table {
		out = binary.AppendUvarint(out, uint64(len(w)))
	}
	for _, w := range c.table {
		out = append(out, w...)
	}
	return append(out, c.b...)
}

// decode reads with fill what encode wrote, and reports whether it was that.
func decode(b string, fill func(*codec)) bool {
	c := newDecoder(b)
	if c.failed {
		return false
	}
	fill(c)
	return c.done()
}

// newDecoder returns a codec that reads what encode wrote: the table is read, the values are not.
func newDecoder(b string) *codec {
	c := &codec{in: b, reading: true}
	if uint64(len(b)) > math.MaxUint32 {
		c.failed = true // no cache is so long
		return c
	}
	c.ends = make([]uint32, c.count())
	total := 0
	for i := range c.ends {
		total += c.count()
		c.ends[i] = uint32(total)
		if total > len(c.in) {
			c.failed = true
			return c
		}
	}
	c.text = c.take(total)
	return c
}

// done reports whether all was read and was as encode wrote it.
func (c *codec) done() bool { return !c.failed && c.in == "" }

// count reads how many things follow; each takes a byte at least.
func (c *codec) count() int {
	n := c.readUint()
	if n > uint64(len(c.in)) {
		c.failed = true
		return 0
	}
	return int(n)
}

func (c *codec) readUint() uint64 {
	var n uint64
	for i := 0; i < len(c.in) && i < binary.MaxVarintLen64; i++ {
		x := c.in[i]
		n |= uint64(x&0x7f) << (7 * i)
		if x >= 0x80 {
			continue
		}
		if i == binary.MaxVarintLen64-1 && x > 1 {
			break // more than 64 bits
		}
		c.in = c.in[i+1:]
		return n
	}
	c.failed, c.in = true, ""
	return 0
}

func (c *codec) take(n int) string {
	if n > len(c.in) {
		c.failed = true
		n = len(c.in)
	}
	out := c.in[:n]
	c.in = c.in[n:]
	return out
}

func (c *codec) uint(p *uint64) {
	if c.reading {
		*p = c.readUint()
		return
	}
	c.b = binary.AppendUvarint(c.b, *p)
}

// number is a whole number of any type, small ones in few bytes.
func number[T ~int | ~int64](c *codec, p *T) {
	n := uint64(int64(*p)<<1) ^ uint64(int64(*p)>>63)
	c.uint(&n)
	if c.reading {
		*p = T(int64(n>>1) ^ -int64(n&1))
	}
}

func (c *codec) bool(p *bool) {
	n := 0
	if *p {
		n = 1
	}
	number(c, &n)
	*p = n == 1
}

func (c *codec) float(p *float64) {
	n := math.Float64bits(*p)
	c.uint(&n)
	*p = math.Float64frombits(n)
}

func (c *codec) fixed(p []byte) {
	if c.reading {
		copy(p, c.take(len(p)))
		return
	}
	c.b = append(c.b, p...)
}

func (c *codec) hash(p *objects.Hash) { c.fixed(p[:]) }

// word is text of any type, kept in the table.
func word[T ~string](c *codec, p *T) {
	if c.reading {
		*p = T(c.readWord())
		return
	}
	n, ok := c.index[string(*p)]
	if !ok {
		n = uint64(len(c.table))
		c.index[string(*p)], c.table = n, append(c.table, string(*p))
	}
	c.uint(&n)
}

func (c *codec) readWord() string {
	n := c.readUint()
	if n >= uint64(len(c.ends)) {
		c.failed = true
		return ""
	}
	from := uint32(0)
	if n > 0 {
		from = c.ends[n-1]
	}
	return c.text[from:c.ends[n]]
}

// list is a slice, nil or not, whose elements each writes or reads.
func list[S ~[]T, T any](c *codec, p *S, each func(*T)) {
	if !c.reading {
		n := uint64(len(*p) + 1)
		if *p == nil {
			n = 0
		}
		c.uint(&n)
		for i := range *p {
			each(&(*p)[i])
		}
		return
	}
	n, ok := c.length()
	if !ok {
		return
	}
	*p = make(S, 0, min(n, 1<<14))
	for i := 0; i < n && !c.failed; i++ {
		*p = append(*p, *new(T)) // written before it is read: fresh memory that is read first costs two page faults
		each(&(*p)[len(*p)-1])
	}
}

// length reads how many elements of a list follow. It reports false if there is no list.
func (c *codec) length() (n int, ok bool) {
	all := c.readUint()
	if all == 0 || all-1 > uint64(len(c.in)) {
		c.failed = c.failed || all > 0
		return 0, false
	}
	return int(all - 1), true
}

// words is a list of words. It is read into the room of those that are there.
func (c *codec) words(p *[]string) {
	if !c.reading {
		list(c, p, func(s *string) { word(c, s) })
		return
	}
	n, _ := c.length()
	*p = (*p)[:0]
	for i := 0; i < n && !c.failed; i++ {
		*p = append(*p, c.readWord())
	}
}

// bytes is a slice of bytes; all that were read share memory.
func (c *codec) bytes(p *[]byte) {
	if c.reading {
		n := c.count()
		if c.raw == nil {
			c.raw = []byte(c.in)
		}
		at := len(c.raw) - len(c.in)
		c.in, *p = c.in[n:], c.raw[at:at+n:at+n]
		return
	}
	c.b = append(binary.AppendUvarint(c.b, uint64(len(*p))), *p...)
}

// time keeps the instant and, where it is not UTC, the offset, as the JSON form does.
func (c *codec) time(p *time.Time) {
	if c.reading {
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
	number(c, &kind)
	if kind == zeroTime {
		return
	}
	sec, nsec := p.Unix(), p.Nanosecond()
	number(c, &sec)
	number(c, &nsec)
	if kind == zonedTime {
		number(c, &offset)
	}
}

const zeroTime, utcTime, zonedTime = 0, 1, 2

func (c *codec) readTime() time.Time {
	var kind, nsec, offset int
	var sec int64
	if number(c, &kind); kind == zeroTime {
		return time.Time{}
	}
	number(c, &sec)
	number(c, &nsec)
	t := time.Unix(sec, int64(nsec)).UTC()
	if kind == zonedTime {
		number(c, &offset)
		t = t.In(time.FixedZone("", offset))
	}
	return t
}
