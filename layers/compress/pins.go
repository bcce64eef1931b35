package compress

import (
	"fmt"
	"sort"
	"strings"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
)

// pin is a kept text on its way around the engine.
type pin struct {
	planning.Span
	text string
}

func (p pin) segment() version.Segment {
	return version.Segment{Role: "user", Text: p.text, Src: [][2]int{{p.Message, p.Message}}, Keep: p.Weight.String()}
}

func pinSegments(pins []pin) []version.Segment {
	var out []version.Segment
	for _, p := range pins {
		out = append(out, p.segment())
	}
	return out
}

// PinTokens returns the smallest budget that a [planning.Plan] may have which keeps the texts of these segments, in their order.
func PinTokens(c tokens.Counter, kept []version.Segment) int {
	return pinTokens(c, version.Sizer{}, kept)
}

// pinTokens is the tokens that kept texts take at most, wherever they stand among others.
func pinTokens(c tokens.Counter, z version.Sizer, kept []version.Segment) int {
	if len(kept) == 0 {
		return 0
	}
	return c.Scale(z.Size(kept) + len(kept))
}

// sortedSpans returns the spans of all marks in the order of the text, and which of them are kept.
func sortedSpans(p planning.Plan) (spans []planning.Span, kept map[planning.Span]bool) {
	spans = append(append([]planning.Span(nil), p.Kept...), p.Summarised...)
	sort.SliceStable(spans, func(a, b int) bool {
		return spans[a].Message < spans[b].Message || spans[a].Message == spans[b].Message && spans[a].Start < spans[b].Start
	})
	kept = map[planning.Span]bool{}
	for _, s := range p.Kept {
		kept[s] = true
	}
	return spans, kept
}

// extractPins takes the kept spans out of the items of the user, and the tags of all marks. What is left between them
// are items of their own; a mark that is not kept gives its item its weight.
func extractPins(in Input, p planning.Plan) ([]version.Item, []pin, error) {
	spans, kept := sortedSpans(p)
	out := make([]version.Item, 0, len(in.Items)+2*len(spans))
	var pins []pin
	for _, it := range in.Items {
		for len(spans) > 0 && spans[0].Message < it.N {
			return nil, nil, fmt.Errorf("the marker in message %d is in no text that the user typed", spans[0].Message)
		}
		if it.Kind != version.User {
			out = append(out, it)
			continue
		}
		if it.Kept && len(spans) > 0 {
			s := spans[0]
			if spans = spans[1:]; s.Message != it.N || s.End-s.Start != len(it.Text) {
				return nil, nil, fmt.Errorf("message %d has no kept text of %d bytes", s.Message, s.End-s.Start)
			}
			if kept[s] {
				pins = append(pins, pin{s, it.Text})
				continue
			}
			it.Weight = int(s.Weight)
		}
		at, text := 0, it.Text
		rest := func(to, weight int) {
			part := withoutTags(text[at:to])
			switch f := it; {
			case strings.TrimSpace(part) == "":
			case len(part) == len(text) && weight <= it.Weight:
				out = append(out, it)
			default:
				f.Text, f.Weight = part, max(weight, it.Weight)
				out = append(out, f)
			}
			at = to
		}
		for len(spans) > 0 && !it.Kept && spans[0].Message == it.N {
			s := spans[0]
			spans = spans[1:]
			if s.Start < at || s.End < s.Start || s.End > len(it.Text) {
				return nil, nil, fmt.Errorf("message %d has no bytes %d to %d to keep", s.Message, s.Start, s.End)
			}
			rest(s.Start, 0)
			if kept[s] {
				pins = append(pins, pin{s, strings.Clone(text[s.Start:s.End])})
				at = s.End
			} else {
				rest(s.End, int(s.Weight))
			}
		}
		rest(len(text), 0)
	}
	if len(spans) > 0 {
		return nil, nil, fmt.Errorf("the marker in message %d is in no text that the user typed", spans[0].Message)
	}
	return out, pins, nil
}

// withoutTags takes the tags of marks out of a text.
func withoutTags(s string) string {
	if !strings.Contains(s, "##") {
		return s
	}
	var b strings.Builder
	at := 0
	for _, m := range keepit.Scan(s) {
		b.WriteString(s[at:m.Start])
		b.WriteString(m.Text)
		at = m.End
	}
	b.WriteString(s[at:])
	return closers().ReplaceAllString(b.String(), "")
}

// closers matches closing tags: their opening tag can go with a kept text.
var closers = pattern(`(?i)##/keepit##`)
