package version

import "strings"

// The labels under which mem says something of its own, which is written within the brackets.
const (
	NoAnswer  = "no answer in words"
	Ignored   = "no answer" // to the question at the end of a text
	Refused   = "refused by the user"
	NotYet    = "not accepted yet by the user" // a plan: he goes on to talk about it
	Client    = "the client"
	AtEnd     = "at the end"
	Stopped   = "interrupted"  // the work, between two texts of the assistant
	Created   = "created"      // by a call: an issue, a pull request
	Linked    = "pull request" // that the client names
	Steps     = "steps"        // that the assistant announced, one after the other
	LeftPaste = "pasted"       // by the user: it is left out between what he typed
	LeftTyped = "said more"    // the user, in the same text: it is left out
)

// IsRemark reports whether mem says something of its own under a label.
func IsRemark(label string) bool {
	return label == NoAnswer || label == Ignored || label == Refused || label == NotYet || label == Client || label == AtEnd || label == Stopped ||
		label == Created || label == Linked || label == LeftPaste || label == LeftTyped
}

// Gathered reports whether mem gathered the text of s from messages of an exchange: a list, a change, a failure or a remark.
func (s Segment) Gathered() bool {
	switch kind, _, _ := strings.Cut(s.Label, " "); {
	case s.Role != "tool":
		return false
	case kind == "files", kind == "commands", kind == "changes", kind == "failed":
		return true
	}
	return s.Remark()
}

// Remark reports whether the text of s is mem's own.
func (s Segment) Remark() bool { return IsRemark(s.Label) }
