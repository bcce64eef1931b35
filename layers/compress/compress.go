// Package compress makes versions: a session in fewer tokens.
//
// [Resolve] makes all decisions of a compression and returns a [Plan]; [Run] carries it out. Kept texts of markers go
// around every engine and are put back byte for byte.
//
// The engine without a model, [Extract], writes a digest of exchanges (package exchange): under a heading, the request
// as it was typed, what was said, answers and refusals, failures, files and commands, in the order of the session. A
// line of a version is one unbroken piece of a line of the session, whole sentences of it joined by " … ", or a list
// with a mark such as [files]. No word is removed from within a sentence. What is said comes before code, which appears
// only as whole changes in code blocks; of a failure there is the line that tells most.
//
// The engine orders everything that a version could say: first a short line of each exchange with what was asked and what
// came of it, then the rest of these lines and the first answers to questions, then what long replies choose from, and
// then by value: reasons, decisions and problems before the narration of steps, later exchanges before earlier ones. The
// items of a list that are left out are named. The order does not depend on the budget, so that a version is a beginning
// of it: a larger budget keeps all that a smaller one says.
//
// Long blocks of code and the announcements of steps come last, and of a long paste there is the beginning. When
// everything was said, code follows, up to a third of the version. At the aggressive level there are no announcements, no
// reports of agents and no changed lines, and of a plan only its beginning, unless there is much room. A version is
// smaller than its budget when there is nothing left that is worth reading.
package compress

import (
	"context"
	"strings"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
)

// Level and Counter are the types of packages keepit and tokens.
type (
	Level   = keepit.Level
	Counter = tokens.Counter
)

// Kind is the kind of an [Item].
type Kind uint8

// The kinds of items.
const (
	User      Kind = iota // a request that the user typed
	Answer                // what the user answered to a question, or why he refused a call
	Assistant             // what the assistant said
	Recap                 // a summary of a compaction, the report of an agent, a copied prompt: Label says which
	Call                  // a call of a tool, or a note of the client, on one line
	Command               // a shell command, on one line with its outcome
	Edit                  // a change of the file Target
	Failure               // error lines of a result; Label names what failed
	Script                // what a script typed or answered in a headless run: no marker counts in it
)

// An Item is one part of an exchange as a compression sees it.
type Item struct {
	N       int    // number of its message, from 1; never falls from item to item
	To      int    // last of its messages, if there are several; 0 means N
	X       int    // first message of its exchange; 0: no heading is written
	Time    string // of the exchange, as in L1
	By      string // of the exchange: the command of the client that began it, or why it has no request
	Kind    Kind
	Label   string // see [Segment.Label]
	Text    string
	Target  string // of an Edit: the file
	Line    int    // of an Edit: that of the first change, if it is known
	Diff    string // of an Edit: the changed lines
	Added   int    // of an Edit: lines
	Removed int
	Covers  int  // of the Recap of a compaction: how many messages before N it retells, 0 if none of this session
	Closing bool // of Assistant: the last words before the user speaks again
	Fixed   int  // of Failure: the message in which the same thing succeeded later, or 0
	Weight  int  // hundredths: a mark that is not kept still makes its text more important
	Kept    bool // of User: Text is that of a mark which a version kept, see [Recall]
	Partial bool // of Answer: Text is not one unbroken piece of what the user typed; of Edit: Diff is not all that changed

	Src [][2]int // its messages, if they are not all of N to To

	hunks []string // of an Edit: the changed lines of all edits of the file in its exchange
}

// String returns the item as text, without its number: what was said, or what was done.
func (it *Item) String() string {
	switch it.Kind {
	case Edit:
		return strings.TrimSpace("changed " + it.Target + "\n" + it.Diff)
	case Command:
		if it.Label != "" {
			return "$ " + it.Text + " → " + it.Label
		}
		return "$ " + it.Text
	case Call:
		return strings.TrimSpace(it.Target + " " + it.Text)
	case Failure:
		return oneLine(it.Label, 200) + "\n" + it.Text
	}
	if it.Label != "" {
		return "[" + it.Label + "] " + it.Text
	}
	return it.Text
}

// sources are the messages of the item.
func (it Item) sources() [][2]int {
	if it.Src != nil {
		return it.Src
	}
	return [][2]int{{it.N, max(it.N, it.To)}}
}

// Segment is a part of a version: what was said in some messages, in fewer words, or kept word for word.
type Segment struct {
	Role string   `json:"role"` // user, script, assistant, tool, or heading: the beginning of an exchange
	Text string   `json:"text"`
	Src  [][2]int `json:"src"`            // the messages it stands for: first and last of each run
	Keep string   `json:"keep,omitempty"` // the weight of the mark whose text this is, byte for byte

	Label   string `json:"label,omitempty"`   // what mem says of Text; it is written before it in brackets
	Code    string `json:"code,omitempty"`    // Text is written as a block of this kind of code: diff or text
	Partial bool   `json:"partial,omitempty"` // of the user: it is not one unbroken piece of what was typed
}

// Request asks for the text of items in at most Budget tokens, as Counter counts [Text] of the answer.
type Request struct {
	Items  []Item
	Budget int
	Count  Counter
	Level  Level
}

// Summary is an answer to a [Request].
type Summary struct {
	Segments []Segment // in the order of their messages
	Whole    bool      // a larger budget would change nothing
}

// Summarizer says the same in fewer words. An answer may be shorter than the budget, never longer; each segment names
// messages of the request. ID names the engine and its version for recipes: equal IDs and requests give equal answers.
type Summarizer interface {
	Summarize(ctx context.Context, req Request) (Summary, error)
	ID() string
}
