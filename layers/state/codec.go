package state

import (
	"encoding/binary"
	"math"

	"github.com/memvcs/mem/layers/records"
)

// Encode returns the values that fill writes to a codec: the table of words, then the values.
func Encode(fill func(*records.Codec)) []byte {
	c := &records.Codec{Index: map[string]uint64{}}
	fill(c)
	out := binary.AppendUvarint(make([]byte, 0, 2*len(c.B)), uint64(len(c.Table)))
	for _, w := range c.Table {
		out = binary.AppendUvarint(out, uint64(len(w)))
	}
	for _, w := range c.Table {
		out = append(out, w...)
	}
	return append(out, c.B...)
}

// Decode reads the result of [Encode] by calling fill, and reports whether b was one.
func Decode(b string, fill func(*records.Codec)) bool {
	c := NewDecoder(b)
	if c.Failed {
		return false
	}
	fill(c)
	return c.Done()
}

// NewDecoder returns a codec that reads the result of [Encode]. It has read the table, but no values.
func NewDecoder(b string) *records.Codec {
	c := &records.Codec{In: b, Reading: true}
	if uint64(len(b)) > math.MaxUint32 {
		c.Failed = true // offsets have 32 bits
		return c
	}
	c.Ends = make([]uint32, c.Count())
	total := 0
	for i := range c.Ends {
		total += c.Count()
		c.Ends[i] = uint32(total)
		if total > len(c.In) {
			c.Failed = true
			return c
		}
	}
	c.Text = c.Take(total)
	return c
}

// code writes or reads a session of the outline. A test fills every field of the records and compares.
func (s *Session) code(c *records.Codec) {
	records.Word(c, &s.ID)
	records.List(c, &s.Points, func(p *records.Point) {
		p.Stamp.Code(c)
		c.Time(&p.Time)
		p.Session = s.ID
		p.Snapshot.Code(c)
	})
	if len(s.Points) == 0 {
		c.Failed = true // a session has at least one point
	}
}
