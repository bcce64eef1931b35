// Package trace finds the source of a text and the changes between versions.
//
// [Diff] compares two versions of a conversation. Two summaries of one session share no lines, so their segments are
// aligned by their messages, and words are compared only inside a group of segments with common messages. Lost text
// is reported by kind: decisions, commands, files, errors, symbols.
//
// [Blame] works in the other direction: for each line of a text it finds the source messages. A segment names its
// messages, and the words of a line narrow them down. A line that none of them supports is marked as unsupported.
//
// Both rest on the differences of two texts, by words ([Words]) or by lines ([UnifiedDiff]). Lists are split at elements that
// occur once on both sides, which gives readable results for prose in almost linear time.
//
// Everything here is a pure function of its arguments, and the same arguments give the same answer.
package trace

import (
	"slices"

	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/version"
)

// A Piece is a segment with its conversation.
type Piece struct {
	Source string // names the conversation
	version.Segment
}

// A Mark is a marker of a conversation and its fate in a text.
type Mark struct {
	Source string
	planning.Fate
	Judged bool // Threshold and Margin of the fate are known
}

// A Side is one of the two texts that are compared.
type Side struct {
	Pieces []Piece // in the order of the text
	Marks  []Mark  // all markers that the text was made from, kept or not
	Tokens int     // of the whole text; 0 counts those of the pieces
}

// In reports whether message n is in one of the runs.
func In(runs [][2]int, n int) bool {
	return slices.ContainsFunc(runs, func(r [2]int) bool { return r[0] <= n && n <= r[1] })
}
