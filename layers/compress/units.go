package compress

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/tokens"
)

// unit is the smallest thing the engine keeps or drops: a line or sentence of a text, a call, an error line, or a file
// that was changed.
type unit struct {
	item  int32 // index of its Item
	line  int32 // units of one line of the source share it
	class class
	text  string  // as it will be written
	cost  int32   // plain tokens of that
	about []int32 // concepts
	prior int64   // per cent
}

// class is what a unit is for; some classes have a share of the budget to themselves.
type class uint8

const (
	userClass class = iota
	closing         // the last thing the assistant says before the user answers: outcomes, decisions
	prose           // what it says in between
	failure         // error lines
	file            // a file that was changed
	symbols         // what changed in a file
	command
	call
	output // other results of tools
)

const (
	longLine = 120 // longer lines are cut into sentences
	longUnit = 600 // bytes; longer ones are cut between words
)

// split makes the units of items.
func split(items []Item, t terse) []unit {
	var us []unit
	line := int32(0)
	said := map[string]bool{}
	put := func(i int, c class, text string) {
		if c == userClass {
			text = telegraph(text, min(t, telegram)) // the user's own words go last
		} else {
			text = telegraph(text, t)
		}
		if text == "" || c != file && said[text] {
			return
		}
		said[text] = true
		us = append(us, unit{item: int32(i), line: line, class: c, text: text})
	}
	files := map[string]bool{}
	short := 1
	if t == whole {
		short = 8 // there is room for long commands
	}
	for i, it := range items {
		line++
		switch it.Kind {
		case User, Answer, Assistant, Recap:
			c := proseClass(it)
			eachLine(it.Text, func(s string) {
				line++
				eachSentence(s, func(s string) { put(i, c, s) })
			})
		case Edit:
			name := it.Target
			if t > whole {
				name = path.Base(strings.ReplaceAll(name, `\`, "/"))
			}
			if !files[name] && name != "" {
				files[name] = true
				put(i, file, name)
			}
			if it.Text != "" {
				put(i, symbols, name+": "+oneLine(it.Text, 300*short))
			}
		case Command:
			put(i, command, oneLine(it.Text, 240*short))
		case Call:
			put(i, call, oneLine(it.Text, 240*short))
		case Failure:
			eachLine(it.Text, func(s string) { put(i, failure, oneLine(s, 240*short)) })
		case Output:
			eachLine(it.Text, func(s string) { line++; put(i, output, s) })
		}
	}
	return us
}

func proseClass(it Item) class {
	switch {
	case it.Kind == User, it.Kind == Answer:
		return userClass
	case it.Kind == Assistant && it.Closing:
		return closing
	}
	return prose
}

// eachLine yields the lines of a text that say something; the marks of code fences are left out.
func eachLine(text string, yield func(string)) {
	for s := range strings.SplitSeq(text, "\n") {
		s = strings.TrimRight(s, " \t\r")
		trimmed := strings.TrimLeft(s, " \t")
		if trimmed == "" || strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") || strings.Trim(trimmed, "-=*_|: +") == "" {
			continue
		}
		yield(trimmed)
	}
}

// eachSentence yields a short line whole and a long one in sentences, and these in parts of at most longUnit bytes.
func eachSentence(s string, yield func(string)) {
	if len(s) <= longLine {
		yield(s)
		return
	}
	for s != "" {
		n := sentence(s)
		if part := strings.TrimSpace(s[:n]); part != "" {
			yield(part)
		}
		s = s[n:]
	}
}

// sentence returns the length of the sentence that s starts with.
func sentence(s string) int {
	for i, r := range s {
		switch r {
		case '.', '!', '?':
			j := i + 1
			for j < len(s) && strings.IndexByte(`"')]*`+"`", s[j]) >= 0 {
				j++
			}
			if j < len(s) && s[j] == ' ' && j >= 20 {
				return j + 1
			}
		case '。', '！', '？':
			return i + utf8.RuneLen(r)
		}
		if i >= longUnit {
			if k := strings.LastIndexByte(s[:i], ' '); k > longUnit/2 {
				return k + 1
			}
			return i
		}
	}
	return len(s)
}

// oneLine joins the lines of s and cuts it to at most n bytes, between words where there is a place.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(cut(s, 4*n)), " ")
	if len(s) <= n {
		return s
	}
	s = cut(s, n)
	if k := strings.LastIndexByte(s, ' '); k > n*3/4 {
		s = s[:k]
	}
	return s
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// measure fills in what units cost and what they are about.
func measure(us []unit, l *lexicon) {
	slab := make([]int32, 0, 16*len(us))
	for i := range us {
		u := &us[i]
		u.cost = int32(tokens.Raw(u.text)) + frame(u.class)
		from := len(slab)
		slab = l.gather(slab, int32(i), u.text, u.class == userClass)
		u.about = slab[from:len(slab):len(slab)]
	}
}

// frame is what the sign before a unit and the line end behind it cost.
func frame(c class) int32 {
	switch c {
	case userClass, file:
		return 2
	}
	return 1
}
