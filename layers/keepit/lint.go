package keepit

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Finding is text that looks like a marker but is not one, or a marker with an unexpected effect.
type Finding struct {
	Start, End int    // bytes of the message text
	Text       string // the found text
	Problem    string // predicate of the sentence about the text
	Hint       string // what to type instead
}

// The expressions are compiled when the first message is linted, not at every start of the program.
var (
	nearTag = lazily(`(?i)#+[ \t]*/?[ \t]*keep-?_?it\b[^#\n]{0,16}#*|#+[ \t]*/?[ \t]*keepit[-+0-9.,][^#\n]{0,16}#*`)
	number  = lazily(`[-+]?[0-9]*[.,]?[0-9]+`)
)

func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

const endOfText = 4000 // an unclosed text longer than this is a finding

// Lint returns the near misses of a message, in order: one or three decimals, a comma, missing # characters, spaces, a
// clamped weight, a marker without text, a closing tag without an open marker, a tag inside a code fence, and an
// unclosed text that runs to the end of a long message.
func Lint(text string) []Finding {
	var out []Finding
	markers := Scan(text)
	unclosed := openFence(text)
	next, open := 0, false
	for l := range lines(text) {
		for _, loc := range nearTag().FindAllStringIndex(text[l.start:l.end], -1) {
			at := l.start + loc[0]
			for next < len(markers) && markers[next].Start < at { // the match before contains its first #
				next++
				open = true
			}
			f := Finding{Start: at, End: at + len(strings.TrimRight(text[at:l.start+loc[1]], " \t\r"))}
			switch k := tagAt(text[at:f.End]); {
			case l.fenced:
				f.Problem, f.Hint = "is inside a code fence and counts as plain text", "write it outside the fence"
				if at >= unclosed {
					f.Hint = "close the code fence before it"
				}
			case k >= 0 && next < len(markers) && markers[next].Start == at+k:
				m := markers[next]
				next++
				open = true
				f.Start, f.End = m.Start, m.TextStart
				f.Problem, f.Hint = markerProblem(text, m)
			case closingAt(text[at:f.End]) >= 0:
				if open {
					open = false
					continue
				}
				f.Problem, f.Hint = "closes no marker", "begin the text with a marker: ##keepit0.80##"
			default:
				f.Problem, f.Hint = nearProblem(text[at:f.End])
			}
			if f.Problem == "" {
				continue
			}
			f.Text = text[f.Start:f.End]
			out = append(out, f)
		}
	}
	return out
}

// tagAt returns where a tag may start among the leading # of s, a negative number if there is no place.
func tagAt(s string) int { return strings.IndexFunc(s, func(r rune) bool { return r != '#' }) - 2 }

func closingAt(s string) int {
	k := tagAt(s)
	if k < 0 || closingTag(s[k:]) == 0 {
		return -1
	}
	return k
}

func markerProblem(text string, m Marker) (problem, hint string) {
	switch {
	case m.Clamped:
		return "has a weight above 1.00 and counts as 1.00", "weights go from 0.00 to 1.00: ##keepit1.00##"
	case strings.TrimSpace(m.Text) == "":
		return "has no text after it", "write the text to pin after it"
	case !m.Closed && m.End == len(text) && len(m.Text) > endOfText:
		return fmt.Sprintf("runs to the end of the message, %d bytes", len(m.Text)), "end it with ##/keepit##"
	}
	return "", ""
}

// nearProblem says why s, which mentions keepit after a #, is not a marker.
func nearProblem(s string) (problem, hint string) {
	if k := strings.IndexByte(s, '/'); k >= 0 && k < strings.IndexAny(s+"k", "kK") {
		return "is not a closing tag", "write ##/keepit##"
	}
	num := number().FindString(s)
	w, twoDecimals := suggest(num)
	hint = "write " + opening + w + "##"
	switch {
	case num == "":
		return "is not a marker: it has no weight", hint
	case strings.Contains(num, ","):
		return "is not a marker: the weight has a comma", hint
	case num[0] == '-' || num[0] == '+':
		return "is not a marker: the weight has a sign", hint
	case !twoDecimals:
		return "is not a marker: the weight needs two decimals", hint
	case strings.ContainsAny(s, " \t-_"):
		return "is not a marker: its parts are separated", hint
	case !strings.HasPrefix(s, "##"):
		return "is not a marker: it starts with one #", hint
	}
	return "is not a marker: ## must follow the weight", hint
}

// suggest returns the weight that was probably meant by a number.
func suggest(num string) (w string, twoDecimals bool) {
	if num == "" {
		return "0.80", false
	}
	whole, frac, _ := strings.Cut(strings.ReplaceAll(strings.TrimLeft(num, "+-"), ",", "."), ".")
	twoDecimals = whole != "" && len(frac) == 2
	if strings.TrimLeft(whole, "0") != "" || num[0] == '-' {
		if num[0] == '-' {
			return "0.00", twoDecimals
		}
		return "1.00", twoDecimals
	}
	return "0." + (frac + "00")[:2], twoDecimals
}
