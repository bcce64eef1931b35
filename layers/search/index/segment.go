package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/klauspost/compress/s2"
)

// A Segment is a segment file that is open for reading. It caches one block of texts and one of terms, and is for one
// goroutine.
type Segment struct {
	f       *os.File
	docs    int
	lengths []byte
	classes []byte
	flags   []byte

	docBlocks  []docBlock
	termBlocks []termBlock
	timesAt    int64
	times      []byte

	block []byte // decoded block of texts, the last one read
	base  int64  // base of its times
	docAt []int  // offsets of its documents
	from  int    // its first document, -1 if none was read

	terms []byte // block of terms, the last one read
	inAt  int64  // its offset, 0 if none was read
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

// tailSize is the number of bytes that openSegment reads first: the footer and, of most segments, the directory.
const tailSize = 4 << 10

// openSegment opens the segment that r names in dir.
func openSegment(dir string, r Ref) (*Segment, error) {
	file := filepath.Join(dir, filepath.Base(r.Name))
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	s := &Segment{f: f, from: -1}
	if err = s.open(r.Size); err == nil && s.docs != r.Docs {
		err = ErrDamaged
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: %s", err, file)
	}
	return s, nil
}

// open reads the footer and the directory of a file of the given size.
func (s *Segment) open(size int64) error {
	if size < footerSize {
		return ErrDamaged
	}
	tail := make([]byte, min(size, tailSize))
	if err := s.readAt(tail, size-int64(len(tail))); err != nil {
		return err
	}
	rest, foot := tail[:len(tail)-footerSize], tail[len(tail)-footerSize:]
	if string(foot[footerSize-8:]) != magic || binary.LittleEndian.Uint32(foot[36:]) != sum(foot[:36]) ||
		binary.LittleEndian.Uint32(foot[32:]) != version<<16|TermsVersion {
		return ErrDamaged
	}
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(foot[8*i:])) }
	s.timesAt = at(1)
	var dir []byte
	var err error
	if n := int(at(3)); n >= 0 && n <= len(rest) {
		dir, err = checked(rest[len(rest)-n:])
	} else {
		dir, err = s.read(nil, at(2), n)
	}
	if err != nil {
		return err
	}
	return s.directory(dir, at(0))
}

func (s *Segment) readAt(b []byte, at int64) error {
	if _, err := s.f.ReadAt(b, at); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// checked verifies the checksum in front of a part and returns the rest.
func checked(b []byte) ([]byte, error) {
	if len(b) < 4 || binary.LittleEndian.Uint32(b) != sum(b[4:]) {
		return nil, ErrDamaged
	}
	return b[4:], nil
}

// read reads the part of n bytes at offset at into buf, or into new memory if it does not fit, and verifies it.
func (s *Segment) read(buf []byte, at int64, n int) ([]byte, error) {
	if n < 4 || n > maxPart || at < 0 {
		return nil, ErrDamaged
	}
	b := slices.Grow(buf[:0], n)[:n]
	if err := s.readAt(b, at); err != nil {
		return nil, err
	}
	return checked(b)
}

func (s *Segment) directory(dir []byte, termsAt int64) error {
	d := &decoder{b: dir}
	s.docs = d.count()
	s.lengths, s.classes, s.flags = d.fixed(s.docs), d.fixed(s.docs), d.fixed(s.docs)
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
func (s *Segment) Class(doc int) Class { return Class(s.classes[doc]) }

// Asks reports whether a document ends with a question.
func (s *Segment) Asks(doc int) bool { return Flags(s.flags[doc])&question != 0 }

// Is reports whether a document has one of some flags.
func (s *Segment) Is(doc int, f Flags) bool { return Flags(s.flags[doc])&f != 0 }

// Length returns the packed length of a document; see [Lengths].
func (s *Segment) Length(doc int) byte { return s.lengths[doc] }

// Time returns the time of a document in seconds since 1970.
func (s *Segment) Time(doc int) (int64, error) {
	if s.times == nil {
		var err error
		if s.times, err = s.read(nil, s.timesAt, 4*s.docs+4); err != nil {
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
	raw, err := s.read(nil, b.at, b.length)
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
		d.doc(s.base)
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
}

// Postings returns the postings of a term; the zero Postings if no document contains it.
func (s *Segment) Postings(term string) (Postings, error) {
	i := sort.Search(len(s.termBlocks), func(i int) bool { return s.termBlocks[i].first > term }) - 1
	if i < 0 {
		return Postings{}, nil
	}
	if b := s.termBlocks[i]; s.inAt != b.at {
		var err error
		s.inAt = 0
		if s.terms, err = s.read(s.terms, b.at, b.length); err != nil {
			return Postings{}, err
		}
		s.inAt = b.at
	}
	d := &decoder{b: s.terms}
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
			return Postings{Docs: docs, b: bytes.Clone(postings), doc: -1}, nil
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
	p.b, n = p.b[size:], 1
	if v&1 == 1 {
		c, size := binary.Uvarint(p.b)
		p.b, n = p.b[size:], int(c)
	}
	p.doc += int(v >> 1)
	return p.doc, n, true
}

// Each calls yield with the terms that begin with prefix, in order, and the number of documents that contain each.
func (s *Segment) Each(prefix string, yield func(term string, docs int)) error {
	first := sort.Search(len(s.termBlocks), func(i int) bool { return s.termBlocks[i].first >= prefix })
	for _, b := range s.termBlocks[max(0, first-1):] {
		if b.first > prefix && !strings.HasPrefix(b.first, prefix) {
			break
		}
		raw, err := s.read(nil, b.at, b.length)
		if err != nil {
			return err
		}
		d := &decoder{b: raw}
		var name []byte
		for len(d.b) > 0 {
			same, rest := d.small(), d.bytes()
			docs := d.small()
			d.bytes()
			if d.failed || same > len(name) {
				return ErrDamaged
			}
			if name = append(name[:same], rest...); bytes.HasPrefix(name, []byte(prefix)) {
				yield(string(name), docs)
			}
		}
	}
	return nil
}

func (s *Segment) close() error { return s.f.Close() }
