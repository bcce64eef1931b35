package remote

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"syscall"
)

// maxPkt is the length of the longest pkt-line, its length included.
const maxPkt = 65520

// A line reader reads git's pkt-lines.
type lines struct {
	r    *bufio.Reader
	used int // bytes of the line that was handed out, which are still in r
}

func newLines(r io.Reader) *lines {
	return &lines{r: bufio.NewReaderSize(r, 2*maxPkt)}
}

// next returns the next line, which is good until the one after. A flush is nil.
func (l *lines) next() ([]byte, error) {
	head, err := l.rest().Peek(4)
	if err != nil {
		if len(head) == 0 {
			return nil, err // io.EOF between lines
		}
		return nil, early(err)
	}
	n, err := strconv.ParseUint(string(head), 16, 16)
	if err != nil {
		return nil, fmt.Errorf("%w: %q where a line should begin", ErrProtocol, head)
	}
	switch {
	case n == 0:
		l.used = 4
		return nil, nil
	case n < 4 || n > maxPkt:
		return nil, fmt.Errorf("%w: a line of %d bytes", ErrProtocol, n)
	}
	b, err := l.r.Peek(int(n))
	if err != nil {
		return nil, early(err)
	}
	l.used = int(n)
	return b[4:], nil
}

// rest returns what follows the last line.
func (l *lines) rest() *bufio.Reader {
	if _, err := l.r.Discard(l.used); err != nil {
		panic(err) // they are in its buffer
	}
	l.used = 0
	return l.r
}

// early makes the end of a stream an error: the connection broke off, or the other side does not know how to go on.
func early(err error) error {
	if errors.Is(err, io.EOF) || broken(err) {
		return fmt.Errorf("%w in the middle of %w", ErrDropped, errAnswer)
	}
	return err
}

// errAnswer is [ErrProtocol] in other words.
var errAnswer error = answerError{}

type answerError struct{}

func (answerError) Error() string { return "the remote's answer" }
func (answerError) Unwrap() error { return ErrProtocol }

// broken reports whether err is what is seen of a connection that ended.
func broken(err error) bool {
	var head textproto.ProtocolError // of http, half of one
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &head)
}

// pkt appends a pkt-line.
func pkt(b []byte, format string, args ...any) []byte {
	s := fmt.Sprintf(format, args...)
	return fmt.Appendf(b, "%04x%s", len(s)+4, s)
}

const flush = "0000"

// A band reads what the remote sends on side-band 1, and gives what it says to people on 2 to say. An error on
// 3 is an error.
type band struct {
	l     *lines
	print func(string)
	rest  []byte
	text  []byte // of a line for people that has no end yet
	done  bool
}

// Read reads from band 1 up to the flush.
func (b *band) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if b.done {
			return 0, io.EOF
		}
		line, err := b.l.next()
		if err != nil {
			return 0, early(err)
		}
		if err := b.take(line); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *band) take(line []byte) error {
	if line == nil {
		b.done = true
		b.report([]byte("\n"))
		return nil
	}
	if len(line) == 0 {
		return nil
	}
	switch line[0] {
	case 1:
		b.rest = line[1:]
	case 2:
		b.report(line[1:])
	case 3:
		if lacks(string(line[1:])) {
			return fmt.Errorf("%w: %.500s", ErrLacking, line[1:])
		}
		return fmt.Errorf("the remote says: %.500s", line[1:])
	default:
		return fmt.Errorf("%w: band %d", ErrProtocol, line[0])
	}
	return nil
}

// maxSaid bounds a line that the remote prints for people.
const maxSaid = 1000

// report passes whole lines to print, without text that a carriage return would overwrite.
func (b *band) report(p []byte) {
	for _, c := range p {
		switch {
		case c == '\n':
			if len(b.text) > 0 && b.print != nil {
				b.print(string(b.text))
			}
			b.text = b.text[:0]
		case c == '\r':
			b.text = b.text[:0]
		case len(b.text) < maxSaid:
			b.text = append(b.text, c)
		}
	}
}
