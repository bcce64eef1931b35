package engines

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/claims"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/objects/strictjson"
)

// Limits of an answer. A longer one is rejected.
const (
	maxAnswerBytes = 4 << 20
	maxSegments    = 20_000
)

// errMalformed means that an answer does not have the requested form.
var errMalformed = errors.New("not the answer that was asked for")

// An answerSegment is a segment in an answer.
type answerSegment struct {
	Role     *string `json:"role"`
	Messages []int   `json:"messages"`
	Text     *string `json:"text"`
}

// decode parses an answer: one JSON object that follows the schema. A Markdown fence around it is allowed, because
// models write one if the server has no schemas.
func decode(text string) ([]answerSegment, error) {
	if len(text) > maxAnswerBytes {
		return nil, fmt.Errorf("%w: it has %d bytes", errMalformed, len(text))
	}
	var v struct {
		Segments *[]answerSegment `json:"segments"`
	}
	if err := strictjson.Decode(strictjson.Unfence([]byte(text)), &v); err != nil {
		return nil, fmt.Errorf("%w: %s", errMalformed, printable(err.Error()))
	}
	switch {
	case v.Segments == nil:
		return nil, fmt.Errorf(`%w: "segments" is missing`, errMalformed)
	case len(*v.Segments) > maxSegments:
		return nil, fmt.Errorf("%w: %d segments", errMalformed, len(*v.Segments))
	}
	for i, s := range *v.Segments {
		if s.Role == nil || s.Text == nil || len(s.Messages) == 0 {
			return nil, fmt.Errorf(`%w: segment %d lacks "role", "messages" or "text"`, errMalformed, i+1)
		}
	}
	return *v.Segments, nil
}

// check converts the answer of an author for a window to segments in the order of their messages. wrong lists the bad segments with
// the reasons; if it is empty, the answer can be used.
func check(author string, answer []answerSegment, w window) (segs []compress.Segment, wrong []string) {
	const most = 12 // reasons
	known := newSources(w.items)
	for i, s := range answer {
		seg, err := known.segment(author, s)
		if err == nil {
			segs = append(segs, seg)
			continue
		}
		if wrong = append(wrong, fmt.Sprintf("segment %d: %v", i+1, err)); len(wrong) == most {
			break
		}
	}
	if len(answer) == 0 {
		wrong = append(wrong, "there are no segments")
	}
	slices.SortStableFunc(segs, func(a, b compress.Segment) int { return a.Src[0][0] - b.Src[0][0] })
	return segs, wrong
}

// sources are the messages of a window.
type sources struct {
	items  []compress.Item
	key    string
	unread int // bytes that may still be read

	listed []int // the messages of the previous segment, and their text
	text   claims.Source
}

// maxReads is how many times the text of a window is read to check an answer. Segments that list the same messages as
// the one before them need no reading, so a good answer needs one or two; a useless one must not take hours.
const maxReads = 100

func newSources(items []compress.Item) *sources {
	size := 0
	for _, it := range items {
		size += len(itemText(it)) + 1
	}
	return &sources{items: items, key: recordKey(items), unread: maxReads * size}
}

// segment checks and converts one segment. Whoever it is about, the words are the author's.
func (s *sources) segment(author string, a answerSegment) (compress.Segment, error) {
	none := compress.Segment{}
	if !slices.Contains([]string{"user", "assistant", "tool"}, *a.Role) {
		return none, fmt.Errorf("its role is %s: want user, assistant or tool", quote(*a.Role))
	}
	src, err := s.read(a.Messages)
	if err != nil {
		return none, err
	}
	text, err := s.checkText(*a.Text)
	return compress.Segment{Role: "tool", Label: compress.SummaryBy(author, src), Text: text, Src: src}, err
}

// reword gives a segment another text, unless it is worse than an answer may be.
func (s *sources) reword(seg *compress.Segment, text string) error {
	var list []int
	for _, r := range seg.Src {
		for n := r[0]; n <= r[1]; n++ {
			list = append(list, n)
		}
	}
	if _, err := s.read(list); err != nil {
		return err
	}
	text, err := s.checkText(text)
	if err == nil {
		seg.Text = text
	}
	return err
}

// unsupported returns at most five claims of text that source does not contain, quoted.
func unsupported(text string, source claims.Source) []string {
	var bad []string
	for _, c := range source.Missing(text) {
		if q := quote(c); len(bad) < 5 && !slices.Contains(bad, q) {
			bad = append(bad, q)
		}
	}
	return bad
}

// checkText rejects text with control characters, a fence key or a marker, and with names that the messages that were last read
// do not contain.
func (s *sources) checkText(text string) (string, error) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	bad := unsupported(text, s.text)
	switch {
	case text == "":
		return "", errors.New("it has no text")
	case !utf8.ValidString(text) || strings.ContainsFunc(text, isHidden):
		return "", errors.New("it contains control characters")
	case strings.Contains(text, s.key):
		return "", errors.New("it repeats the key of the record")
	case len(keepit.Scan(text)) > 0:
		return "", errors.New("it contains a marker")
	case len(bad) > 0:
		return "", fmt.Errorf("it names %s, which the messages it lists do not contain", strings.Join(bad, ", "))
	}
	return text, nil
}

// isHidden reports whether a rune is invalid in a text: a control character, or a mark that changes the direction of
// writing.
func isHidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 ||
		r == 0x200e || r == 0x200f || r == 0xfeff
}

// read reads the messages that a segment lists and returns them as runs.
func (s *sources) read(messages []int) ([][2]int, error) {
	list := slices.Clone(messages)
	slices.Sort(list)
	list = slices.Compact(list)
	if !slices.Equal(list, s.listed) {
		if err := s.readList(list); err != nil {
			return nil, err
		}
	}
	var src [][2]int
	for _, n := range list {
		if k := len(src); k > 0 && src[k-1][1] == n-1 {
			src[k-1][1] = n
			continue
		}
		src = append(src, [2]int{n, n})
	}
	return src, nil
}

// readList sets the text to that of a sorted list of messages.
func (s *sources) readList(list []int) error {
	if len(list) > 100_000 {
		return fmt.Errorf("it lists %d messages", len(list))
	}
	var b strings.Builder
	found := map[int]bool{}
	for _, it := range s.items {
		hit := false
		i, _ := slices.BinarySearch(list, it.N)
		for ; i < len(list) && list[i] <= lastMessage(it); i++ {
			hit, found[list[i]] = true, true
		}
		if hit {
			b.WriteString(itemText(it))
			b.WriteByte('\n')
		}
	}
	for _, n := range list {
		if !found[n] {
			return fmt.Errorf("it lists message %d, which is not in the record", n)
		}
	}
	if s.unread -= b.Len(); s.unread < 0 {
		return errors.New("the segments list the same messages too often")
	}
	s.listed, s.text = list, claims.NewSource(b.String())
	return nil
}

// quote formats a part of an answer for a message.
func quote(s string) string { return "`" + printable(s) + "`" }

// printable returns at most 80 characters of s in one line, without control characters and back-ticks.
func printable(s string) string {
	const most = 80
	clean := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || isHidden(r) || unicode.IsSpace(r) || r == '`' {
			return ' '
		}
		return r
	}, s)
	r := []rune(strings.TrimSpace(clean))
	if len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(r)
}
