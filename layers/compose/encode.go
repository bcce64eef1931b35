package compose

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Format is the version of the stored form of compositions.
const Format = "mem-composition 1"

// ErrFormat means that bytes are not a stored composition.
var ErrFormat = errors.New("not a composition")

// head is the first line of the stored form.
type head struct {
	Format string `json:"format"`
	Composition
}

// line is each following line: the start of a part, or a segment of the current part.
type line struct {
	Part *Part `json:"part,omitempty"`
	*Segment
}

// Encode returns the stored form of c as JSON lines: one for the composition, then for each part one {"part":...} and
// one for each of its segments. The same composition always has the same bytes; the creation time is not included.
func (c Composition) Encode() []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	put := func(v any) {
		if err := enc.Encode(v); err != nil {
			panic("compose: a composition does not marshal: " + err.Error())
		}
	}
	put(head{Format, c})
	for i := range c.Parts {
		put(line{Part: &c.Parts[i]})
		for k := range c.Parts[i].Segments {
			put(line{Segment: &c.Parts[i].Segments[k]})
		}
	}
	return out.Bytes()
}

// Decode parses the result of [Composition.Encode] and rejects everything else: an accepted composition encodes to the
// same bytes. The error wraps [ErrFormat].
func Decode(b []byte) (Composition, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	var h head
	if err := dec.Decode(&h); err != nil {
		return Composition{}, fmt.Errorf("%w: head: %w", ErrFormat, err)
	}
	if h.Format != Format {
		return Composition{}, fmt.Errorf("%w: format %q, want %q", ErrFormat, h.Format, Format)
	}
	c := h.Composition
	for n := 2; ; n++ {
		var l line
		err := dec.Decode(&l)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = c.add(l)
		}
		if err != nil {
			return Composition{}, fmt.Errorf("%w: line %d: %w", ErrFormat, n, err)
		}
	}
	if !bytes.Equal(c.Encode(), b) {
		return Composition{}, fmt.Errorf("%w: not in canonical form", ErrFormat)
	}
	return c, nil
}

// add appends the content of a line.
func (c *Composition) add(l line) error {
	switch {
	case l.Part != nil && l.Segment == nil:
		c.Parts = append(c.Parts, *l.Part)
		return nil
	case l.Part == nil && l.Segment != nil && len(c.Parts) > 0:
		p := &c.Parts[len(c.Parts)-1]
		p.Segments = append(p.Segments, *l.Segment)
		return nil
	}
	return errors.New("want a part, or a segment of one")
}
