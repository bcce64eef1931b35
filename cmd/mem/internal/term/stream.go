package term

import (
	"io"
	"os"
)

// A Stream is a standard stream. Writing to one whose reader has exited returns an error; with [os.File] a signal
// would end the process, perhaps in the middle of its work.
type Stream struct{ *os.File }

// File returns the stream to pass to a child process for w: the file of a [Stream], so that the child sees the
// terminal.
func File(w io.Writer) io.Writer {
	if s, ok := w.(Stream); ok {
		return s.File
	}
	return w
}
