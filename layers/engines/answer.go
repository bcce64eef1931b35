package engines

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/claims"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
)

// The most that an answer may be; a longer one is refused whole.
const (
	longestText  = 4 << 20
	mostSegments = 20_000
)

// errAnswer says that an answer is not in the form that was asked for.
var errAnswer = errors.New("not the answer that was asked for")

// said is a segment as a model writes it.
type said struct {
	Role     *string `json:"role"`
	Messages []int   `json:"messages"`
	Text     *string `json:"text"`
}

// decode reads the answer of a model: one JSON object by the schema. A fence of Markdown around it is forgiven, as
// models without a schema write one; nothing else is.
func decode(text string) ([]said, error) {
	if len(text) > longestText {
		return nil, fmt.Errorf("%w: it has %d bytes", errAnswer, len(text))
	}
	var v struct {
		Segments *[]said `json:"segments"`
	}
	d := json.NewDecoder(strings.NewReader(unfence(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("%w: %s", errAnswer, plain(err.Error()))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: something follows the object", errAnswer)
	}
	switch {
	case v.Segments == nil:
		return nil, fmt.Errorf(`%w: "segments" is missing`, errAnswer)
	case len(*v.Segments) > mostSegments:
		return nil, fmt.Errorf("%w: %d segments", errAnswer, len(*v.Segments))
	}
	for i, s := range *v.Segments {
		if s.Role == nil || s.Text == nil || len(s.Messages) == 0 {
			return nil, fmt.Errorf(`%w: segment %d lacks "role", "messages" or "text"`, errAnswer, i+1)
		}
	}
	return *v.Segments, nil
}

// unfence takes off a fence of Markdown.
func unfence(s string) string {
	s = strings.TrimSpace(s)
	body, ok := strings.CutPrefix(s, "```")
	if !ok || !strings.HasSuffix(body, "```") {
		return s
	}
	_, body, _ = strings.Cut(body, "\n")
	return strings.TrimSpace(strings.TrimSuffix(body, "```"))
}

// check turns what a model said of a window into segments, in the order of their messages. Wrong lists the segments
// that are no good, and why; without any the answer may be used.
func check(answer []said, w window) (segs []compress.Segment, wrong []string) {
	const most = 12 // reasons
	known := newSources(w.items)
	for i, s := range answer {
		seg, err := known.segment(s)
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
	items []compress.Item
	key   string
}

func newSources(items []compress.Item) sources { return sources{items, fenceKey(items)} }

// segment checks one segment.
func (s sources) segment(a said) (compress.Segment, error) {
	none := compress.Segment{}
	if !slices.Contains([]string{"user", "assistant", "tool"}, *a.Role) {
		return none, fmt.Errorf("its role is %s: want user, assistant or tool", quote(*a.Role))
	}
	text := strings.TrimSpace(strings.ReplaceAll(*a.Text, "\r\n", "\n"))
	if err := s.clean(text); err != nil {
		return none, err
	}
	source, src, err := s.named(a.Messages)
	if err != nil {
		return none, err
	}
	if bad := invented(text, source); len(bad) > 0 {
		return none, fmt.Errorf("it names %s, which the messages it lists do not contain", strings.Join(bad, ", "))
	}
	return compress.Segment{Role: *a.Role, Text: text, Src: src}, nil
}

// invented returns the claims of text that source does not contain, at most five, as a message shows them.
func invented(text, source string) []string {
	var bad []string
	for _, c := range claims.Missing(text, source) {
		if q := quote(c); len(bad) < 5 && !slices.Contains(bad, q) {
			bad = append(bad, q)
		}
	}
	return bad
}

// clean refuses text that would do something where it is shown, or pass for something else.
func (s sources) clean(text string) error {
	switch {
	case text == "":
		return errors.New("it has no text")
	case !utf8.ValidString(text) || strings.ContainsFunc(text, hidden):
		return errors.New("it contains control characters")
	case strings.Contains(text, s.key):
		return errors.New("it repeats the key of the record")
	case len(keepit.Scan(text)) > 0:
		return errors.New("it contains a keepit marker")
	}
	return nil
}

// hidden are characters that a text has no use for: controls, and marks that change the direction of writing.
func hidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 ||
		r == 0x200e || r == 0x200f || r == 0xfeff
}

// named returns the text of the messages that a segment lists, and the runs they form.
func (s sources) named(messages []int) (string, [][2]int, error) {
	if len(messages) > 100_000 {
		return "", nil, fmt.Errorf("it lists %d messages", len(messages))
	}
	list := slices.Clone(messages)
	slices.Sort(list)
	list = slices.Compact(list)
	var b strings.Builder
	found := map[int]bool{}
	for _, it := range s.items {
		hit := false
		i, _ := slices.BinarySearch(list, it.N)
		for ; i < len(list) && list[i] <= last(it); i++ {
			hit, found[list[i]] = true, true
		}
		if hit {
			b.WriteString(whole(it))
			b.WriteByte('\n')
		}
	}
	var src [][2]int
	for _, n := range list {
		if !found[n] {
			return "", nil, fmt.Errorf("it lists message %d, which is not in the record", n)
		}
		if k := len(src); k > 0 && src[k-1][1] == n-1 {
			src[k-1][1] = n
			continue
		}
		src = append(src, [2]int{n, n})
	}
	return b.String(), src, nil
}

// quote shows some of what a model said in a message for people or for the model.
func quote(s string) string { return "`" + plain(s) + "`" }

// plain is s on one line, without what could be taken for more than text, and not too long.
func plain(s string) string {
	const most = 80
	clean := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || hidden(r) || unicode.IsSpace(r) || r == '`' {
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

// compact writes v as JSON without escapes for HTML. Values of this package always encode.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}
