// Package handover chooses what the next session, a prompt or a compaction is given of earlier sessions.
//
// A [Digest] is what one session did, in a few kilobytes: what was asked and answered, the files that were read
// and edited, the commands that ran and how they ended, the tests that failed, the todos. It is made from the
// session's L1 by [Summarize] and kept in the cache, so that choosing reads no transcript. [Start], [Prompt]
// and [Compaction] are pure functions from digests, and whatever else is known of the project, to a
// [brief.Sheet]. Each part has a cap of its own, each line names its source, who said it and why it was chosen.
//
// Nothing that only a tool printed is quoted. Names of files, commands and tests pass a pattern that can be
// nothing but a name ([FileName], [TestName], [BranchName]); free text is what the user typed or the model
// wrote.
package handover

import (
	"time"
)

// Version changes when the same session gives another digest.
const Version = 1

// A Digest is what one session did.
type Digest struct {
	Session     string
	First, Last time.Time
	Dir         string // working directory
	Branch      string

	Turns    []Turn    // the newest, in order
	Files    []File    // in order of first touch
	Commands []Command // in order of last run
	Failed   []Failure // tests that failed last and were not seen to pass, in order
	Todos    []Todo    // that were not completed, in order
	Marked   []Said    // whole typed messages that have a marker, in their text or added
	Compact  int       // the message of the last compaction, 0 if there was none
}

// Said is a text of a message.
type Said struct {
	N    int
	Text string
}

// A Turn is a request of the user and the last words of the model before the next one.
type Turn struct {
	Asked    Said
	Answered Said
}

// A File is what a session did with a file.
type File struct {
	Path     string
	Edits    int
	Reads    int
	First, N int // the first and the last message that touched it
	Edited   int // the last message that edited it
	Call     int // number of the tool call that touched it first
	Symbols  []string
}

// An Outcome is how a command ended.
type Outcome int

// The outcomes. Unknown is a command that was interrupted, refused, or ran in the background.
const (
	Unknown Outcome = iota
	Passed
	Broke
)

// A Command is what a session ran.
type Command struct {
	Name string // program and subcommand: "go test"
	Args string // of the last run, "" if they are no plain names
	N    int    // the message of the last run
	Runs int
	End  Outcome
	Exit int
}

// A Failure is a test that failed.
type Failure struct {
	Test    string
	Command string // that ran it
	N       int
}

// A Todo is an item of the model's list.
type Todo struct {
	Text  string
	State string // "pending" or "in_progress"
	N     int
}
