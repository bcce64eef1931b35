package refine

import (
	"bytes"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/transcript"
)

const (
	errorLines = 3       // lines of an output that report an error
	failLines  = 12      // names of failed tests
	lineLimit  = 160     // bytes of such a line
	readLimit  = 4 << 20 // bytes of an output: a longer one is not searched
)

// failMarks are substrings of every line that [isFailure] accepts. Output without them is not parsed.
var failMarks = [][]byte{
	[]byte("FAIL"), []byte("panic:"), []byte("rror:"), []byte("undefined:"), []byte("fatal:"), []byte("ERROR"),
	[]byte("Traceback"), []byte("cannot "), []byte(".go:"),
}

// failures returns the lines of an output that report a failure, names of failed tests first. shown is the text that
// the entry already has.
func failures(raw []byte, shown string) []string {
	marked := func(mark []byte) bool { return bytes.Contains(raw, mark) }
	if len(raw) > readLimit || !slices.ContainsFunc(failMarks, marked) {
		return nil
	}
	var tests, others []string
	for line := range strings.Lines(transcript.Block{Content: raw}.Result()) {
		line = strings.TrimSpace(line)
		if len(line) > 300 || !isFailure(line) {
			continue
		}
		line = cut(withoutColour(line), lineLimit)
		if strings.Contains(shown, line) {
			continue
		}
		if strings.HasPrefix(line, "--- FAIL") {
			name, _, _ := strings.Cut(line, " (") // without the duration
			tests = appendNew(tests, name, failLines)
		} else {
			others = appendNew(others, line, errorLines)
		}
	}
	if len(tests) > 0 || strings.Contains(shown, "--- FAIL") { // skip the name of the package
		others = slices.DeleteFunc(others, func(s string) bool { return strings.HasPrefix(s, "FAIL\t") })
	}
	return append(tests, others...)
}

// appendNew appends s to list if it is new and the list has room.
func appendNew(list []string, s string, limit int) []string {
	if len(list) == limit || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func isFailure(line string) bool {
	starts := func(mark string) bool { return strings.HasPrefix(line, mark) }
	contains := func(mark string) bool { return strings.Contains(line, mark) }
	return slices.ContainsFunc([]string{"--- FAIL", "FAIL\t", "FAIL ", "panic:", "fatal:", "Traceback"}, starts) ||
		slices.ContainsFunc([]string{"rror: ", "rror:\t", "undefined: ", "cannot ", "ERROR", " FAIL "}, contains) ||
		hasPosition(line)
}

// hasPosition reports whether line starts like a message of Go's compiler: file.go:12:3:
func hasPosition(line string) bool {
	_, rest, ok := strings.Cut(line, ".go:")
	if !ok {
		return false
	}
	for range 2 {
		digits := strings.TrimLeft(rest, "0123456789")
		if len(digits) == len(rest) || !strings.HasPrefix(digits, ":") {
			return false
		}
		rest = digits[1:]
	}
	return true
}
