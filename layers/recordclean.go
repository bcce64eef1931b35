package layers

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memvcs/mem/layers/redact"
)

// redactOwn takes the secrets out of what mem wrote itself: a record, a growth point, the message of a commit. What holds such a text
// together is none, whatever a rule says: numbers, times, and the names of objects, sessions, projects and devices. A rule of the user's that
// finds ten digits in a row would leave a lane that nobody can read.
func redactOwn(rules redact.Rules, text []byte) (clean []byte, cuts []redact.Cut) {
	var numbers redact.Numbers
	all, found := rules.Redact(text, &numbers)
	if len(found) == 0 {
		return text, nil
	}
	own := ownPlaces(text)
	at, grown := 0, 0 // in text; by how much text is longer than all so far
	for _, c := range found {
		start := int(c.At) + grown
		end := start + len(c.Bytes)
		grown += len(c.Bytes) - c.Len
		if slices.ContainsFunc(own, func(o [2]int) bool { return start < o[1] && o[0] < end }) {
			continue
		}
		clean = append(clean, text[at:start]...)
		mark := all[c.At : c.At+int64(c.Len)]
		c.At = int64(len(clean))
		clean, cuts, at = append(clean, mark...), append(cuts, c), end
	}
	if len(cuts) == 0 {
		return text, nil
	}
	return append(clean, text[at:]...), cuts
}

// ownName is the form of what mem names things with: hashes, devices, projects, sessions, with what they are in front and a number behind.
var ownName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z]+/)?([0-9a-f]{64}|[0-9a-f]{32}|[0-9a-f]{16}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(/[0-9]+)?$`)
})

// ownPlaces returns where numbers, times and names stand in a text that mem wrote, in order.
func ownPlaces(text []byte) (out [][2]int) {
	if !json.Valid(text) {
		return ownTrailers(text)
	}
	key := ""
	for i := 0; i < len(text); {
		c := text[i]
		if c != '"' {
			n := 1
			if c == '-' || '0' <= c && c <= '9' {
				n = len(text[i:]) - len(bytes.TrimLeft(text[i:], "0123456789+-.eE"))
				out = append(out, [2]int{i, i + n})
			}
			i += n
			continue
		}
		end := i + 1
		for text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		inside := string(text[i+1 : end])
		switch rest := bytes.TrimLeft(text[end+1:], " \t\r\n"); {
		case len(rest) > 0 && rest[0] == ':':
			key = inside
		case !slices.Contains([]string{"title", "name", "text", "quote", "value"}, key) && isOwn(inside): // what people write may look so
			out = append(out, [2]int{i + 1, end})
		}
		i = end + 1
	}
	return out
}

// ownTrailers is ownPlaces of the message of a commit: the values of mem's trailers.
func ownTrailers(text []byte) (out [][2]int) {
	at := 0
	for line := range bytes.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimRight(string(line), "\r\n"), ": ")
		if ok && strings.HasPrefix(name, "Mem-") && (isOwn(value) || strings.Trim(value, "0123456789") == "") {
			start := at + len(name) + len(": ")
			out = append(out, [2]int{start, start + len(value)})
		}
		at += len(line)
	}
	return out
}

func isOwn(text string) bool {
	if ownName().MatchString(text) {
		return true
	}
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil
}
