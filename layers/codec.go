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
	b       []byte // written so far, or still to be read
	reading bool
	failed  bool
	table   []string
	index   map[string]uint64 // of the words in table, when writing
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
func decode(b []byte, fill func(*codec)) bool {
	c := &codec{b: b, reading: true}
	ends := make([]int, c.count())
	total := 0
	for i := range ends {
		total += c.count()
		ends[i] = total
	}
	text := string(c.take(total)) // one piece of memory for all words
	if c.failed {
		return false
	}
	c.table = make([]string, len(ends))
	from := 0
	for i, end := range ends {
		c.table[i], from = text[from:end], end
	}
	fill(c)
	return !c.failed && len(c.b) == 0
}

// count reads how many things follow; each takes a byte at least.
func (c *codec) count() int {
	n := c.readUint()
	if n > uint64(len(c.b)) {
		c.failed = true
		return 0
	}
	return int(n)
}

func (c *codec) readUint() uint64 {
	n, size := binary.Uvarint(c.b)
	if size <= 0 {
		c.failed, c.b = true, nil
		return 0
	}
	c.b = c.b[size:]
	return n
}

func (c *codec) take(n int) []byte {
	if n > len(c.b) {
		c.failed = true
		n = len(c.b)
	}
	out := c.b[:n:n]
	c.b = c.b[n:]
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
		n := c.readUint()
		if n >= uint64(len(c.table)) {
			c.failed = true
			return
		}
		*p = T(c.table[n])
		return
	}
	n, ok := c.index[string(*p)]
	if !ok {
		n = uint64(len(c.table))
		c.index[string(*p)], c.table = n, append(c.table, string(*p))
	}
	c.uint(&n)
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
	n := c.readUint()
	if n == 0 || n-1 > uint64(len(c.b)) {
		c.failed = c.failed || n > 0
		return
	}
	*p = make(S, 0, min(int(n-1), 1<<14))
	for i := uint64(1); i < n && !c.failed; i++ {
		*p = append(*p, *new(T))
		each(&(*p)[len(*p)-1])
	}
}

// bytes is a slice of bytes; what was read shares memory with the input.
func (c *codec) bytes(p *[]byte) {
	if c.reading {
		*p = c.take(c.count())
		return
	}
	c.b = append(binary.AppendUvarint(c.b, uint64(len(*p))), *p...)
}

// time keeps the instant and, where it is not UTC, the offset, as the JSON form does.
func (c *codec) time(p *time.Time) {
	const zero, utc, zoned = 0, 1, 2
	kind := utc
	switch _, offset := p.Zone(); {
	case p.IsZero():
		kind = zero
	case offset != 0 || p.Location() != time.UTC:
		kind = zoned
	}
	number(c, &kind)
	if kind == zero {
		return
	}
	sec, nsec := p.Unix(), p.Nanosecond()
	number(c, &sec)
	number(c, &nsec)
	t := time.Unix(sec, int64(nsec)).UTC()
	if kind == zoned {
		_, offset := p.Zone()
		number(c, &offset)
		t = t.In(time.FixedZone("", offset))
	}
	if c.reading {
		*p = t
	}
}
