package index

import (
	"bufio"
	"encoding/binary"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/s2"
)

// The segment format. A change of it raises the version; an index of another version is rebuilt.
const (
	version    = 3
	magic      = "memseg\x00\x01"
	footerSize = 4*8 + 4 + 4 + 8

	blockText  = 16 << 10 // approximate bytes of text in a block
	blockTerms = 4 << 10  // approximate bytes of terms and postings in a block
)

// FileTerm returns the term of all documents about files with the base name of file, in lower case.
func FileTerm(file string) string {
	return "\x01" + strings.ToLower(path.Base(strings.ReplaceAll(file, "\\", "/")))
}

// A builder writes a segment.
type builder struct {
	w   *bufio.Writer
	off int64
	err error

	cut    *Cutter
	ids    map[string]uint32
	lists  []postingList
	memory int // approximate bytes in lists
	words  int // in all documents
	tools  int // words of tool calls

	lengths, classes, flags []byte
	times                   []uint32

	block     []byte // of texts
	blockBase int64
	docBlocks []byte // directory
	nBlocks   int
	inBlock   int // documents
}

// A postingList contains the encoded postings of a term: for each document twice the distance from the previous
// document, plus one if the term occurs more than once, followed by the number of occurrences in that case.
type postingList struct {
	b    []byte
	docs uint32
	last uint32 // document, plus one
	n    uint32 // of the last document, not in b yet
	prev uint32 // document before the last, plus one
}

// add counts one occurrence in doc and returns the number of bytes that the list grew by.
func (l *postingList) add(doc uint32) (grown int) {
	if l.last == doc+1 {
		l.n++
		return 0
	}
	before := len(l.b)
	l.flush()
	l.prev, l.last, l.n = l.last, doc+1, 1
	l.docs++
	return len(l.b) - before
}

func (l *postingList) flush() {
	if l.last == 0 {
		return
	}
	delta := uint64(l.last-l.prev) << 1
	if l.n == 1 {
		l.b = binary.AppendUvarint(l.b, delta)
		return
	}
	l.b = binary.AppendUvarint(binary.AppendUvarint(l.b, delta|1), uint64(l.n))
}

func newBuilder(w io.Writer) *builder {
	b := &builder{w: bufio.NewWriterSize(w, 64<<10), cut: &Cutter{}, ids: map[string]uint32{}}
	b.write([]byte(magic))
	return b
}

func (b *builder) write(p []byte) {
	if b.err == nil {
		_, b.err = b.w.Write(p)
	}
	b.off += int64(len(p))
}

// checked writes the checksum of p and then p. It returns the length of both.
func (b *builder) checked(p []byte) int {
	b.write(binary.LittleEndian.AppendUint32(nil, sum(p)))
	b.write(p)
	return len(p) + 4
}

// docs returns the number of documents.
func (b *builder) docs() int { return len(b.lengths) }

func (b *builder) add(d Doc) {
	doc := uint32(b.docs())
	n := 0
	b.cut.Each(d.Text, func(t Term) {
		b.post(t.Text, doc)
		if !t.Whole {
			n++
		}
	})
	b.cut.Each(d.Symbols, func(t Term) { b.post(t.Text, doc) })
	for file := range strings.SplitSeq(d.File, "\n") {
		if file != "" {
			b.post([]byte(FileTerm(file)), doc)
		}
	}
	b.lengths = append(b.lengths, packLength(n))
	b.words += n
	if d.Class == Tool {
		b.tools += n
	}
	b.classes = append(b.classes, byte(d.Class))
	if asks(d.Text) {
		d.Flags |= question
	}
	b.flags = append(b.flags, byte(d.Flags))
	b.times = append(b.times, uint32(max(0, min(d.Time, math.MaxUint32))))
	if len(b.block) == 0 {
		b.blockBase = d.Time
		b.block = appendInt(b.block, d.Time)
	}
	b.block = appendDoc(b.block, d, b.blockBase)
	b.inBlock++
	if len(b.block) >= blockText {
		b.flushBlock()
	}
}

func (b *builder) post(term []byte, doc uint32) {
	id, ok := b.ids[string(term)]
	if !ok {
		id = uint32(len(b.lists))
		b.ids[string(term)] = id
		b.lists = append(b.lists, postingList{})
		b.memory += len(term) + 100
	}
	b.memory += b.lists[id].add(doc)
}

// flushBlock compresses and writes the current block of texts.
func (b *builder) flushBlock() {
	if b.inBlock == 0 {
		return
	}
	n := b.checked(s2.EncodeBetter(nil, b.block))
	b.docBlocks = appendUint(appendUint(b.docBlocks, b.inBlock), n)
	b.nBlocks++
	b.block, b.inBlock = b.block[:0], 0
}

// finish writes the rest of the segment and returns its size.
func (b *builder) finish() (int64, error) {
	b.flushBlock()
	termsAt := b.off
	termBlocks, n := b.finishTerms()
	timesAt := b.off
	var times []byte
	for _, t := range b.times {
		times = binary.LittleEndian.AppendUint32(times, t)
	}
	b.checked(times)
	dirAt := b.off
	dir := appendUint(nil, b.docs())
	dir = append(append(append(dir, b.lengths...), b.classes...), b.flags...)
	dir = append(appendUint(dir, b.nBlocks), b.docBlocks...)
	dir = append(appendUint(dir, n), termBlocks...)
	length := b.checked(dir)
	var foot []byte
	for _, v := range []int64{termsAt, timesAt, dirAt, int64(length)} {
		foot = binary.LittleEndian.AppendUint64(foot, uint64(v))
	}
	foot = binary.LittleEndian.AppendUint32(foot, version<<16|TermsVersion)
	foot = binary.LittleEndian.AppendUint32(foot, sum(foot))
	b.write(append(foot, magic...))
	if b.err == nil {
		b.err = b.w.Flush()
	}
	return b.off, b.err
}

// finishTerms writes the blocks of terms and returns their directory.
func (b *builder) finishTerms() (dir []byte, n int) {
	var block []byte
	first, last := "", ""
	flush := func() {
		if len(block) == 0 {
			return
		}
		dir = appendUint(appendString(dir, first), b.checked(block))
		n++
		block, last = block[:0], ""
	}
	for _, t := range slices.Sorted(maps.Keys(b.ids)) {
		if len(block) == 0 {
			first = t
		}
		l := &b.lists[b.ids[t]]
		l.flush()
		same := commonPrefix(last, t)
		block = appendString(appendUint(block, same), t[same:])
		block = append(appendUint(appendUint(block, int(l.docs)), len(l.b)), l.b...)
		last = t
		if len(block) >= blockTerms {
			flush()
		}
	}
	flush()
	return dir, n
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// asks reports whether there is a question mark in the last 80 bytes of text.
func asks(text string) bool {
	return strings.ContainsAny(text[max(0, len(text)-80):], "?？")
}

// packLength encodes a length in one byte: exactly up to 40, in logarithmic steps above.
func packLength(n int) byte {
	if n <= 40 {
		return byte(n)
	}
	return byte(min(255, 40+int(math.Round(16*math.Log2(float64(n)/40)))))
}

// Lengths returns the number of words that each packed length stands for.
func Lengths() (t [256]float32) {
	for i := range t {
		t[i] = float32(i)
		if i > 40 {
			t[i] = float32(40 * math.Exp2(float64(i-40)/16))
		}
	}
	return t
}
