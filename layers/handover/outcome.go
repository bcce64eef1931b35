package handover

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/memvcs/mem/layers/tokens"
)

// A unit is a sentence, an item of a list, or what is below an item.
type unit struct {
	text  string
	level int
	more  int  // items that are left out
	cut   bool // its end, or what is below it, is left out
	head  bool // a heading
	rest  bool // a sentence that is not the first of its paragraph
}

// The levels of units.
const (
	prose = iota
	item
	below
)

// signs are in front of the units in a gist, one unit on a line.
var signs = [...]string{"", "• ", "◦ "}

// missing stands for code and tables.
const missing = "…"

// left matches the number of items that are left out of a list.
var left = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[(\d+) more\]$`) })

// restSign is in front of a sentence that is not the first of its paragraph.
const restSign = "· "

// String returns the unit as a line of a gist.
func (u unit) String() string {
	if u.rest {
		return restSign + u.words()
	}
	return signs[u.level] + u.words()
}

// announces reports whether the unit says only that something follows.
func (u unit) announces() bool { return u.level == prose && endsInColon(u.text) }

func endsInColon(s string) bool { return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") }

// mark matches the mark of an item or a heading.
var mark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(#{1,6}|[-*+•◦]|(\*\*)?\d+[.)])\s+(\[[ xX]\] )?`)
})

// numbered matches a heading that is one of several: "Issue #2: no retry", "Option B: a queue".
var numbered = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d+[.:)]|[A-Z][.):] |\pL+ (#?\d+|[A-Z])\b ?[-–—:(.])`)
})

// number matches the number of an item, and link a link with its text.
var (
	number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+[.)] +`) })
	link   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[([^\]\n]+)\]\([^)\n]*\)`) })
)

// heading reports whether a line is a heading: one with its mark, or a bold text alone.
func heading(line string) bool {
	bold := strings.HasPrefix(line, "**") && strings.HasSuffix(strings.TrimSuffix(line, ":"), "**") && strings.Count(line, "**") == 2
	return bold || strings.HasPrefix(line, "#") && mark().MatchString(line)
}

// unitsOf divides a text of the model: without code and sentences that only announce something. The rows of a table are
// items, and so are numbered headings, with what follows below them. Another heading announces what follows.
func unitsOf(text string) (out []unit) {
	add := func(s string, level int) {
		if s != "" && (s != missing || len(out) > 0 && out[len(out)-1].text != missing) {
			out = append(out, unit{text: s, level: level})
		}
	}
	fenced, under, indent, rows := false, false, 0, 0
	for line := range strings.SplitSeq(text, "\n") {
		deep := len(line) - len(strings.TrimLeft(line, " \t"))
		line = strings.TrimSpace(line)
		bare := link().ReplaceAllString(strings.ReplaceAll(mark().ReplaceAllString(line, ""), "**", ""), "$1")
		if !strings.HasPrefix(line, "|") {
			rows = 0
		}
		level := prose
		switch {
		case strings.HasPrefix(line, "```"):
			switch fenced = !fenced; {
			case fenced && under:
				out[len(out)-1].cut = true
			case fenced:
				add(missing, prose)
			}
			continue
		case fenced, strings.Trim(line, "-=*_ ") == "":
			under = under && line == "" // a rule ends what is below a heading
			continue
		case heading(line):
			bare = strings.TrimRight(strings.TrimLeftFunc(bare, isMark), ": ")
			was := under
			if under = numbered().MatchString(bare); under {
				if n := len(out); n > 0 && out[n-1].level == item && !was {
					add(missing, prose) // its list is another one
				}
				add(number().ReplaceAllString(bare, ""), item)
			} else if bare != "" {
				out = append(out, unit{text: bare + ":", head: true})
			}
			continue
		case strings.HasPrefix(line, "|"):
			if rows++; rows < 3 { // its heading, and the line below that
				continue
			}
			bare, level = row(bare), item
		case mark().MatchString(line):
			if n := len(out); n == 0 || out[n-1].level == prose || deep < indent {
				indent = deep
			}
			level = item
		}
		if under || deep > indent+1 && len(out) > 0 && out[len(out)-1].level != prose {
			level = below
		}
		if level != prose && bare != line {
			add(number().ReplaceAllString(bare, ""), level)
			continue
		}
		n := len(out)
		for _, s := range clauses(bare) {
			add(s, level)
		}
		for k := n; k < len(out); k++ {
			out[k].rest = level == prose && k > n && len(out[n].text) >= leastTold
		}
	}
	var kept []unit
	for i, u := range out {
		last := i == len(out)-1
		apart := u.announces() && !last && out[i+1].level == prose && out[i+1].text != missing // its list is elsewhere
		switch {
		case u.head && apart, u.announces() && last && i > 0:
			continue
		case u.level == prose && lead().MatchString(strings.TrimLeftFunc(u.text, isMark)):
			kept = withGap(kept)
			continue
		case apart:
			u.text = strings.TrimRight(u.text, ":：") + "."
		}
		kept = append(kept, u)
	}
	return kept
}

// withGap returns units with a sign behind them that something is left out there, unless there are none.
func withGap(list []unit) []unit {
	if n := len(list); n > 0 && list[n-1].text != missing {
		list = append(list, unit{text: missing})
	}
	return list
}

// isMark reports whether a character is in front of a heading, such as a picture.
func isMark(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("`\"'“(", r)
}

// row returns the cells of a row that have letters.
func row(line string) string {
	var cells []string
	for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
		if cell = strings.TrimSpace(cell); strings.ContainsFunc(cell, unicode.IsLetter) {
			cells = append(cells, cell)
		}
	}
	return strings.Join(cells, " - ")
}

// linesOf returns the units of a gist. Items that a tool had printed, or of which only the end is left, are counted at the
// end of their list.
func linesOf(gist string) (out []unit) {
	more := 0
	for line := range strings.Lines(gist + "\n.") {
		u := unit{text: strings.TrimSpace(line)}
		if text, is := strings.CutPrefix(u.text, strings.TrimSpace(restSign)); is {
			u = unit{text: strings.TrimSpace(text), rest: true}
		}
		for level := item; level <= below; level++ {
			if text, is := strings.CutPrefix(u.text, strings.TrimSpace(signs[level])); is {
				u = unit{text: strings.TrimRight(strings.TrimSpace(text), " …-–—:"), level: level, cut: strings.HasSuffix(text, missing)}
			}
		}
		gone := u.text == "" || u.level > prose && (strings.HasPrefix(u.text, missing) || !strings.ContainsFunc(u.text, unicode.IsLetter))
		switch m := left().FindStringSubmatch(u.text); {
		case u.level == item && m != nil:
			n, _ := strconv.Atoi(m[1]) // digits
			more += n
		case u.level == item && gone:
			more++
		case u.level == prose && more > 0:
			out = append(out, unit{level: item, more: more})
			more = 0
			fallthrough
		case !gone:
			out = append(out, u)
		}
	}
	return out[:len(out)-1]
}

// Gist returns what a text of the model says, one unit on a line: whole ones, in order, up to a limit. What is below
// items is left out first.
func Gist(text string, limit int) string {
	list := unitsOf(text)
	if len(list) == 0 || len(list) == 1 && list[0].text == missing || list[0].announces() && (len(list) == 1 || len(list) == 2 && list[1].text == missing) {
		return Cut(text, limit) // what it announces is all there is
	}
	list, whole := shorten(list, limit)
	var lines []string
	for _, u := range list {
		lines = append(lines, u.String())
	}
	if !whole {
		lines = append(lines, missing)
	}
	return strings.Join(lines, "\n")
}

// outcome returns what a gist says was changed or found, in quotes: that checks pass, and what the model asks, only if it
// says nothing else.
func outcome(gist string, limit int) string {
	list := linesOf(tag().ReplaceAllString(gist, ""))
	without := func(least int, idle func(u unit) bool) {
		var left []unit
		told := 0
		for _, u := range list {
			if idle(u) {
				left = withGap(left)
				continue
			}
			if left = append(left, u); u.text != missing && !u.announces() && u.more == 0 {
				told += size([]unit{u})
			}
		}
		if told >= least {
			list = left
		}
	}
	without(1, func(u unit) bool { return u.level == prose && question(u.text) })
	without(leastTold, func(u unit) bool { return checks(u.text) })
	if len(list) > 1 && list[0].text == missing {
		list = list[1:] // a quote may begin anywhere
	}
	n := len(list)
	for n > 1 && (list[n-1].text == missing || list[n-1].announces()) {
		n--
	}
	return "“" + joined(list[:n], limit, n < len(list)) + "”"
}

// ended matches a text after which another one can follow.
var ended = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[.:;,!?。：；，、！？]$`) })

// joined returns units in one line of at most limit bytes; more reports whether the text goes on after them.
func joined(list []unit, limit int, more bool) string {
	list, whole := shorten(list, limit-len(ellipsis))
	list = withoutBareCounts(list)
	var b strings.Builder
	for i, u := range list {
		switch {
		case i == 0:
		case u.more > 0 || u.text == missing || list[i-1].text == missing || ended().MatchString(b.String()), u.level == prose && strings.HasSuffix(b.String(), missing):
			b.WriteString(" ")
		case u.level == prose && list[i-1].level != prose:
			b.WriteString(". ")
		default:
			b.WriteString("; ")
		}
		b.WriteString(u.words())
	}
	if whole && !more || strings.HasSuffix(b.String(), missing) {
		return b.String()
	}
	return b.String() + ellipsis
}

// withoutBareCounts leaves out lists of which no item is named, with what leads in to them unless it names something.
func withoutBareCounts(list []unit) (out []unit) {
	for i, u := range list {
		if u.more == 0 || i > 0 && list[i-1].level != prose {
			out = append(out, u)
			continue
		}
		for n := len(out); n > 1 && (out[n-1].announces() && !strings.ContainsAny(out[n-1].text, "/`") || out[n-1].text == missing); n-- {
			out = out[:n-1]
		}
		out = withGap(out)
	}
	return out
}

// leastTold is the size of an outcome that says enough.
const leastTold = 20

// leastShown is the room for which a sentence or an item is cut; for a smaller one it is left out.
const leastShown = 40

// shorten makes units fit a limit. What is below items goes first, and of paragraphs all but their first sentences; then the
// items of a list are named, and the rest of them counted; what follows is left out, and whole is false.
func shorten(list []unit, limit int) (out []unit, whole bool) {
	if size(list) <= limit {
		return list, true
	}
	list = withoutBelow(list)
	for i := len(list) - 1; i > 0 && size(list) > limit; i-- {
		switch {
		case !list[i].rest || !slices.ContainsFunc(list[i:], func(u unit) bool { return !u.rest && u.text != missing }):
		case list[i+1].text == missing:
			list = slices.Delete(list, i, i+1)
		default:
			list[i] = unit{text: missing}
		}
	}
	for i := 0; i < len(list); {
		room := limit - size(out)
		k := i + 1
		for list[i].level == item && k < len(list) && list[k].level == item {
			k++
		}
		switch run := list[i:k]; {
		case size(run) <= room:
			out = append(out, run...)
		case list[i].level == prose:
			if room >= max(leastShown, limit/2) || len(out) == 0 {
				out = append(out, unit{text: strings.TrimSuffix(Cut(list[i].text, room), ellipsis)})
			}
			return out, false
		default:
			names, fits := withNames(run, room)
			if out = append(out, names...); !fits {
				return out, k == len(list)
			}
		}
		i = k
	}
	return out, true
}

// withoutBelow leaves out what is below items.
func withoutBelow(list []unit) (out []unit) {
	for _, u := range list {
		switch n := len(out); {
		case u.level != below:
			out = append(out, u)
		case n > 0 && out[n-1].text != missing:
			out[n-1].cut = true
		}
	}
	return out
}

// withNames names items, with all of their text while there is room, and counts those whose name does not fit.
func withNames(items []unit, room int) (out []unit, fits bool) {
	room -= len("[99 more]") + 2
	left := 0
	for _, u := range items {
		name := unit{text: nameOf(u.text), level: item}
		name.cut = u.cut || name.text != u.text
		switch n := room - size(out) - 2; {
		case u.more > 0 || left > 0:
			left += max(1, u.more)
		case len(name.words()) <= n:
			out = append(out, name)
		case len(out) == 0 && n >= leastShown:
			out = append(out, unit{text: Cut(name.text, n), level: item})
		default:
			left++
		}
	}
	for i := range out {
		if room-size(out) >= len(items[i].words())-len(out[i].words()) {
			out[i] = items[i]
		}
	}
	if left > 0 {
		out = append(out, unit{level: item, more: left})
	}
	return out, left == 0
}

// nameOf returns what an item is about: it up to the end of a clause, if it is long.
func nameOf(text string) string {
	if s := clauses(text)[0]; len(s) < len(text) {
		text = strings.TrimSuffix(s, ".")
	}
	name := tokens.Brief(text)
	if strings.HasSuffix(name, "…") {
		return Cut(text, len(name)) // it is cut within a word
	}
	return name
}

// words returns the unit without its sign.
func (u unit) words() string {
	switch {
	case u.more > 0:
		return fmt.Sprintf("[%d more]", u.more)
	case u.cut && !strings.HasSuffix(u.text, missing):
		return u.text + ellipsis
	}
	return u.text
}

// size returns the size of units that are joined.
func size(list []unit) (n int) {
	for _, u := range list {
		n += len(u.words()) + 2
	}
	return n
}

// none matches the count of what did not go wrong, pass what says that a check passes, and aCheck the words of sentences
// that say nothing else.
var (
	none = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(0|no|zero|without) (fail\w*|errors?|issues?|warnings?)\b`)
	})
	pass = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(pass|passes|passed|passing|green|clean|succeeds?|succeeded)\b`)
	})
	aCheck = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(\W|\b(\d[\w.]*|all|the|both|two|three|four|five|tests?|unit|integration|e2e|checks?|lint(ing|er)?|type(s|script|-?check(s|ing)?)?|builds?|formatting|format|fmt|suites?|pass|passes|passed|passing|green|clean|now|also|still|too|is|are|and|with|in|of|everything|ran|runs?|full|code|successful(ly)?|succeeds?|succeeded|pre-commit|hooks?|race|detector|ci|existing|including|new|s|ms|seconds)\b)*$`)
	})
)

// checks reports whether a sentence says only that checks pass: the commands tell it.
func checks(s string) bool {
	bare := none().ReplaceAllString(s, "")
	return aCheck().MatchString(bare) && (pass().MatchString(bare) || bare != s)
}
