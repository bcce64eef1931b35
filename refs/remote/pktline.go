package remote

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"syscall"
)

// maxPkt is the length of the longest pkt-line, its length included.
const maxPkt = 65520

// A pktReader reads git's pkt-lines.
type pktReader struct {
	r        *bufio.Reader
	consumed int // length of the last returned line, which is still in r
}

func newPktReader(r io.Reader) *pktReader {
	return &pktReader{r: bufio.NewReaderSize(r, 2*maxPkt)}
}

// next returns the next line, which is valid until the next call. A flush packet is nil.
func (l *pktReader) next() ([]byte, error) {
	head, err := l.rest().Peek(4)
	if err != nil {
		if len(head) == 0 {
			return nil, err // io.EOF between lines
		}
		return nil, unexpectedEnd(err)
	}
	n, err := strconv.ParseUint(string(head), 16, 16)
	if err != nil {
		return nil, fmt.Errorf("%w: %q instead of the length of a line", ErrProtocol, head)
	}
	switch {
	case n == 0:
		l.consumed = 4
		return nil, nil
	case n < 4 || n > maxPkt:
		return nil, fmt.Errorf("%w: a line of %d bytes", ErrProtocol, n)
	}
	b, err := l.r.Peek(int(n))
	if err != nil {
		return nil, unexpectedEnd(err)
	}
	l.consumed = int(n)
	return b[4:], nil
}

// rest returns a reader of the data after the last line.
func (l *pktReader) rest() *bufio.Reader {
	if _, err := l.r.Discard(l.consumed); err != nil {
		panic(err) // the line is in the buffer
	}
	l.consumed = 0
	return l.r
}

// unexpectedEnd turns the end of a stream into an error: the connection was interrupted, or the server gave up.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) || isDisconnect(err) {
		return fmt.Errorf("%w in the middle of the remote's answer", ErrDropped)
	}
	return err
}

// isDisconnect reports whether err means that the connection has ended.
func isDisconnect(err error) bool {
	var head textproto.ProtocolError // an incomplete HTTP header
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &head)
}

// pkt appends a pkt-line.
func pkt(b []byte, format string, args ...any) []byte {
	s := fmt.Sprintf(format, args...)
	return fmt.Appendf(b, "%04x%s", len(s)+4, s)
}

const flush = "0000"

// A sideBand reads the data of side-band 1 and prints the messages of side-band 2. A message on side-band 3 is an
// error.
type sideBand struct {
	l        *pktReader
	messages lineWriter
	rest     []byte
	done     bool
}

func newSideBand(l *pktReader, print func(string)) *sideBand {
	return &sideBand{l: l, messages: lineWriter{line: print}}
}

// Read reads from side-band 1 up to the flush packet.
func (b *sideBand) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if b.done {
			return 0, io.EOF
		}
		line, err := b.l.next()
		if err != nil {
			return 0, unexpectedEnd(err)
		}
		if err := b.handle(line); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *sideBand) handle(line []byte) error {
	if line == nil {
		b.done = true
		b.messages.flush()
		return nil
	}
	if len(line) == 0 {
		return nil
	}
	switch line[0] {
	case 1:
		b.rest = line[1:]
	case 2:
		b.messages.write(line[1:])
	case 3:
		if reportsMissing(string(line[1:])) {
			return fmt.Errorf("%w: %.500s", ErrMissing, line[1:])
		}
		return fmt.Errorf("the remote says: %.500s", line[1:])
	default:
		return fmt.Errorf("%w: band %d", ErrProtocol, line[0])
	}
	return nil
}

// maxMessage is the maximum length in bytes of a message line of the remote.
const maxMessage = 1000

// A lineWriter splits messages of the remote into lines, without text that a carriage return overwrites.
type lineWriter struct {
	line      func(string) // receives each line that is not empty; may be nil
	text      []byte       // of the incomplete line
	overwrite bool         // the last byte was a carriage return
}

func (w *lineWriter) write(p []byte) {
	for _, c := range p {
		if w.overwrite && c != '\n' {
			w.text = w.text[:0]
		}
		w.overwrite = c == '\r'
		switch {
		case c == '\n':
			w.flush()
		case c != '\r' && len(w.text) < maxMessage:
			w.text = append(w.text, c)
		}
	}
}

// flush ends the line.
func (w *lineWriter) flush() {
	s := strings.ToValidUTF8(string(w.text), "") // a long line may end within a character
	if s = strings.TrimRight(s, " "); s != "" && w.line != nil {
		w.line(s)
	}
	w.text = w.text[:0]
}
