package term

import (
	"strings"
)

// What mends a finding is a line to type into a shell, each of them: a command, or an editor for the file in which
// something is to be changed by hand, with what that is behind a "#". A word in capitals stands for what only
// the user knows. Names and paths are quoted, for others choose some of them.

// Shell returns a command line.
func Shell(words ...string) string { return strings.Join(QuoteAll(words), " ") }
