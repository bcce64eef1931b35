package records

import (
	"cmp"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
)

// Retype replaces Typed and the markers by those of redacted prompts.
func (s *Snapshot) Retype(prompts, waiting []transcript.Prompt) {
	s.Typed, s.Markers = nil, nil
	for _, p := range prompts {
		s.Typed = append(s.Typed, TypedKey{p.N, p.Key, p.Before})
		if !slices.Contains(s.Echo, p.N) {
			s.Markers = append(s.Markers, MarksIn(p)...)
		}
	}
	s.Waiting = nil
	for _, p := range waiting {
		s.Waiting = append(s.Waiting, MarksIn(p)...)
	}
}

// MarksIn returns the markers in what the user said.
func MarksIn(p transcript.Prompt) (out []Mark) {
	for _, k := range keepit.Scan(p.Text) {
		out = append(out, Mark{p.N, k.Weight, k.Start, k.End, k.Clamped})
	}
	return out
}

// Said estimates the size of a session's L1 in bytes: a share of its file, and at most the text in it that a model
// reads.
func (p *Point) Said() int64 {
	n := p.Size / L1Share
	if p.Scan.Read > 0 {
		n = min(n, p.Scan.Read)
	}
	return n
}

// Further orders growth points of a session: by generation, then by number of values, then by bytes, then by record.
func (p *Point) Further(q *Point) int {
	return cmp.Or(p.Reaches(q), cmp.Compare(p.Size, q.Size), p.Stamp.Compare(q.Stamp))
}

// Reaches is Further without what can differ between two captures of the same file.
func (p *Point) Reaches(q *Point) int {
	return cmp.Or(cmp.Compare(p.Generation, q.Generation), cmp.Compare(p.Scan.Values, q.Scan.Values))
}

// A Stamp is the place of a record in the order of all records. The last of two assignments wins.
type Stamp struct {
	Lamport uint64
	Device  string
	Record  objects.Hash
}

// Compare orders stamps.
func (s Stamp) Compare(o Stamp) int {
	return cmp.Or(cmp.Compare(s.Lamport, o.Lamport), cmp.Compare(s.Device, o.Device), s.Record.Compare(o.Record))
}

// A Point is a snapshot with its place among the records.
type Point struct {
	Stamp Stamp
	Time  time.Time // of the capture
	Snapshot
}

// Ended returns the time of the end of the session for its order among others: it is not after the capture, so that a
// session from a client with a wrong clock is not the newest for ever. What exceeds the capture counts a 2^32nd, which
// keeps the order of such sessions.
func (p *Point) Ended() time.Time {
	if ahead := p.Ahead(); ahead > 0 {
		return p.Time.Add(ahead >> 32)
	}
	return p.Scan.Last
}

// Ahead returns how far the end of the session is after its capture, 0 if it is not.
func (p *Point) Ahead() time.Duration {
	if p.Time.IsZero() {
		return 0
	}
	return max(0, p.Scan.Last.Sub(p.Time))
}

// L1Share is the estimated ratio of a file to its L1.
const L1Share = 25
