package compress

import (
	"errors"
	"strings"

	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/version"
)

// ErrTooSmall reports that not one line fits into the budget.
var ErrTooSmall = errors.New("no line of the conversation fits")

// A SmallError is [ErrTooSmall] with a budget that is large enough.
type SmallError struct {
	Budget int
	Least  int // 0: unknown
}

// Error names the budget.
func (e *SmallError) Error() string { return ErrTooSmall.Error() + " into " + count(e.Budget, "token") }

// Is reports whether target is [ErrTooSmall].
func (e *SmallError) Is(target error) bool { return target == ErrTooSmall }

// enough is a budget for one line of any conversation.
const enough = 64

// CheckSize returns a [*SmallError] if the segments that a plan made of an input are empty, or if they say nothing, such
// as a single bracket or two words, at a tenth of the input or less.
func CheckSize(in Input, p planning.Plan, segs []version.Segment) error {
	if say(segs) || len(segs) > 0 && (p.Budget >= enough || size(in.Items) < bytesPerToken*10*p.Budget) {
		return nil
	}
	return &SmallError{Budget: p.Budget, Least: enough}
}

// bytesPerToken is about the size of a token.
const bytesPerToken = 4

// size returns the size of the text of items in bytes.
func size(items []version.Item) (n int) {
	for i := range items {
		n += len(items[i].Text)
	}
	return n
}

// least is the size in bytes from which text says something.
const least = 16

// say reports whether segments have a kept text, or enough of another.
func say(segs []version.Segment) bool {
	n := 0
	for _, s := range segs {
		if s.Keep != "" {
			return true
		}
		if s.Role != "heading" {
			n += len(strings.TrimSpace(s.Text))
		}
	}
	return n >= least
}
