package engines

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/answers"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/version"
)

// A summary is an answer about a window.
type summary struct {
	Segments []answerSegment `json:"segments" form:"required,items=20000"`
}

type answerSegment struct {
	Role     string `json:"role" form:"required" enum:"user,assistant,tool"`
	Messages []int  `json:"messages" form:"required,items=100000,min=1"`
	Text     string `json:"text" form:"required,max=100000"`
}

// check converts the answer of an author for a window to segments in the order of their messages. The error lists the bad
// segments with the reasons.
func check(author, answer string, w window) ([]version.Segment, error) {
	const most = 12 // reasons
	list, err := answers.Decode[summary]([]byte(answer))
	if err != nil {
		return nil, err
	}
	var segs []version.Segment
	var bad answers.Problems
	known := newSources(w.items)
	for i, s := range list.Segments {
		seg, err := known.segment(author, s)
		if err == nil {
			segs = append(segs, seg)
		} else if bad.Add(fmt.Sprintf("segments[%d]", i), "%v", err); len(bad) == most {
			break
		}
	}
	if len(list.Segments) == 0 {
		bad.Add("segments", "there are none")
	}
	slices.SortStableFunc(segs, func(a, b version.Segment) int { return a.Src[0][0] - b.Src[0][0] })
	return segs, bad.Err()
}

// sources are the messages of a window.
type sources struct {
	items  []version.Item
	key    string
	unread int // bytes that may still be read

	listed []int // the messages of the previous segment, and their text
	text   answers.Source
}

// maxReads is how many times the text of a window is read to check an answer. Segments that list the same messages as
// the one before them need no reading, so a good answer needs one or two; a useless one must not take hours.
const maxReads = 100

func newSources(items []version.Item) *sources {
	size := 0
	for _, it := range items {
		size += len(itemText(it)) + 1
	}
	return &sources{items: items, key: recordKey(items), unread: maxReads * size}
}

// segment checks and converts one segment. Whoever it is about, the words are the author's.
func (s *sources) segment(author string, a answerSegment) (version.Segment, error) {
	src, err := s.read(a.Messages)
	if err != nil {
		return version.Segment{}, err
	}
	text, err := s.checkText(a.Text)
	return version.Segment{Role: "tool", Label: version.SummaryBy(author, src), Text: text, Src: src}, err
}

// reword gives a segment another text, unless it is worse than an answer may be.
func (s *sources) reword(seg *version.Segment, text string) error {
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
func unsupported(text string, source answers.Source) []string {
	var bad []string
	for _, c := range source.Missing(text) {
		if q := quote(c); len(bad) < 5 && !slices.Contains(bad, q) {
			bad = append(bad, q)
		}
	}
	return bad
}

// checkText rejects text with a fence key or a marker, and with names that the messages that were last read do not contain.
func (s *sources) checkText(text string) (string, error) {
	text = strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
	bad := unsupported(text, s.text)
	switch {
	case strings.Contains(text, s.key):
		return "", errors.New("it repeats the key of the record")
	case len(keepit.Scan(text)) > 0:
		return "", errors.New("it contains a marker")
	case len(bad) > 0:
		return "", fmt.Errorf("it names %s, which the messages it lists do not contain", strings.Join(bad, ", "))
	}
	return text, nil
}

// read reads the messages that a segment lists and returns them as runs.
func (s *sources) read(messages []int) ([][2]int, error) {
	if len(messages) == 0 {
		return nil, errors.New("it lists no messages")
	}
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
	s.listed, s.text = list, answers.NewSource(b.String())
	return nil
}

// quote formats a part of an answer for a message.
func quote(s string) string { return "`" + strings.ReplaceAll(answers.Printable(s), "`", " ") + "`" }
