// Package index stores the documents of a search index on disk.
//
// An index is a directory with immutable segments and a head that names the current ones. A [Doc] is a message, a
// fact, a rule or any other search result. The documents of one source, such as a session, are a [Span] of a segment
// and are replaced together. A segment is written once: texts in compressed blocks, then the terms in sorted blocks,
// each with its postings, then a directory. Every block has a checksum, so damage is detected when a file is read;
// the caller then deletes the index and builds it again. No other recovery is needed, because an index contains only
// data that can be computed from the records.
//
// One process at a time writes ([Update]). Readers ([Open]) never wait: they read the head, open the segments that
// it names and keep them open during later writes. docs/formats.md describes the files.
package index

import (
	"errors"
	"hash/crc32"
)

// ErrDamaged says that a file of an index is not what was written, or of another version.
var ErrDamaged = errors.New("search index is damaged")

// A Class is the kind of a document. Files contain the numbers.
type Class byte

// The classes of documents.
const (
	User Class = iota + 1 // typed by the user
	Assistant
	Tool
	Summary // a compact summary
	Note    // written by the client
	About   // title, branch and date of a session
	Fact
	Concept
	Rule
	Version
	Composition
	classes
)

// A Doc is one thing that can be found.
type Doc struct {
	N     int // of the message; 0 if it is none
	Class Class
	Time  int64  // seconds since 1970
	ID    string // uuid of a message, name of a fact
	Name  string // of a tool, a kind of fact, the label of a version
	File  string // that the tool call is about; several if newlines are in it
	Text  string
}

// A Session is what searching needs to know of a session.
type Session struct {
	ID, Title, Branch, Parent, Device string
	First, Last                       int64
	Topics                            []string
	Marks                             []Mark
}

// A Mark is the weight of a marker in a message.
type Mark struct{ N, Weight int }

// Sessions is an immutable list of sessions, which are decoded when they are asked for.
type Sessions struct {
	b  []byte
	at []int // where each begins
}

// Len returns the number of sessions.
func (l Sessions) Len() int { return len(l.at) }

// At returns session i.
func (l Sessions) At(i int) (s Session) {
	s.decode(&decoder{b: l.b[l.at[i]:]})
	return s
}

// encodeSessions makes a list.
func encodeSessions(all []Session) (l Sessions) {
	for i := range all {
		one := all[i].encode(nil)
		l.b = appendUint(l.b, len(one))
		l.at = append(l.at, len(l.b))
		l.b = append(l.b, one...)
	}
	return l
}

// A Span is the documents of one thing in a segment.
type Span struct {
	Source    string // name of the thing
	Version   string // of its content
	Session   int    // in Sessions; -1 if it belongs to none
	Segment   int
	First     int
	Count     int
	Words     int // in all of them
	ToolWords int // in those of class [Tool]
}

// A Head is what an index consists of.
type Head struct {
	Key      string // of the state that it was made from
	Segments []Ref
	Spans    []Span // by segment and first document
	Sessions Sessions
}

// A Ref names a segment.
type Ref struct {
	Name string
	Docs int
	Size int64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }
