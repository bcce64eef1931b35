package index

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sort"

	"github.com/klauspost/compress/s2"
	"github.com/memvcs/mem/layers/search/terms"
)

// A Segment is a segment file that is open for reading. It caches one block and is for one goroutine.
type Segment struct {
	f       *os.File
	docs    int
	lengths []byte
	classes []byte

	docBlocks  []docBlock
	termBlocks []termBlock
	timesAt    int64
	times      []byte

	block []byte // decoded block of texts, the last one read
	base  int64  // base of its times
	docAt []int  // offsets of its documents
	from  int    // its first document, -1 if none was read
}

type docBlock struct {
	first  int
	at     int64
	length int
}

type termBlock struct {
	first  string
	at     int64
	length int
}

// maxPart is the most bytes that one part of a segment may have.
const maxPart = 1 << 30

func openSegment(file string) (*Segment, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	s := &Segment{f: f, from: -1}
	if err := s.open(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: %s", err, file)
	}
	return s, nil
}

func (s *Segment) open() error {
	fi, err := s.f.Stat()
	if err != nil {
		return err
	}
	foot := make([]byte, footerSize)
	if fi.Size() < footerSize {
		return ErrDamaged
	}
	if _, err := s.f.ReadAt(foot, fi.Size()-footerSize); err != nil {
		return err
	}
	if string(foot[footerSize-8:]) != magic || binary.LittleEndian.Uint32(foot[36:]) != sum(foot[:36]) ||
		binary.LittleEndian.Uint32(foot[32:]) != version<<16|terms.Version {
		return ErrDamaged
	}
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(foot[8*i:])) }
	s.timesAt = at(1)
	dir, err := s.read(at(2), int(at(3)))
	if err != nil {
		return err
	}
	return s.directory(dir, at(0))
}

// read reads n bytes at offset at, verifies their checksum and returns the rest.
func (s *Segment) read(at int64, n int) ([]byte, error) {
	if n < 4 || n > maxPart || at < 0 {
		return nil, ErrDamaged
	}
	b := make([]byte, n)
	if _, err := s.f.ReadAt(b, at); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if binary.LittleEndian.Uint32(b) != sum(b[4:]) {
		return nil, ErrDamaged
	}
	return b[4:], nil
}

func (s *Segment) directory(dir []byte, termsAt int64) error {
	d := &decoder{b: dir}
	s.docs = d.count()
	s.lengths, s.classes = d.fixed(s.docs), d.fixed(s.docs)
	n := d.count()
	s.docBlocks = make([]docBlock, 0, n)
	doc, at := 0, int64(len(magic))
	for range n {
		b := docBlock{doc, at, 0}
		doc += d.small()
		b.length = d.small()
		at += int64(b.length)
		s.docBlocks = append(s.docBlocks, b)
	}
	n = d.count()
	s.termBlocks = make([]termBlock, 0, n)
	at = termsAt
	for range n {
		b := termBlock{first: d.string(), at: at, length: d.small()}
		at += int64(b.length)
		s.termBlocks = append(s.termBlocks, b)
	}
	if d.failed || len(d.b) > 0 || doc != s.docs {
		return ErrDamaged
	}
	return nil
}

// Docs returns the number of documents.
func (s *Segment) Docs() int { return s.docs }

// Class returns the class of a document.
func (s *Segment) Class(doc int) Class { return Class(s.classes[doc] &^ question) }

// Asks reports whether a document ends with a question.
func (s *Segment) Asks(doc int) bool { return s.classes[doc]&question != 0 }

// Length returns the packed length of a document; see [Lengths].
func (s *Segment) Length(doc int) byte { return s.lengths[doc] }

// Time returns the time of a document in seconds since 1970.
func (s *Segment) Time(doc int) (int64, error) {
	if s.times == nil {
		var err error
		if s.times, err = s.read(s.timesAt, 4*s.docs+4); err != nil {
			return 0, err
		}
	}
	return int64(binary.LittleEndian.Uint32(s.times[4*doc:])), nil
}

// Doc reads a document.
func (s *Segment) Doc(doc int) (Doc, error) {
	i := sort.Search(len(s.docBlocks), func(i int) bool { return s.docBlocks[i].first > doc }) - 1
	if i < 0 || doc >= s.docs {
		return Doc{}, ErrDamaged
	}
	b := s.docBlocks[i]
	if s.from != b.first {
		if err := s.readBlock(i); err != nil {
			return Doc{}, err
		}
	}
	if doc-b.first >= len(s.docAt) {
		return Doc{}, ErrDamaged
	}
	d := &decoder{b: s.block[s.docAt[doc-b.first]:]}
	return d.doc(s.base), nil
}

func (s *Segment) readBlock(i int) error {
	b := s.docBlocks[i]
	raw, err := s.read(b.at, b.length)
	if err != nil {
		return err
	}
	n, err := s2.DecodedLen(raw)
	if err != nil || n > maxPart {
		return ErrDamaged
	}
	s.from = -1
	if s.block, err = s2.Decode(s.block[:cap(s.block)], raw); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	d := &decoder{b: s.block}
	s.base, s.docAt = d.int(), s.docAt[:0]
	for len(d.b) > 0 && !d.failed {
		s.docAt = append(s.docAt, len(s.block)-len(d.b))
		d.skipDoc()
	}
	if d.failed {
		return ErrDamaged
	}
	s.from = b.first
	return nil
}

// Postings iterates over the documents that contain a term.
type Postings struct {
	Docs int
	b    []byte
	doc  int
	bad  bool
	max  int // number of documents of the segment
}

// Postings returns the postings of a term; the zero Postings if no document contains it.
func (s *Segment) Postings(term string) (Postings, error) {
	i := sort.Search(len(s.termBlocks), func(i int) bool { return s.termBlocks[i].first > term }) - 1
	if i < 0 {
		return Postings{}, nil
	}
	raw, err := s.read(s.termBlocks[i].at, s.termBlocks[i].length)
	if err != nil {
		return Postings{}, err
	}
	d := &decoder{b: raw}
	var name []byte
	for len(d.b) > 0 {
		same := d.small()
		rest := d.bytes()
		docs, postings := d.small(), d.bytes()
		if d.failed || same > len(name) {
			return Postings{}, ErrDamaged
		}
		name = append(name[:same], rest...)
		if string(name) == term {
			return Postings{Docs: docs, b: postings, doc: -1, max: s.docs}, nil
		}
		if string(name) > term {
			break
		}
	}
	return Postings{}, nil
}

// Next returns the next document and the number of occurrences in it; ok is false at the end.
func (p *Postings) Next() (doc, n int, ok bool) {
	if len(p.b) == 0 {
		return 0, 0, false
	}
	v, size := binary.Uvarint(p.b)
	if size <= 0 {
		p.bad, p.b = true, nil
		return 0, 0, false
	}
	p.b = p.b[size:]
	n = 1
	if v&1 == 1 {
		c, size := binary.Uvarint(p.b)
		if size <= 0 {
			p.bad, p.b = true, nil
			return 0, 0, false
		}
		p.b, n = p.b[size:], int(c)
	}
	p.doc += int(v >> 1)
	if p.doc >= p.max || p.doc < 0 {
		p.bad, p.b = true, nil
		return 0, 0, false
	}
	return p.doc, n, true
}

// Damaged reports whether Next stopped early because the postings are malformed.
func (p *Postings) Damaged() bool { return p.bad }

// Terms returns all terms of the segment, sorted, for tests and for fsck.
func (s *Segment) Terms() (all []string, err error) {
	for _, b := range s.termBlocks {
		raw, err := s.read(b.at, b.length)
		if err != nil {
			return nil, err
		}
		d := &decoder{b: raw}
		var name []byte
		for len(d.b) > 0 {
			same, rest := d.small(), d.bytes()
			d.small()
			d.bytes()
			if d.failed || same > len(name) {
				return nil, ErrDamaged
			}
			name = append(name[:same], rest...)
			all = append(all, string(name))
		}
	}
	if !slices.IsSorted(all) {
		return nil, ErrDamaged
	}
	return all, nil
}

func (s *Segment) close() error { return s.f.Close() }
