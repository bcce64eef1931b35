package compress

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/shell"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/version"
)

// A unit is the smallest thing that the engine takes or leaves: a sentence, an item of a list, a block of code, an entry of
// a list of mem. It is never taken without its parent: the sentence before it, the item before it, the words that lead in,
// the question that it answers.
type unit struct {
	text   string
	item   int    // index of its Item
	from   int    // offset in the text of the item
	parent int    // index of a unit, or -1
	also   []int  // other options that it chooses
	list   int    // the number of the long list that it is a part of, from 1, or 0
	lines  int    // of the beginning of a paste: lines of all of it
	cost   int    // plain tokens, about
	label  string // what it is, other than its item: pasted text
	class  class
	flags  flags
	score  float64
}

type flags uint8

const (
	lead    flags = 1 << iota // it says nothing without what follows
	idle                      // it announces a step, or says nothing but that an answer begins
	late                      // it comes after everything that was said: code
	ends                      // it ends within a sentence
	begins                    // it begins an item of a long list
	telling                   // it tells of an error: a part of a paste
)

// class is what a unit is for.
type class uint8

const (
	typed   class = iota // by the user
	pasted               // by the user
	asked                // a question of the assistant in a dialog
	closing              // the last thing that the assistant says before the user speaks again
	prose                // what it says in between
	plan                 // behind the beginning of a plan
	summary              // of a compaction
	report               // of an agent
	file                 // an entry of the list of changed files
	command              // an entry of the list of commands
	failed               // a failure, in one line
	note                 // of the client or of mem
	change               // the changed lines of an edit
	classes
)

const (
	longBlock = 1200 // bytes from which on a block in a text comes after everything else
	longCode  = 240  // the same for one of code
	shortList = 480  // bytes up to which a list is one unit
	shortItem = 300  // the same for an item of a list
	longNote  = 500  // bytes of a text on the way from which on it tells more than a step
	shortNote = 160  // bytes of one that tells nothing without a name
	planAim   = 600  // bytes in which a plan says what it is for

	shortReply, longReply = 60, 100 // bytes of a reply that is not understood without what it answers; the longer ones agree
)

const none = -1

// split makes the units of items.
func split(items []version.Item) []unit {
	s := splitter{items: items}
	for i := range items {
		it := &items[i]
		from := len(s.units)
		switch s.item = i; it.Kind {
		case version.User, version.Answer, version.Script:
			s.prose(it.Text, typed)
			if from < len(s.units) && s.units[from].parent == none {
				s.units[from].parent, s.units[from].also = s.question(it, from)
			}
		case version.Assistant:
			switch {
			case it.Label == version.Steps: // of an earlier version
				s.add(unit{text: it.Text, class: prose, flags: idle}, none)
			case it.Label == "asked":
				s.add(unit{text: strings.TrimSpace(it.Text), class: asked}, none)
			case it.Closing:
				s.prose(it.Text, closing)
			default:
				s.prose(it.Text, prose)
			}
		case version.Recap:
			if strings.HasPrefix(it.Label, "report") {
				s.prose(it.Text, report)
			} else {
				s.prose(it.Text, summary)
			}
		case version.Edit:
			s.add(unit{text: entryOf(it), class: file}, none)
			for _, hunk := range it.Hunks {
				s.add(unit{text: hunk, class: change, flags: late}, from)
			}
		case version.Command:
			s.add(unit{text: entryOf(it), class: command}, none)
		case version.Failure:
			s.add(unit{text: it.Text, class: failed}, none)
		case version.Call:
			if it.Target == "" && it.Text != "" {
				s.add(unit{text: tokens.Clip(it.Text, 800), class: note}, none)
			}
		}
		s.settle(from)
	}
	for i := range s.units {
		u := &s.units[i]
		u.cost = tokens.Raw(u.text) + 2 + map[class]int{change: 20, failed: 12, note: 8}[u.class]
	}
	return s.units
}

type splitter struct {
	items []version.Item
	units []unit
	item  int
	lists int
}

func (s *splitter) add(u unit, parent int) int {
	u.item, u.parent = s.item, parent
	s.units = append(s.units, u)
	return len(s.units) - 1
}

// settle finishes the units of an item: words that lead in to nothing, or to long code, are a sentence like others, or announce a step.
func (s *splitter) settle(from int) {
	const telling = 5 // words
	leads, code := map[int]bool{}, map[int]bool{}
	for i := from; i < len(s.units); i++ {
		if u := &s.units[i]; u.flags&late == 0 {
			leads[u.parent] = true
		} else {
			code[u.parent] = true
		}
	}
	for i := from; i < len(s.units); i++ {
		u := &s.units[i]
		tells := code[i] && u.class != typed && !isHeading(u.text) && len(strings.Fields(u.text)) >= telling && !exchange.Announces(u.text)
		if u.flags&lead != 0 && !leads[i] && (tells || !code[i]) && !strings.HasPrefix(u.text, "#") {
			if u.flags &^= lead; !tells && (u.class == prose && isHeading(u.text) || u.class != typed && leadsIn(u.text)) {
				u.flags |= idle
			}
		}
	}
}

// question returns the unit that a text of the user answers, or -1: the question of a dialog, a refused call, and for a few
// words the option that they choose or what the assistant ended on. also are the other options.
func (s *splitter) question(it *version.Item, from int) (unit int, also []int) {
	if from == 0 {
		return none, nil
	}
	last := &s.units[from-1]
	before := &s.items[last.item]
	switch {
	case before.Label == version.Refused || last.class == asked && before.N == it.N:
		return from - 1, nil
	case last.class != closing:
		return none, nil
	}
	if names, answers := exchange.Chosen(it.Text); len(names) > 0 {
		const back = 3 // texts
		for end, texts := from, 0; end > 0 && texts < back; {
			item := s.units[end-1].item
			if s.units[end-1].class == closing {
				texts++
				options := s.options(names, end)
				if answers {
					options = slices.DeleteFunc(options, func(k int) bool { return !strings.Contains(s.units[k].text, "?") })
				}
				if len(options) == 1 && len(strings.TrimSpace(it.Text)) == 1 {
					options = append(options, s.beside(options[0], end)...) // what it did not choose says what it is
				}
				if len(options) > 0 {
					return options[0], options[1:]
				}
			}
			for end > 0 && s.units[end-1].item == item {
				end--
			}
		}
	}
	return s.endedOn(it, from), nil
}

// options returns the units with the options of these names in the text before a unit, the last one first.
func (s *splitter) options(names []string, from int) (found []int) {
	const most = 4000 // bytes between the options and the end
	for k, size := from-1, 0; k >= 0 && s.units[k].item == s.units[from-1].item && size < most && len(names) > 0; k-- {
		size += len(s.units[k].text)
		name, ok := exchange.Offers(s.units[k].text, names)
		if slices.Contains(names, "") && isItem(s.units[k].text) {
			name, ok = "", true
		}
		if !ok {
			continue
		}
		option := k
		if list := s.units[k].list; list > 0 && name == "" {
			for option+1 < from && s.units[option+1].list == list {
				option++ // with the options after it
			}
		}
		for s.units[option].flags&lead != 0 && option+1 < from && !isHeading(s.units[option+1].text) {
			option++ // a heading says little
		}
		found = append(found, option)
		names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	}
	return found
}

// beside returns the units up to one that begin with a number or letter, near an option of the same text.
func (s *splitter) beside(option, to int) (found []int) {
	const near = 12 // units
	for k := max(0, option-near); k < min(to, option+near); k++ {
		if _, ok := exchange.Offers(s.units[k].text, strings.Split("abcdef12345", "")); ok && k != option && s.units[k].item == s.units[option].item {
			found = append(found, k)
		}
	}
	return found
}

// endedOn returns the unit that the assistant ended on, if a few words answer it, or -1.
func (s *splitter) endedOn(it *version.Item, from int) int {
	last := &s.units[from-1]
	if len(it.Text) > shortReply && !(len(it.Text) <= longReply && exchange.Agrees(it.Text)) {
		return none
	}
	for k := from - 1; k >= max(0, from-3) && !strings.Contains(it.Text, "?") && s.units[k].item == last.item; k-- {
		if asks(s.units[k].text) {
			return k
		}
	}
	if exchange.Agrees(it.Text) && last.flags == 0 {
		return from - 1
	}
	return none
}

// A line of a text, with its offset in it.
type line struct {
	text string // without space at its end
	at   int
}

func linesOf(text string) (out []line) {
	at := 0
	for l := range strings.Lines(text) {
		out = append(out, line{strings.TrimRight(l, " \t\r\n"), at})
		at += len(l)
	}
	return out
}

// whole joins lines as they stand in the text.
func whole(text string, lines []line) string {
	last := lines[len(lines)-1]
	return text[lines[0].at : last.at+len(last.text)]
}

// prose makes units of a text that somebody said.
func (s *splitter) prose(text string, c class) {
	lines := linesOf(text)
	var kinds []transcript.LineKind
	review := len(lines)
	if c == typed {
		kinds = transcript.LineKinds(text)
		if from := transcript.ReviewStart(text); from >= 0 {
			review = from
		}
	}
	section := none                            // the heading with a sign; those in bold are under it
	heading, above, before := none, none, none // the heading, the words that lead in, and the last unit above the line
	isPasted := func(i int) bool { return kinds != nil && kinds[i] == transcript.Pasted }
	for i, to := 0, 0; i < len(lines); i = to {
		to = i + 1
		l := strings.TrimLeft(lines[i].text, " \t")
		if strings.Trim(l, "-=*_ ") == "" && !isPasted(i) { // nothing, or a rule
			continue
		}
		u := unit{class: c, from: lines[i].at}
		if i >= review {
			u.label = "reads like pasted text"
		}
		if c == prose && strings.HasPrefix(s.items[s.item].Label, "plan") && (lines[i].at > planAim || transcript.IsFence(l)) {
			u.class = plan
		}
		parent := above
		if above == none {
			parent = heading
		}
		above = none
		switch {
		case isPasted(i) || c == typed && transcript.IsFence(l) && fenceEnd(lines, i)-i > 7:
			for to < len(lines) && isPasted(to) {
				to++
			}
			if transcript.IsFence(l) {
				to = max(to, fenceEnd(lines, i)+1)
			}
			s.paste(text, lines[i:to], u, parent)
		case transcript.IsFence(l):
			to = fenceEnd(lines, i) + 1
			if u.text = whole(text, lines[i:to]); len(u.text) > longBlock || c != typed && len(u.text) > longCode && strings.Trim(l, "`~ ") != "" {
				u.flags |= late
			}
			if parent == heading && before != none {
				parent = before // it is about what stands above it
			}
			before = s.add(u, parent)
		case isHeading(l) && !(strings.HasPrefix(l, "**") && leadsIn(l)):
			u.text, u.flags = lines[i].text, lead
			if strings.HasPrefix(l, "#") {
				section = none
			}
			heading, before = s.add(u, section), none
			if strings.HasPrefix(l, "#") {
				section = heading
			}
		case isItem(l):
			if i > 0 && parent == heading && before != none && lines[i-1].text != "" {
				parent = before
			}
			to = i + listEnd(lines[i:])
			s.list(text, lines[i:to], u, parent)
			before = len(s.units) - 1
		default:
			u.from += len(lines[i].text) - len(l)
			if parent != none && s.units[parent].flags&lead != 0 && exchange.Announces(s.units[parent].text) {
				parent = heading // it announced a step, and no paragraph
			}
			if parent == heading && before != none && c != typed && refers().MatchString(l) {
				if parent = before; s.units[before].flags&late != 0 {
					parent = s.units[before].parent // it does not bring a long block
				}
			}
			before = s.sentences(l, u, parent)
			if s.units[before].flags&lead != 0 {
				above = before
			}
		}
	}
}

// paste makes units of what the user pasted: its beginning shows what it is, and the first lines that tell of an error what
// is meant.
func (s *splitter) paste(text string, lines []line, u unit, parent int) {
	head := 5 // lines
	if parent != none && s.units[parent].flags&lead != 0 {
		head = 16 // it is what he means
	}
	for len(lines) > 1 && lines[len(lines)-1].text == "" {
		lines = lines[:len(lines)-1]
	}
	u.class, u.lines, u.label = pasted, len(lines), "pasted, "+count(len(lines), "line")
	add := func(from, to int, more flags) {
		if from < to {
			u.text, u.from = whole(text, lines[from:to]), lines[from].at
			u.flags |= more
			k := s.add(u, parent)
			if u.lines > 0 {
				parent, u.lines = k, 0 // the others are under the beginning
			}
			u.flags &^= more
		}
	}
	n, all := min(head, len(lines)), len(lines)
	first := slices.IndexFunc(lines, func(l line) bool { return shell.TellsError(l.text) })
	if first < n {
		add(0, n, 0)
		add(n, all, late)
		return
	}
	n = min(2, n)
	from, to := max(n, first-1), min(all, first+head)
	for from > n && lines[from].text == "" {
		from--
	}
	add(0, n, telling)
	add(n, from, late)
	add(from, to, telling)
	add(to, all, late)
}

// sentences makes units of a line, each under the one before it, and returns the last.
func (s *splitter) sentences(text string, u unit, parent int) (last int) {
	at, first := u.from, len(s.units)
	brief := u.class == prose && len(s.items[s.item].Text) <= longNote
	for text != "" {
		n, more := tokens.Sentence(text)
		u.text, u.from = strings.TrimRight(text[:n], " \t"), at
		u.flags &^= lead | idle | ends
		switch {
		case more:
			u.flags |= ends
		case leadsIn(u.text):
			u.flags |= lead
		case (u.class == prose || u.class == closing) && exchange.Announces(u.text), brief && exchange.TellsStep(u.text):
			u.flags |= idle
		}
		if last = s.add(u, parent); u.flags&idle == 0 {
			parent = last // nothing waits for an announcement
		}
		text, at = text[n:], at+n
	}
	if told := slices.DeleteFunc(slices.Clone(s.units[first:]), func(u unit) bool { return u.flags&idle != 0 }); brief && len(told) == 1 && isRemark(told[0].text) {
		for i := first; i <= last; i++ {
			s.units[i].flags |= idle
		}
	}
	return last
}

// list makes units of a list or a table: a short one is taken as a whole, the items of a long one in their order.
func (s *splitter) list(text string, lines []line, u unit, parent int) {
	if u.text = whole(text, lines); len(u.text) <= shortList {
		s.add(u, parent)
		return
	}
	if len(lines) > 1 && tableRule(lines[1].text) {
		u.text, u.flags = whole(text, lines[:2]), u.flags|lead
		parent, lines = s.add(u, parent), lines[2:]
		u.flags &^= lead
	}
	s.lists++
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && (!isItem(strings.TrimLeft(lines[n].text, " \t")) || transcript.Indent(lines[n].text) > transcript.Indent(lines[0].text)) {
			n++
		}
		item := lines[:n]
		for len(item) > 1 && item[len(item)-1].text == "" {
			item = item[:len(item)-1]
		}
		u.text, u.from, u.list = whole(text, item), lines[0].at, s.lists
		first := len(s.units)
		if len(u.text) <= shortItem {
			s.add(u, parent)
		} else if rest := s.sentences(lines[0].text, u, parent); len(item) > 1 {
			u.text, u.from = whole(text, item[1:]), item[1].at
			s.add(u, rest)
		}
		if parent = first; s.units[first].flags&lead != 0 {
			parent = len(s.units) - 1
		}
		s.units[first].flags |= begins
		lines = lines[n:]
	}
}

// listEnd returns how many lines the list has that they begin with.
func listEnd(lines []line) (n int) {
	base, open, blank := transcript.Indent(lines[0].text), "", false
	for i, l := range lines {
		t := strings.TrimSpace(l.text)
		if open == "" && i > 0 && t != "" && transcript.Indent(l.text) <= base && (!isItem(t) || strings.HasPrefix(t, "|") != strings.HasPrefix(lines[0].text, "|") ||
			blank && strings.HasPrefix(t, "|")) {
			break
		}
		open = transcript.OpenFence(open, t[transcript.ItemIndent(t):])
		if blank = t == ""; !blank {
			n = i + 1
		}
	}
	return n
}

var (
	listMark = pattern(`^([-*+•]|\d{1,3}[.)])\s+`)
	// leftOut matches the remark at the end of a list of an earlier version.
	leftOut = pattern(`^\[(\d+) more: (.*)\]$`)
	// refers matches the beginning of a paragraph that goes on from the one before it.
	refers = pattern(`^\W{0,3}(But|However|So|And|That|This|These|Those|It|They|Both|Also|Then|Which|Neither|Instead|Otherwise|Therefore|Additionally|Because)\b`)
)

func isItem(l string) bool {
	return listMark().MatchString(l) || strings.HasPrefix(l, "|") || leftOut().MatchString(l)
}

// isHeading reports whether a line is a heading, or in bold as a whole.
func isHeading(l string) bool {
	if strings.HasPrefix(l, "#") {
		return strings.HasPrefix(strings.TrimLeft(l, "#"), " ")
	}
	if k := strings.LastIndex(l, "** ("); k > 0 && strings.HasSuffix(l, ")") {
		l = l[:k+2]
	}
	return len(l) > 4 && len(l) < 120 && strings.HasPrefix(l, "**") && strings.HasSuffix(strings.TrimRight(l, ":"), "**") && strings.Count(l, "**") == 2
}

// leadsIn reports whether a text only announces what follows.
func leadsIn(text string) bool {
	text = strings.TrimRight(text, " *_`")
	return strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
}

func tableRule(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "|") && strings.Contains(s, "-") && strings.Trim(s, "|-: ") == ""
}

// fenceEnd returns the line that ends the block of code that begins at line i: its fence, or else the last line before
// a blank one.
func fenceEnd(lines []line, i int) int {
	open := strings.TrimLeft(lines[i].text, " \t")
	for k := i + 1; k < len(lines); k++ {
		if transcript.ClosesFence(lines[k].text, open) {
			return k
		}
	}
	k := i
	for k+1 < len(lines) && lines[k+1].text != "" {
		k++
	}
	return k
}

// pattern returns a regular expression that is compiled when it is first used.
func pattern(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}
