package term

import (
	"io"
	"os"
)

// A stream is one of the standard streams. Writing to one whose reader has gone is an error as anywhere else;
// [os.File] would end the process by a signal instead, perhaps in the middle of its work.
type Stream struct{ *os.File }

// File returns what a program that mem starts should be given for w: a stream as it is, so that the program
// sees the terminal.
func File(w io.Writer) io.Writer {
	if s, ok := w.(Stream); ok {
		return s.File
	}
	return w
}
