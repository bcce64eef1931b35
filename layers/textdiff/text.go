package textdiff

import (
	"bytes"
	"hash/maphash"
	"sort"
)

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// A LineIndex numbers the lines of texts that are compared: equal lines have the same number.
type LineIndex struct{ known map[[2]uint64]int32 }

// NewLineIndex returns an empty index.
func NewLineIndex() *LineIndex { return &LineIndex{map[[2]uint64]int32{}} }

// A Text is a text that is compared by lines: write it, close it, then read it. Long texts are stored in a
// [Spill].
type Text struct {
	of     *LineIndex
	spill  *Spill
	ids    []int32
	ends   []uint32 // of each line in its chunk
	chunks []int    // number of lines up to the end of each chunk
	last   []byte   // lines after the last chunk
	begun  int      // offset in last of the unfinished line
	open   bool     // the last line has no line end

	at   int // 1 + the chunk in read
	read string
}

// New returns an empty text, stored in spill, which must not be used for anything else while the text is written.
func (l *LineIndex) New(spill *Spill) *Text { return &Text{of: l, spill: spill} }

// chunkSize is the size of a chunk in bytes.
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
		t.endLine()
		b = b[end+1:]
	}
}

func (t *Text) endLine() {
	line := t.last[t.begun:]
	t.ids = append(t.ids, number(t.of.known, [2]uint64{maphash.Bytes(seeds[0], line), maphash.Bytes(seeds[1], line)}))
	t.ends = append(t.ends, uint32(len(t.last)))
	if t.begun = len(t.last); t.begun >= chunkSize {
		t.flush()
	}
}

// flush moves the finished lines to a chunk.
func (t *Text) flush() {
	t.spill.Put(string(t.last))
	t.chunks = append(t.chunks, len(t.ids))
	t.last, t.begun = t.last[:0], 0
}

// Close ends the text. A line end at its end adds no empty line.
func (t *Text) Close() {
	if t.open = len(t.last) > t.begun; t.open {
		t.endLine()
	}
	if len(t.chunks) == 0 || t.chunks[len(t.chunks)-1] < len(t.ids) {
		t.flush()
	}
}

// Err returns the error of reading the text back; then its lines are invalid.
func (t *Text) Err() error { return t.spill.Err() }

func (t *Text) line(i int) string {
	chunk, first := sort.SearchInts(t.chunks, i+1), 0
	if chunk > 0 {
		first = t.chunks[chunk-1]
	}
	if t.at != chunk+1 {
		t.at, t.read = chunk+1, t.spill.At(chunk)
	}
	from := uint32(0)
	if i > first {
		from = t.ends[i-1]
	}
	return t.read[from:t.ends[i]]
}
