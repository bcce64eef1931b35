package compress

import (
	"context"
)

// Kind is the kind of an [Item].
type Kind uint8

// The kinds of items.
const (
	User      Kind = iota // what the user typed
	Answer                // what the user answered to a question or a call
	Assistant             // what the assistant said
	Recap                 // a summary that the client made of earlier messages
	Call                  // a call of a tool, on one line
	Command               // a shell command, on one line with its outcome
	Edit                  // a change of the file Target; Text lists the symbols it touched
	Failure               // error lines of a result
	Output                // other text that a tool returned; only read when there is room for it
	Diff                  // the changed lines of an edit; only read when there is room for them
	Script                // what a script typed or answered in a headless run: no marker counts in it
)

// An Item is one entry of a session as a compression sees it.
type Item struct {
	N       int // number of its message, from 1; never falls from item to item
	To      int // last of its messages, if there are several; 0 means N
	Kind    Kind
	Text    string
	Target  string // of an Edit: the file
	Line    int    // of an Edit: that of the first change, if it is known
	Closing bool   // of Assistant: the last words before the user speaks again
	Weight  int    // hundredths: a mark that is not kept still makes its text more important
	Kept    bool   // of User: Text is that of a mark which a version kept, see [Recall]
	Partial bool   // of Answer: Text is not one unbroken piece of what the user typed

	Src [][2]int // its messages, if they are not all of N to To

	spilled int32 // 1 + the place of its text in the spill file; 0: it is in Text
	size    int32 // of the text in the spill file
}

// length is the bytes of the text of the item.
func (it *Item) length() int { return len(it.Text) + int(it.size) }

// sources are the messages of the item.
func (it Item) sources() [][2]int {
	if it.Src != nil {
		return it.Src
	}
	return [][2]int{{it.N, max(it.N, it.To)}}
}

// Segment is a part of a version: what was said in some messages, in fewer words, or kept word for word.
type Segment struct {
	Role string   `json:"role"` // user, assistant or tool
	Text string   `json:"text"`
	Src  [][2]int `json:"src"`            // the messages it stands for: first and last of each run
	Keep string   `json:"keep,omitempty"` // the weight of the mark whose text this is, byte for byte

	Partial bool `json:"partial,omitempty"` // of the user: it is not one unbroken piece of what was typed
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
}

// Summarizer says the same in fewer words. An answer may be shorter than the budget, never longer; each segment names
// messages of the request. ID names the engine and its version for recipes: equal IDs and requests give equal answers.
type Summarizer interface {
	Summarize(ctx context.Context, req Request) (Summary, error)
	ID() string
}
