package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/memvcs/mem/objects"
)

// Format is the version of the encoding of patches. Each patch begins with it.
const Format = "mem-patch 1"

// errPatch reports bytes that are not a patch, or a patch that does not belong to the bytes it is applied to.
var errPatch = errors.New("not a valid patch")

// A Patch contains the secrets of a session at one growth point. The clean bytes, the patches of the growth points
// before it and this patch give the original. A patch must not leave the device.
type Patch struct {
	Rules         string       // the ID of the rules that made the cuts
	Before, After int64        // the length of the clean bytes at the previous growth point, and at this one
	Clean         objects.Hash // of the clean bytes up to After
	RawLen        int64        // the length of the original with the tail
	Raw           objects.Hash // of the original
	Prev          objects.Hash // the name of the previous patch; zero if Before is 0
	Cuts          []Cut        // sorted, between Before and After
	Tail          []byte       // the end of the original that is not a closed value yet
}

// header is the first line of an encoded patch.
type header struct {
	Format string       `json:"format"`
	Rules  string       `json:"rules"`
	Before int64        `json:"before"`
	After  int64        `json:"after"`
	Clean  objects.Hash `json:"clean"`
	RawLen int64        `json:"raw_len"`
	Raw    objects.Hash `json:"raw"`
	Prev   string       `json:"prev,omitempty"`
	Cuts   [][4]int64   `json:"cuts,omitempty"` // at, placeholder length, number, length of what was cut
	Tail   int64        `json:"tail"`
}

// Encode returns the stored form of p: a line of JSON, the bytes of all cuts, and the tail. Equal patches give equal
// bytes.
func (p Patch) Encode() []byte {
	h := header{Format: Format, Rules: p.Rules, Before: p.Before, After: p.After, Clean: p.Clean,
		RawLen: p.RawLen, Raw: p.Raw, Tail: int64(len(p.Tail))}
	if !p.Prev.IsZero() {
		h.Prev = p.Prev.String()
	}
	size := len(p.Tail)
	for _, c := range p.Cuts {
		h.Cuts = append(h.Cuts, [4]int64{c.At, int64(c.Len), int64(c.No), int64(len(c.Bytes))})
		size += len(c.Bytes)
	}
	line := h.line()
	b := append(make([]byte, 0, len(line)+size), line...)
	for _, c := range p.Cuts {
		b = append(b, c.Bytes...)
	}
	return append(b, p.Tail...)
}

// line returns h as a line of JSON.
func (h header) line() []byte {
	b, err := json.Marshal(h)
	if err != nil {
		panic("redact: a header of strings and numbers does not marshal: " + err.Error())
	}
	return append(b, '\n')
}

// Name returns the hash of the encoded patch.
func (p Patch) Name() objects.Hash { return objects.Sum(p.Encode()) }

// Decode reads an encoded patch. It accepts only what encodes to the same bytes. The patch shares memory with b. The
// error wraps [errPatch].
func Decode(b []byte) (Patch, error) {
	end := bytes.IndexByte(b, '\n') + 1
	var h header
	if err := json.Unmarshal(b[:end], &h); err != nil {
		return Patch{}, fmt.Errorf("%w: header: %w", errPatch, err)
	}
	if h.Format != Format {
		return Patch{}, fmt.Errorf("%w: format %q, want %q", errPatch, h.Format, Format)
	}
	if !bytes.Equal(h.line(), b[:end]) {
		return Patch{}, fmt.Errorf("%w: header is not in canonical form", errPatch)
	}
	p := Patch{Rules: h.Rules, Before: h.Before, After: h.After, Clean: h.Clean, RawLen: h.RawLen, Raw: h.Raw}
	if h.Prev != "" {
		prev, err := objects.ParseHash(h.Prev)
		if err != nil || prev.IsZero() || prev.String() != h.Prev {
			return Patch{}, fmt.Errorf("%w: prev %q", errPatch, h.Prev)
		}
		p.Prev = prev
	}
	rest, err := p.takeCuts(h, b[end:])
	if err != nil {
		return Patch{}, err
	}
	if int64(len(rest)) != h.Tail {
		return Patch{}, fmt.Errorf("%w: tail of %d bytes, want %d", errPatch, len(rest), h.Tail)
	}
	if len(rest) > 0 {
		p.Tail = rest
	}
	return p, p.check()
}

// takeCuts sets p.Cuts from the header and the bytes after it, and returns the remaining bytes.
func (p *Patch) takeCuts(h header, b []byte) ([]byte, error) {
	for i, c := range h.Cuts {
		at, size, no, n := c[0], c[1], c[2], c[3]
		if n < 0 || n > int64(len(b)) || size <= 0 || size > math.MaxInt32 || no <= 0 || no > math.MaxInt32 {
			return nil, fmt.Errorf("%w: cut %d", errPatch, i)
		}
		p.Cuts = append(p.Cuts, Cut{At: at, Len: int(size), No: int(no), Bytes: b[:n:n]})
		b = b[n:]
	}
	return b, nil
}

// check reports an inconsistency of the numbers in p.
func (p Patch) check() error {
	if p.Before < 0 || p.After < p.Before || p.RawLen < 0 {
		return fmt.Errorf("%w: lengths %d, %d, %d", errPatch, p.Before, p.After, p.RawLen)
	}
	at := p.Before
	for i, c := range p.Cuts {
		if c.At < at || c.At > p.After-int64(c.Len) {
			return fmt.Errorf("%w: cut %d at %d is out of order or out of bounds", errPatch, i, c.At)
		}
		at = c.At + int64(c.Len)
	}
	return nil
}
