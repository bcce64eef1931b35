package compress

import (
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
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
	change // changed lines
	classes
)

const (
	longLine = 120 // longer lines are cut into sentences
	longUnit = 600 // bytes; longer ones are cut between words
)

// A cutter says how units are made.
type cutter struct {
	terse
	first bool // as the first engine did
	near  bool // a good part of the items fits
}

// split makes the units of items. What tools returned and the lines of files stay as they are, but for what their lines
// begin with; the first engine took out words of them, too.
func split(items []Item, c cutter) []unit {
	var us []unit
	line := int32(0)
	put := func(i int, c class, text string) {
		us = append(us, unit{item: int32(i), line: line, class: c, text: text})
	}
	files := map[string]bool{}
	for i, it := range items {
		line++
		switch it.Kind {
		case User, Answer, Assistant, Recap:
			class := proseClass(it)
			eachLine(it.Text, func(s string) {
				line++
				eachSentence(s, func(s string) { put(i, class, s) })
			})
		case Edit:
			name := it.Target
			if c.terse > whole {
				name = path.Base(strings.ReplaceAll(name, `\`, "/"))
			}
			if !files[name] && name != "" {
				files[name] = true
				put(i, file, name)
			}
			if it.Text != "" {
				put(i, symbols, name+c.place(it)+": "+c.one(it.Text, 300))
			}
		case Command:
			put(i, command, c.one(c.command(it.Text), 240))
		case Call:
			put(i, call, c.one(c.command(it.Text), 240))
		case Failure:
			eachLine(it.Text, func(s string) { put(i, failure, c.one(s, 240)) })
		case Output, Diff:
			class := change
			if it.Kind == Output || c.first {
				class = output
			}
			eachLine(it.Text, func(s string) {
				line++
				put(i, class, c.bare(it.Kind, s))
			})
		}
	}
	if c.terse > whole {
		parallel(len(us), func(i int) {
			switch u := &us[i]; {
			case u.class == userClass:
				u.text = telegraph(u.text, min(c.terse, telegram)) // the user's own words go last
			case c.first || u.class < output:
				u.text = telegraph(u.text, c.terse)
			}
		})
	}
	return once(us)
}

// once drops the units that say what one before them says.
func once(us []unit) []unit {
	said := make(map[string]bool, len(us))
	out := us[:0]
	for _, u := range us {
		if u.text == "" || u.class != file && said[u.text] {
			continue
		}
		said[u.text] = true
		out = append(out, u)
	}
	return out
}

// parallel calls do for 0 to n-1 on all processors. The calls must not depend on each other.
func parallel(n int, do func(i int)) {
	const block = 512
	workers := min(runtime.GOMAXPROCS(0), (n+block-1)/block)
	var next atomic.Int64
	work := func() {
		for from := int(next.Add(block)) - block; from < n; from = int(next.Add(block)) - block {
			for i := from; i < min(from+block, n); i++ {
				do(i)
			}
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
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
func measure(us []unit, l *lexicon, near bool) {
	parallel(len(us), func(i int) { us[i].cost = int32(tokens.Raw(us[i].text)) + frame(us[i].class) })
	slab := make([]int32, 0, 16*len(us))
	for i := range us {
		u := &us[i]
		from := len(slab)
		g := gathering{pairs: u.class == userClass, names: near, in: int32(i)}
		if near {
			g.in = u.item
		}
		slab = l.gather(slab, int32(i), u.text, g)
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
