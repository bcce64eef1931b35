package main

import (
	"io"
	"os"
)

// A stream is one of the standard streams. Writing to one whose reader has gone is an error as anywhere else;
// [os.File] would end the process by a signal instead, perhaps in the middle of its work.
type stream struct{ *os.File }

// file returns what a program that mem starts should be given for w: a stream as it is, so that the program
// sees the terminal.
func file(w io.Writer) io.Writer {
	if s, ok := w.(stream); ok {
		return s.File
	}
	return w
}
