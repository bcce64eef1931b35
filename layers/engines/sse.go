package engines

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// An event is a server-sent event.
type event struct{ name, data string }

const maxLine = 4 << 20

var errStream = errors.New("not a stream of events")

// events parses server-sent events. Lines end with LF or CRLF; a last event without an empty line after it is
// dropped.
func events(r io.Reader) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		sc := bufio.NewScanner(r)
		sc.Buffer(make([]byte, 0, 64<<10), maxLine)
		var e event
		var data []string
		for first := true; sc.Scan(); first = false {
			line := sc.Text()
			if first {
				line = strings.TrimPrefix(line, "\ufeff")
			}
			if line == "" {
				if e.data = strings.Join(data, "\n"); len(data) > 0 && !yield(e, nil) {
					return
				}
				e, data = event{}, nil
				continue
			}
			field, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch field {
			case "event":
				e.name = value
			case "data":
				data = append(data, value)
			}
		}
		if err := sc.Err(); errors.Is(err, bufio.ErrTooLong) {
			yield(event{}, fmt.Errorf("%w: a line is longer than %d bytes", errStream, maxLine))
		} else if err != nil {
			yield(event{}, err)
		}
	}
}
