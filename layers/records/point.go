package records

import (
	"cmp"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
)

// Retype takes up what was typed, in clean words.
func (s *Snapshot) Retype(prompts []transcript.Prompt) {
	s.Typed, s.Markers = nil, nil
	for _, p := range prompts {
		s.Typed = append(s.Typed, TypedKey{p.N, p.Key})
		for _, k := range keepit.Scan(p.Text) {
			if !slices.Contains(s.Echo, p.N) {
				s.Markers = append(s.Markers, Mark{p.N, k.Weight, k.Start, k.End, k.Clamped})
			}
		}
	}
}

// Said estimates the bytes of L1 of a session: a share of its file, and never more than the text that a model
// reads of it.
func (p *Point) Said() int64 {
	n := p.Size / L1Share
	if p.Scan.Read > 0 {
		n = min(n, p.Scan.Read)
	}
	return n
}

// Further compares how far two growth points of a session reach: a later generation further than one
// before it, inside of it more values, whatever was taken out of them, then more bytes, then the later record.
func (p *Point) Further(q *Point) int {
	return cmp.Or(p.Reaches(q), cmp.Compare(p.Size, q.Size), p.Stamp.Compare(q.Stamp))
}

// Reaches is further without what differs between two captures of the same file.
func (p *Point) Reaches(q *Point) int {
	return cmp.Or(cmp.Compare(p.Generation, q.Generation), cmp.Compare(p.Scan.Values, q.Scan.Values))
}

// Stamp is where a record stands among all others, and so which of two assignments wins.
type Stamp struct {
	Lamport uint64
	Device  string
	Record  objects.Hash
}

func (s Stamp) Compare(o Stamp) int {
	return cmp.Or(cmp.Compare(s.Lamport, o.Lamport), cmp.Compare(s.Device, o.Device), s.Record.Compare(o.Record))
}

// A Point is a snapshot with its place among the records.
type Point struct {
	Stamp Stamp
	Time  time.Time
	Snapshot
}

func (s *Stamp) Code(c *Codec) {
	c.Uint(&s.Lamport)
	Word(c, &s.Device)
	c.Hash(&s.Record)
}

const (
	GrowingVersion = 1
	MaxMarks       = 64
	// firstLook is how much of the end of a file is refined that was not looked at before; of the part before it
	// L1 is taken to be that share.
	FirstLook = 1 << 20
	L1Share   = 25
)
