package version

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/transcript"
)

// A Line is a line of the text of a segment.
type Line struct {
	Text    string // as it is shown
	Content string // what the segment says in it; "" if mem wrote the whole line
	Frame   bool   // mem wrote the whole line, and it is from no message
}

// Lines returns the lines of a segment in Markdown. Text of the user is quoted, text that was kept is as it was typed,
// quoted in its first line, and a label or a heading is mem's. Every block of code ends in it. One in a list item whose
// lines leave the item moves to the left edge: the end of the item would end the block, and its fence begin another.
func (s Segment) Lines() []Line {
	text := strings.Split(s.Text, "\n")
	out := make([]Line, 0, len(text)+3)
	switch {
	case s.Role == "heading":
		return append(out, Line{Text: "## " + s.Text, Frame: true})
	case IsRemark(s.Label):
		said := strings.NewReplacer("[", "(", "]", ")").Replace(tokens.Clip(s.Text, 1000))
		return append(out, Line{Text: "[" + s.Label + ": " + said + "]"})
	case s.Keep != "":
		open := ""
		for i, l := range text {
			out = append(out, Line{Text: l, Content: l})
			if i == 0 {
				out[0].Text = "> " + l
			} else {
				open = transcript.OpenFence(open, strings.TrimSpace(l))
			}
		}
		if open != "" {
			out = append(out, Line{Text: open, Frame: true})
		}
		return out
	case s.Code != "":
		fence := "```"
		for strings.Contains(s.Text, fence) {
			fence += "`"
		}
		if s.Label != "" {
			out = append(out, Line{Text: "[" + s.Label + "]", Frame: true}, Line{Frame: true})
		}
		out = append(out, Line{Text: fence + s.Code, Frame: true})
		for _, l := range text {
			out = append(out, Line{Text: l, Content: l})
		}
		return append(out, Line{Text: fence, Frame: true})
	}
	prefix, label := "", s.Label
	if s.Role == "user" {
		if prefix, label = "> ", ""; s.Label != "" {
			out = append(out, Line{Text: "[" + s.Label + "]", Frame: true})
		}
	}
	open, left := "", 0 // of the block of code that is open: its fence, and what is cut off before its lines, or -1
	for i, l := range text {
		shown := l
		n := transcript.ItemIndent(l)
		if l == LeftOut && prefix == "" && i > 0 {
			out = append(out, Line{Text: l, Frame: true})
			continue
		}
		switch rest := strings.TrimRight(l[n:], " \t"); {
		case open != "":
			if open = transcript.OpenFence(open, strings.TrimSpace(l)); open == "" && left >= 0 {
				shown = strings.TrimSpace(l)
			} else if left > 0 && len(l) >= left && strings.TrimSpace(l[:left]) == "" {
				shown = l[left:]
			}
		case transcript.OpenFence("", rest) != "":
			if i > 0 && n > transcript.Indent(l) {
				out = append(out, Line{Text: strings.TrimSpace(prefix), Frame: true}) // within a paragraph, only 1. begins a list
			}
			if open, left = transcript.OpenFence("", rest), n; within(text[i+1:], strings.Repeat(" ", n), rest) {
				left = -1
			} else {
				shown = l[n:]
			}
		case prefix == "" && s.Role != "script" && strings.HasPrefix(l[n:], ">"):
			shown = l[:n] + "│" + l[n+1:] // what the assistant quotes is not what the user said
		case prefix == "" && isTag(rest):
			shown = l[:n] + "\\" + l[n:] // a block of HTML would hide what follows
		case prefix == "" && strings.HasPrefix(l, "#") && strings.HasPrefix(strings.TrimLeft(l, "#"), " "):
			shown = "**" + strings.Trim(strings.ReplaceAll(strings.TrimLeft(l, "#"), "**", ""), " ") + "**" // headings are those of exchanges
		}
		if i == 0 && label != "" {
			if open != "" {
				out = append(out, Line{Text: "[" + label + "]", Frame: true}, Line{Frame: true})
			} else {
				shown = "[" + label + "] " + shown
			}
		}
		out = append(out, Line{Text: prefix + shown, Content: l})
	}
	if open != "" {
		out = append(out, Line{Text: prefix + open, Frame: true})
	}
	if what := longKind(s.Label); what == "summary" || what != "" && strings.Contains(s.Text, "\n\n") {
		out = append(out, Line{Text: "", Frame: true}, Line{Text: "[" + what + " ends]", Frame: true})
	}
	return out
}

// within reports whether the lines of the block of code that open begins, up to its end, are as far to the right as it is.
func within(lines []string, space, open string) bool {
	for _, l := range lines {
		if !strings.HasPrefix(l, space) && strings.TrimSpace(l) != "" {
			return false
		}
		if transcript.ClosesFence(l, open) {
			return strings.HasPrefix(strings.TrimPrefix(l, space), open[:1])
		}
	}
	return false
}

// isTag reports whether a line begins with a tag, a comment or another sign with which a block of HTML begins.
func isTag(line string) bool {
	rest, ok := strings.CutPrefix(line, "<")
	if !ok || rest == "" {
		return false
	}
	name := strings.TrimPrefix(rest, "/")
	end := strings.TrimLeftFunc(name, func(r rune) bool { return r == '-' || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) })
	return strings.ContainsAny(rest[:1], "!?") || len(end) < len(name) && (end == "" || strings.ContainsAny(end[:1], " \t/>"))
}

// SummaryBy is the label of what an author, a model or another tool, wrote about messages.
func SummaryBy(author string, src [][2]int) string {
	label := "summary by " + tokens.Clip(author, 80)
	if len(src) == 0 {
		return label
	}
	first, last := src[0][0], src[len(src)-1][1]
	if label += " of #" + strconv.Itoa(first); last > first {
		label += ".." + strconv.Itoa(last)
	}
	return label
}

// longKind returns what the text under a label is, if it is long and reads like what is around it: its end is marked.
func longKind(label string) string {
	if label == Task {
		return "request"
	}
	kind, rest, _ := strings.Cut(label, " ")
	switch kind = strings.TrimSuffix(kind, ","); kind {
	case "summary", "plan", "report":
		if !strings.HasPrefix(rest, "by ") {
			return kind
		}
	}
	return ""
}

// Text returns segments as Markdown, with an empty line between them. Budgets are measured on it.
func Text(segs []Segment) string {
	var b strings.Builder
	for i, s := range segs {
		if i > 0 {
			b.WriteByte('\n')
		}
		s.write(&b)
	}
	return b.String()
}

// Task is the label of the request of a session that is an agent's.
const Task = "asked by another agent"

// LeftOut is a line of what the assistant said for the sentences below the one before it that are left out.
const LeftOut = "[...]"

// Legend says how to read a version, and Signs what in it is not speech.
const (
	Legend = "[How to read: > the user said, plain text the assistant said, brackets hold a list or remark by mem; … marks a cut, " +
		"\"3 more: a; b\" the rest of a list, and ends of paragraphs or whole ones may be left out]"
	Signs = "[name] a list or remark by mem; … marks a cut, [3 more: a; b] the rest of a list, and ends of paragraphs or whole ones may be left out"
)

// Markdown is [Text] under the [Legend].
func Markdown(segs []Segment) string {
	if len(segs) == 0 {
		return ""
	}
	return Legend + "\n\n" + Text(segs)
}

func (s Segment) write(b *strings.Builder) {
	for _, l := range s.Lines() {
		b.WriteString(l.Text)
		b.WriteByte('\n')
	}
}
