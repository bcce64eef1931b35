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

// ErrDamaged reports that a file of an index is malformed, fails its checksum or has another version.
var ErrDamaged = errors.New("search index is damaged")

// A Class is the kind of a document. Files contain the numbers.
type Class byte

// The classes of documents.
const (
	User Class = iota + 1 // typed by the user
	Assistant
	Tool
	Summary  // a compact summary
	PlanSent // a plan of the assistant, accepted by the user
	Script   // typed by a script in a headless run
	Agent    // the prompt of an agent to a subagent
	Note     // written by the client or another agent
	About    // title, branch and date of a session
	Fact
	Concept
	Rule
	Version
	Composition
	ClaudeNote // a file that Claude Code wrote for itself
	Pending    // what a session left open, or the user rejected; found only when it is asked for
	classes
)

// Messages returns the classes of messages.
func Messages() []Class {
	return []Class{User, Assistant, Tool, Summary, PlanSent, Script, Agent, Note}
}

// Role returns the author of a message of a class, "" for another class.
func (c Class) Role() string {
	switch c {
	case User:
		return "user"
	case Assistant:
		return "assistant"
	case Tool:
		return "tool"
	case Summary:
		return "summary"
	case PlanSent:
		return "plan"
	case Script:
		return "script"
	case Agent:
		return "agent"
	case Note:
		return "note"
	}
	return ""
}

// Flags say more about a document. Files contain them.
type Flags byte

// The flags.
const (
	Begins   Flags = 1 << iota // the request of an exchange
	Outcome                    // the last text of the assistant in an exchange
	Edit                       // a change of a file
	Weak                       // it only reads, searches or deletes, or a later edit of the exchange replaced it
	Rewound                    // the user withdrew it
	Copy                       // another session has it too, and is found by it
	question                   // it ends with a question; the builder sets it
)

// A Doc is one search result: a message, fact, rule or other text.
type Doc struct {
	N        int // number of the message; 0 if it is not a message
	To       int // the last message that the text comes from: of a call that with its result; 0 is N
	Exchange int // number of the first message of its exchange
	Class    Class
	Flags    Flags
	Time     int64  // seconds since 1970
	ID       string // UUID of a message, ID of a fact, concept or rule
	Name     string // of a tool or composition, kind of a fact, label of a version
	File     string // paths that the tool call is about, separated by newlines
	Text     string
	Said     int    // length of the start of Text that is not the output of a tool; of [Tool]
	Symbols  string // names that an edit changes; they are found, but not part of Text
}

// A Session contains the metadata of a session that search needs. Times are seconds since 1970.
type Session struct {
	ID, Title, Branch, Parent, Device string
	First, Last                       int64
	Topics                            []string
	Marks                             []Mark
}

// A Mark is the weight of a marker in a message.
type Mark struct{ N, Weight int }

// A Span is a run of documents in a segment that come from one [Source].
type Span struct {
	Source    string // name of the source
	Version   string // of its content
	Session   int    // index in Sessions; -1 if there is no session
	Segment   int
	First     int
	Count     int
	Words     int // in all documents of the span
	ToolWords int // in those of class [Tool]
}

// A Head lists the contents of an index.
type Head struct {
	Key      string // identifies the state that the index was built from
	Segments []Ref
	Spans    []Span // by segment and first document
	Sessions []Session
}

// A Ref names a segment.
type Ref struct {
	Name string
	Docs int
	Size int64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }
