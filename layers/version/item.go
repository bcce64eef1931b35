// Package version has the form of a version: the items of a session that an engine gets, the segments that it answers with and that
// are stored, and their Markdown.
package version

import (
	"context"
	"strings"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
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
	N        int    // number of its message, from 1; never falls from item to item
	To       int    // last of its messages, if there are several; 0 means N
	X        int    // first message of its exchange; 0: no heading is written
	Time     string // of the exchange, as in L1
	By       string // of the exchange: the command of the client that began it, or why it has no request
	Kind     Kind
	Label    string // see [Segment.Label]
	Text     string
	Target   string // of an Edit: the file; of a plan: its title
	Line     int    // of an Edit: that of the first change, if it is known
	Diff     string // of an Edit: the changed lines
	Added    int    // of an Edit: lines
	Removed  int
	Covers   int  // of the Recap of a compaction: how many messages before N it retells, 0 if none of this session
	Closing  bool // of Assistant: the last words before the user speaks again; of Command: the last one of which it is known how it ended
	Replaced bool // of Assistant: a later text of its exchange says the same, or another cause
	Fixed    int  // of Failure: the message in which the same thing succeeded later, or 0
	Weight   int  // hundredths: a mark that is not kept still makes its text more important
	Kept     bool // of User: Text is that of a mark which a version kept, see Recall of package compress
	Partial  bool // of Answer: Text is not one unbroken piece of what the user typed; of Edit: Diff is not all that changed

	Src [][2]int // its messages, if they are not all of N to To

	Hunks []string // of an Edit: the changed lines of all edits of the file in its exchange
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
		return tokens.Clip(it.Label, 200) + "\n" + it.Text
	}
	if it.Label != "" {
		return "[" + it.Label + "] " + it.Text
	}
	return it.Text
}

// Sources are the messages of the item.
func (it Item) Sources() [][2]int {
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
	Count  tokens.Counter
	Level  keepit.Level
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
