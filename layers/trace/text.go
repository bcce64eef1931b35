package trace

import (
	"bytes"
	"hash/maphash"
	"sort"

	"github.com/memvcs/mem/layers/compress"
)

// Lines numbers the lines of texts that are compared: equal ones have one number.
type Lines struct{ known map[[2]uint64]int32 }

// NewLines returns one that knows no text yet.
func NewLines() *Lines { return &Lines{map[[2]uint64]int32{}} }

// A Text is a text that is compared by lines: written, closed, then read. Where there is much of it, it is put aside.
type Text struct {
	of     *Lines
	aside  *compress.Aside
	ids    []int32
	ends   []uint32 // of each line in its chunk
	chunks []int    // how many lines there are up to the end of each
	last   []byte   // lines that are in no chunk yet
	begun  int      // where in last a line begins that has no end yet
	open   bool     // the last line has no end

	at   int // 1 + the chunk that was read last
	read string
}

// New returns an empty text. Aside is where it is put; it must be used for nothing else as long as the text is written.
func (l *Lines) New(aside *compress.Aside) *Text { return &Text{of: l, aside: aside} }

// chunkSize is how many bytes of lines are put aside together.
const chunkSize = 64 << 10

// Write appends to the text. It never fails.
func (t *Text) Write(b []byte) (int, error) {
	n := len(b)
	for {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			t.last = append(t.last, b...)
			return n, nil
		}
		t.last = append(t.last, b[:end]...)
		t.end()
		b = b[end+1:]
	}
}

// end ends a line.
func (t *Text) end() {
	line := t.last[t.begun:]
	t.ids = append(t.ids, number(t.of.known, [2]uint64{maphash.Bytes(seeds[0], line), maphash.Bytes(seeds[1], line)}))
	t.ends = append(t.ends, uint32(len(t.last)))
	if t.begun = len(t.last); t.begun >= chunkSize {
		t.put()
	}
}

// put puts the lines aside that have an end.
func (t *Text) put() {
	t.aside.Put(string(t.last))
	t.chunks = append(t.chunks, len(t.ids))
	t.last, t.begun = t.last[:0], 0
}

// Close ends the text. A line end more or less at its end makes no line.
func (t *Text) Close() {
	if t.open = len(t.last) > t.begun; t.open {
		t.end()
	}
	if len(t.chunks) == 0 || t.chunks[len(t.chunks)-1] < len(t.ids) {
		t.put()
	}
}

// Err is what went wrong when the text was read back: its lines are worth nothing then.
func (t *Text) Err() error { return t.aside.Err() }

// line returns line i.
func (t *Text) line(i int) string {
	chunk, first := sort.SearchInts(t.chunks, i+1), 0
	if chunk > 0 {
		first = t.chunks[chunk-1]
	}
	if t.at != chunk+1 {
		t.at, t.read = chunk+1, t.aside.At(chunk)
	}
	from := uint32(0)
	if i > first {
		from = t.ends[i-1]
	}
	return t.read[from:t.ends[i]]
}
