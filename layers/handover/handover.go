// Package handover chooses what the next session, a prompt or a compaction gets from earlier sessions.
//
// A [Digest] summarises a session in a few kilobytes: requests and answers, files read and edited, commands and their
// results, what is open. [Summarize] takes it from the session's exchanges, which say what was asked, done and answered, and
// it is cached, so that choosing reads no transcript. [Start], [Prompt] and [Compaction] are pure functions from digests to sections of a [brief.Sheet]. Each
// section has a limit, and each line names its source, who said it and why it was chosen.
//
// Output of tools is never quoted. Names of files, commands and tests must pass the grammar of package brief. Free text
// is only what the user typed or the model wrote, without the passages that the model repeats from the output of tools.
package handover

import (
	"cmp"
	"time"

	"github.com/memvcs/mem/layers/exchange"
)

// Version changes when the digest of the same session changes.
const Version = 44

// A Digest summarises one session.
type Digest struct {
	Session string
	Fork    string // the session that it was made from, "" if it is no fork
	Last    time.Time
	Dir     string // working directory
	Branch  string
	Days    []Day    // on which it was worked on, in order
	Copies  [][2]int // messages of another session, which are left out

	Turns    []Turn // the first and the newest, in order
	Files    []File
	Commands []Command // in order of first run
	Passes   []string  // the last sentences of the model that say that checks pass, after the last failure
	Broken   []Form    // commands that failed for a reason of their form and did not succeed later
	Worked   []int     // the keys of commands that succeeded, as [hashKey] shortens them; sorted
	Wants    []Want    // what the user corrected, chose and refused, the newest last
	Lasting  []Said    // his sentences that say how to work, not what to do at once, the newest last
	Open     []Open    // refused plans, questions without an answer and todos
	Marked   []Said    // typed messages with a marker, in their text or added; whole

	Uncommitted string // that no commit was seen after the last change of a file, or ""
	Changed     []int  // messages of the last changes of the files that were not committed
	Committed   int    // the message of the last commit, or 0
}

// A Day is a day of UTC with the first message of it: a session may be continued on another one.
type Day struct {
	N    int
	Date string // "2026-01-15"
}

// Said is a text of a message. At is the message with its words if they are in another one, see [transcript.Said].
type Said struct {
	N    int
	Text string
	At   int
}

// source returns the message to cite.
func (s Said) source() int { return cmp.Or(s.At, s.N) }

// A Turn is a request of the user and the last text of the model before the next request.
type Turn struct {
	Asked    Said   // the user's own words, without what he pasted
	To       string // the question of the model that a short request answers, or ""
	Then     []Want // what the user chose or refused since; the answer is what follows the last of them
	Seq      int    // number of the request in the session
	Answered Said   // see [Gist]
	Script   bool   // a script sent the request; its text is not kept
	Plan     string // the heading of the plan that the request consists of, or ""
	Did      int    // calls of tools with a result, and answered dialogs
	Long     bool   // the answer is long
	Asks     string // the question with which the answer ends, or ""
	Working  int    // the message of the last tool call if the model wrote no text after it, otherwise 0
	Stopped  int    // the message with which the user interrupted it, 0 if the model went on
	Gone     int    // the last message after the answer that the user had forgotten, or 0
	Settled  string // what became of a sentence that [settle] removed from the answer, or ""
}

// A Want is a text of the user that says what he wants. Lead is what he did, in words of mem, and To the question that he
// answered, or "".
type Want struct {
	Said
	Lead, To string
}

// Open is something that waits for the user, or the last plan that the user accepted.
type Open struct {
	N    int
	What exchange.Kind
	Text string
}

// A File is a file that a session read or edited.
type File struct {
	Path    string
	Edits   int
	Reads   int
	N       int // the last message that touched it
	Edited  int // the last message that edited it
	Symbols []string
}

// An Outcome is the result of a command.
type Outcome int

// The outcomes. Unknown is a command whose end nothing proves: one behind a pipe, in the background, or interrupted.
const (
	Unknown Outcome = iota
	Passed
	Broke
)

// A Command is a command that a session ran. What selects some of the tests belongs to it: a run of one test says nothing of
// all. The other arguments and N are those of the last run. End and Exit are, too, but for a run with an unknown end after one
// that failed.
type Command struct {
	Name string // program and subcommand: "go test"; see [placed]
	Part string // the arguments that select some of the tests and where they are, in names, or ""
	Args string // "" unless they are plain names
	Task string // the command that it stands for, or ""
	N    int    // message
	Runs int
	End  Outcome
	Exit int

	// of one that failed: how many tests did, the names of the first, and what passed later; of one that passes since, what says so
	Tests  int
	Failed []string
	Later  string
	Since  int    // the message of the run that failed
	Mended string // what suggests that it passes since, though no run shows it, or ""
}
