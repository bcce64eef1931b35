package compress

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/transcript"
)

// A unit is the smallest thing that the engine takes or leaves: a sentence, a block of code, a table's head, an entry
// of a list. One whose parent is not taken would not be understood: an item of a list needs the words that lead in.
type unit struct {
	text   string
	item   int32 // index of its Item
	line   int32 // of the text of the item, from 0
	parent int32 // index of a unit, or -1
	group  int32 // index of the first unit of the short list that it is an item of, or -1: it is taken as a whole
	next   int32 // index of the next item of its list, or 0
	list   int32 // of words that lead in: index of the first item of a list that can be named instead, or 0
	cost   int32 // plain tokens, about
	at     uint16
	edges  pieceEdges
	class  class
	flags  flags
	prior  float32
}

type flags uint8

const (
	lead     flags = 1 << iota // it says nothing alone: a heading, or words before a list
	blank                      // a blank line is before its line
	listItem                   // its line is an item of a list or a row of a table
	bulky                      // a long block: it comes after everything else that was said
	after                      // it is only taken after its parent: the sentence before it, or what it refers to
	idle                       // the announcement of a step, which says nothing
	late                       // it comes after everything that was said: code, or what code says again
	taken
)

// class is what a unit is for.
type class uint8

const (
	userClass class = iota
	pasted          // what the user pasted
	asked           // a question of the assistant in a dialog
	closing         // the last thing that the assistant says before the user speaks again
	prose           // what it says in between
	summary         // of a compaction
	report          // of an agent
	file            // an entry of the list of changed files
	command         // an entry of the list of commands
	failed          // a failure, in one line
	note            // of the client
	change          // the changed lines of an edit
	classes
)

// longBlock is the size in bytes from which a block of code in a text comes after everything else.
const longBlock = 1200

// split makes the units of items, and looks for what each is about.
func split(items []Item) ([]unit, []*listed, [][]int32) {
	s := splitter{items: items, entries: listsOf(items)}
	for i := range items {
		it := &items[i]
		s.item = int32(i)
		switch it.Kind {
		case User, Answer, Script:
			from := len(s.units)
			s.prose(it.Text, userClass)
			if from < len(s.units) && s.units[from].parent < 0 {
				s.units[from].parent = s.question(it, from)
			}
		case Assistant:
			switch {
			case it.Label == "asked":
				s.prose(it.Text, asked)
				for k := len(s.units) - 1; k > 0 && s.units[k-1].item == s.item; k-- {
					s.units[k].parent = int32(k - 1) // all of a question
				}
			case it.Closing:
				s.prose(it.Text, closing)
			default:
				s.prose(it.Text, prose)
			}
		case Recap:
			switch {
			case strings.HasPrefix(it.Label, "report"):
				s.prose(it.Text, report)
			default:
				s.prose(it.Text, summary)
			}
		case Edit:
			s.edit(i, it)
		case Command:
			if l := s.entries[i]; l != nil && l.unit < 0 {
				l.unit = s.add(unit{text: l.String(), class: command})
			}
		case Failure:
			s.failure(it, s.entries[i])
		case Call:
			if it.Label == noReply {
				s.add(unit{text: it.Text, class: note, flags: late})
			} else if it.Target == "" && (it.Label != "" || !clientNoise(it.Text)) {
				s.add(unit{text: oneLine(it.Text, 800), class: note})
			}
		}
	}
	return s.units, s.entries, s.measure()
}

type splitter struct {
	items   []Item
	units   []unit
	item    int32
	entries []*listed // by item
}

// A listed is an entry of the list of files or of commands of an exchange, with all its edits or all its runs.
type listed struct {
	kind           Kind
	name           string
	unit           int32 // -1: none yet
	added, removed int
	edits          int      // with changed lines
	ends           []string // how the command ended, each time that it is another way
	fixed          bool
	src            [][2]int
}

// String returns the entry as it is written.
func (l *listed) String() string {
	switch {
	case l.added+l.removed > 0:
		return fmt.Sprintf("%s (+%d −%d)", l.name, l.added, l.removed)
	case len(l.ends) > 0:
		return l.name + arrow + strings.Join(l.ends, ", then ")
	}
	return l.name
}

// listsOf returns the entry of each item that is an edit or a run: one for all those of an exchange with the same name.
func listsOf(items []Item) []*listed {
	out := make([]*listed, len(items))
	var known []*listed // of the exchange
	for i := range items {
		it := &items[i]
		if i > 0 && it.X != items[i-1].X {
			known = nil
		}
		name := ""
		switch it.Kind {
		case Edit:
			name = oneLine(strings.ReplaceAll(it.Target, `\`, "/"), 200)
		case Command:
			name = commandText(it)
		case Failure:
			name = oneLine(shortCommand(it.Label), 100)
		}
		if name == "" {
			continue
		}
		k := slices.IndexFunc(known, func(l *listed) bool {
			if l.kind != it.Kind || unnamed(name) > 0 {
				return false
			}
			return l.name == name || it.Kind == Edit && // one of them was named from another directory
				(strings.HasSuffix(l.name, "/"+name) || strings.HasSuffix(name, "/"+l.name))
		})
		if k < 0 {
			k = len(known)
			known = append(known, &listed{name: name, kind: it.Kind, unit: -1})
		}
		l := known[k]
		out[i] = l
		l.src = append(l.src, it.sources()...)
		if it.Kind == Edit && (it.Label == changedLater || withoutBlankEnds(it.Diff) != "") {
			l.edits++
		}
		l.added, l.removed = l.added+it.Added, l.removed+it.Removed
		if it.Kind == Command {
			if n := len(l.ends); it.Label != "" && (n == 0 || l.ends[n-1] != it.Label) {
				l.ends = append(l.ends, it.Label)
			}
		}
	}
	return out
}

// unnamed returns the number of entries that an entry stands for which ends a list of an earlier version: "3 more".
func unnamed(name string) int {
	number, is := strings.CutSuffix(name, " more")
	n, err := strconv.Atoi(number)
	if !is || err != nil {
		return 0
	}
	return n
}

// shortReply is the size in bytes up to which a request is read together with the question that it answers.
const shortReply, longReply = 60, 100 // the longer ones begin with an agreement

// agrees matches the beginning of a reply.
var agrees = pattern(`(?i)^\W*(yes|yep|yeah|yup|ok|okay|sure|no|nope|go|do it|do that|let'?s|please|sounds good|perfect|great|option|i agree|agreed|correct|right|neither|both|all of)\b`)

// suggests matches a recommendation.
var suggests = pattern(`(?i)\b(I'd (lean|suggest|recommend|go with|say)|I (suggest|recommend|lean)|my (suggestion|recommendation)|recommended|should I|ready to)\b`)

// question returns the last unit of the question that the text of an item answers, or -1: that of a dialog, and for a
// few words the one that the assistant ended on. from is the first unit of the text.
func (s *splitter) question(it *Item, from int) int32 {
	if from == 0 {
		return -1
	}
	last := &s.units[from-1]
	before := &s.items[last.item]
	switch {
	case before.Label == refused || before.Label == notYet:
		return int32(from - 1)
	case before.Kind != Assistant:
		return -1
	case last.class == asked && before.N == it.N:
		return int32(from - 1)
	case !before.Closing || len(it.Text) > shortReply && !(len(it.Text) <= longReply && agrees().MatchString(it.Text)):
		return -1
	}
	for k := from - 1; k >= max(0, from-3) && s.units[k].item == last.item; k-- {
		if strings.HasSuffix(strings.TrimRight(s.units[k].text, " *_)"), "?") {
			return int32(k)
		}
	}
	if !agrees().MatchString(it.Text) {
		return -1
	}
	for k := from - 1; k >= 0 && s.units[k].item == last.item; k-- {
		if suggests().MatchString(s.units[k].text) {
			return int32(k)
		}
	}
	if last.flags&(lead|listItem|bulky) == 0 && !transcript.IsFence(last.text) {
		return int32(from - 1)
	}
	return -1
}

// add appends a unit without a parent and returns its index.
func (s *splitter) add(u unit) int32 {
	u.item, u.group = s.item, -1
	if u.parent == 0 {
		u.parent = -1
	} else {
		u.parent--
	}
	s.units = append(s.units, u)
	return int32(len(s.units) - 1)
}

// under is add with a parent, -1 for none.
func (s *splitter) under(u unit, parent int32) int32 {
	u.parent = parent + 1
	return s.add(u)
}

var listMark = pattern(`^([-*+•]|\d{1,3}[.)])\s+`)

// prose makes units of a text that somebody said.
func (s *splitter) prose(text string, c class) {
	lines := strings.Split(strings.TrimRight(text, " \t\r\n"), "\n")
	var kinds []transcript.LineKind
	if c == userClass {
		kinds = transcript.LineKinds(strings.Join(lines, "\n"))
	}
	heading, before := int32(-1), int32(-1) // the heading above, and the words that lead in
	var nest []nested                       // items of lists around the line
	row := int32(-1)                        // the row of a table before the line
	blankBefore := false
	const head, long = 5, 30 // lines of the first block of a paste, and of what is shown of a long one
	log := int32(-1)         // the block of a paste before the line
	begun := 0               // the first line of the paste
	whole := len(s.units)
	block := func(u unit, around int32) {
		if u.class != pasted {
			s.under(u, around)
			return
		}
		switch {
		case log >= 0:
			around = log
		default:
			begun = int(u.line)
		}
		if int(u.line)-begun >= long {
			u.flags |= late
		}
		last := s.under(u, around)
		if log >= 0 {
			s.units[log].next = last
		}
		log = last
	}
	defer func() { s.lists(whole) }()
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t\r")
		trimmed := strings.TrimLeft(line, " \t")
		if trimmed == "" {
			blankBefore = i > 0
			continue
		}
		u := unit{line: int32(i), class: c}
		if blankBefore {
			u.flags |= blank
		}
		afterBlank := blankBefore
		blankBefore = false
		indent := len(line) - len(trimmed)
		sibling := int32(-1) // a list is kept from its first item on
		for len(nest) > 0 && nest[len(nest)-1].indent >= indent {
			if last := nest[len(nest)-1]; last.indent == indent && (listMark().MatchString(trimmed) || leftOut().MatchString(trimmed)) {
				sibling = last.unit
			}
			nest = nest[:len(nest)-1]
		}
		around := before
		if len(nest) > 0 {
			around = nest[len(nest)-1].unit
		} else if around < 0 {
			around = heading
		}
		if sibling >= 0 {
			if s.units[sibling].flags&lead != 0 {
				sibling = -1 // parts with a heading each
			} else {
				around = sibling
			}
		}
		above := row
		row = -1
		switch {
		case transcript.IsFence(trimmed):
			end := fenceEnd(lines, i)
			u.text = strings.Join(lines[i:end+1], "\n")
			if end == i || !closes(lines[end], trimmed) {
				u.text += "\n" + fenceOf(trimmed) // never closed in the session
			}
			if len(u.text) > longBlock || c != userClass && len(u.text) > longCode && code(u.text) {
				u.flags |= bulky
			}
			if c == userClass && (kinds != nil && kinds[i] == transcript.Pasted || end-i > head+2) {
				if u.class = pasted; end-i > head+2 && end < len(lines) && log < 0 { // its beginning shows what it is
					whole := u
					u.text, u.flags = strings.Join(lines[i:i+head], "\n"), u.flags&^bulky
					block(u, around)
					u, i = whole, i+head
					u.text, u.line = strings.Join(lines[i:end+1], "\n"), int32(i)
				}
			}
			block(u, around)
			i = end
		case kinds != nil && kinds[i] == transcript.Pasted:
			most := 12 // lines of a paste that stay together
			if log < 0 {
				most = head
			}
			end := i
			for end+1 < len(lines) && end-i+1 < most && kinds[end+1] == transcript.Pasted && !transcript.IsFence(strings.TrimSpace(lines[end+1])) {
				end++
			}
			u.text, u.class = strings.TrimRight(strings.Join(lines[i:end+1], "\n"), " \t\r\n"), pasted
			if log >= 0 {
				u.flags |= bulky
			}
			block(u, around)
			i = end
		case c != userClass && fileLine().MatchString(trimmed):
			u.text, u.flags = line, u.flags|lead
			before, nest = s.under(u, heading), nil
		case strings.HasPrefix(trimmed, "#") && !leadsIn(trimmed) && strings.HasPrefix(strings.TrimLeft(trimmed, "#"), " ") || boldLine(trimmed) && !leadsIn(trimmed):
			u.text, u.flags = line, u.flags|lead
			above := int32(-1)
			if c == prose && strings.HasPrefix(s.items[s.item].Label, "plan") && partNumber(&u) == 0 { // a part has parts
				for above = heading; above >= 0 && (depth(s.units[above].text) >= depth(line) || depth(s.units[above].text) == 1); above = s.units[above].parent {
				}
			}
			heading = s.under(u, above)
			before, nest = -1, nil
		case strings.Trim(trimmed, "-=*_ ") == "":
			// a rule
		case strings.HasPrefix(trimmed, "|"):
			u.flags |= listItem
			if i+1 < len(lines) && tableRule(lines[i+1]) {
				u.text, u.flags = line+"\n"+strings.TrimRight(lines[i+1], " \t\r"), u.flags|lead
				before = s.under(u, around)
				row = before
				i++
				break
			}
			u.text = line
			if above < 0 {
				row = s.under(u, around)
				break
			}
			row = s.under(u, above)
			if s.units[above].flags&lead == 0 {
				s.units[above].next = row
			}
		default:
			isItem := listMark().MatchString(trimmed) || leftOut().MatchString(trimmed)
			if isItem {
				u.flags |= listItem
			} else if len(nest) == 0 && before >= 0 && afterBlank && indent == 0 && s.units[before].line < int32(i)-2 {
				before, around = -1, heading // the list that the words led in is over
			}
			if n := len(s.units) - 1; c == userClass && isItem && around < 0 && n >= whole && s.units[n].class == c && s.units[n].flags&listItem == 0 {
				around = int32(n) // what the list is about
			}
			if indent < 4 && !isItem && len(nest) == 0 {
				line = trimmed
			}
			last, leads := s.line(line, u, around)
			if sibling >= 0 && isItem {
				s.units[sibling].next = last
			}
			switch {
			case leads && isItem:
				nest = append(nest, nested{last, indent})
			case leads:
				before = last
			case isItem:
				nest = append(nest, nested{last, indent})
			case len(nest) == 0 && before >= 0 && around == before:
				before = -1 // one paragraph was led in
			}
		}
	}
}

// shortList is the size in bytes up to which the items of a list are taken together.
const shortList = 480

// lists makes groups of the short lists among the units from the given one on.
func (s *splitter) lists(from int) {
	begins := map[int32]bool{}
	for i := from; i < len(s.units); i++ {
		if next := s.units[i].next; next > 0 {
			begins[next] = true
		}
	}
	for i := from; i < len(s.units); i++ {
		if s.units[i].next == 0 || begins[int32(i)] {
			continue
		}
		list := []int32{int32(i)}
		size := len(s.units[i].text)
		for k := s.units[i].next; k > 0; k = s.units[k].next {
			list = append(list, k)
			size += len(s.units[k].text)
		}
		p := s.units[i].parent
		if p >= 0 && s.units[i].class != userClass && s.units[i].class != pasted && s.units[p].flags&lead != 0 && s.units[p].list == 0 && 4*len(itemNames(s.units, int32(i), "items")) < 3*size && !nameless(s.units, int32(i)) {
			s.units[p].list = int32(i)
		}
		if size > shortList {
			continue
		}
		for _, k := range list {
			s.units[k].group, s.units[k].parent = int32(i), s.units[i].parent
		}
	}
}

// nested is an item of a list, with its indentation.
type nested struct {
	unit   int32
	indent int
}

// line makes the units of a line of prose: its sentences. It returns the one that following lines may depend on, and
// whether it leads in.
func (s *splitter) line(line string, u unit, parent int32) (last int32, leads bool) {
	item := u.flags&listItem != 0
	begin := int32(-1)
	for _, p := range pieces(line, item && u.class != userClass) {
		u := u
		u.text, u.edges = p.Text, p.Edges
		under := parent
		if begin >= 0 {
			under = last
			u.flags |= after
			u.flags &^= listItem
		} else if !item && u.class != userClass && refers().MatchString(p.Text) && s.before(u.line) {
			if under = int32(len(s.units) - 1); code(s.units[under].text) && len(s.units[under].text) > longCode {
				under = parent
			} else {
				u.flags |= after
			}
		}
		if item && begin >= 0 {
			u.flags |= listItem
		}
		if leads = leadsIn(p.Text); leads && !answers().MatchString(p.Text) {
			u.flags |= lead
		}
		last = s.under(u, under)
		if begin < 0 {
			begin = last
		}
		s.units[last].at = uint16(min(int(last-begin), 1<<16-1))
	}
	if item {
		return begin, leads
	}
	return last, leads
}

// pieces returns the pieces of a line. A short first sentence of an item of a list goes with the second one: "**Reset**:
// the risky case." says too little.
func pieces(line string, item bool) (out []textPiece) {
	const short, most = 90, 300
	eachPiece(line, func(p textPiece) {
		if n := len(out); item && n == 1 && len(out[0].Text) < short && len(out[0].Text)+len(p.Text) < most && p.Edges&afterGap == 0 && !leadsIn(p.Text) {
			if p.Edges&closeBy == 0 {
				out[0].Text += " "
			}
			out[0].Text += p.Text
			out[0].Edges = out[0].Edges&startsMidway | p.Edges&endsMidway
			return
		}
		out = append(out, p)
	})
	return out
}

// code reports whether a block in a text has the name of a language: others are pictures and lists.
func code(block string) bool {
	block = strings.TrimLeft(block, " \t")
	return transcript.IsFence(block) && !strings.HasPrefix(strings.TrimLeft(block, "`~"), "\n")
}

// longCode is the size in bytes from which a block of code can be left out between a paragraph and one that refers to it.
const longCode = 240

// refers matches the beginning of a paragraph that goes on from the one before it.
var refers = pattern(`^\W{0,3}(But|However|So|And|That|This|These|Those|It|They|Both|Also|Then|Which|Neither|Instead|Otherwise|Therefore|Additionally|Because)\b`)

// before reports whether the unit before belongs to the same text, above a line.
func (s *splitter) before(line int32) bool {
	n := len(s.units) - 1
	return n >= 0 && s.units[n].item == s.item && s.units[n].line < line
}

// answers matches a lead-in that answers a question by itself: "**No**, the hook runs to its end in all three cases:".
var answers = pattern(`(?i)^\*\*(yes|no|correct)\b.{24,}[:：]\W{0,3}$`)

// leadsIn reports whether a text only announces what follows.
func leadsIn(text string) bool {
	text = strings.TrimRight(text, " *_`")
	return strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
}

// fileLine matches a line that only names a file, for what follows.
var fileLine = pattern("(?i)^\\**(?:[a-z]+ )?(?:files?|path|location)(?: to [a-z]+)?\\**:\\**\\s*`[^`]+`(?:,? (?:and )?`[^`]+`)*\\**\\s*(?:\\([^()]*\\))?$")

// boldLine reports whether a line is a heading in bold. "**Status: done**" says something and is none, "**Scenario A: a
// commit**" is one.
func boldLine(s string) bool {
	return len(s) > 4 && len(s) < 120 && strings.HasPrefix(s, "**") && strings.HasSuffix(strings.TrimRight(s, ":"), "**") &&
		strings.Count(s, "**") == 2 && (boldPart().MatchString(s) || len(s) < 80 && !strings.Contains(s, ": "))
}

// boldPart matches the beginning of a heading of one of several parts.
var boldPart = pattern(`^\*\*[A-Z][a-z]+ (\d{1,2}|[A-H])\b`)

func tableRule(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "|") && strings.Contains(s, "-") && strings.Trim(s, "|-: ") == ""
}

// fenceOf returns the sign of a fence: its first characters that are the same.
func fenceOf(line string) string {
	n := 0
	for n < len(line) && line[n] == line[0] {
		n++
	}
	return line[:n]
}

// closes reports whether a line ends the block that open begins.
func closes(line, open string) bool {
	line = strings.TrimSpace(line)
	f := fenceOf(open)
	return strings.HasPrefix(line, f) && strings.Trim(line, f[:1]) == ""
}

// fenceEnd returns the line that ends the block of code that begins at line i: its fence, or else the last line before
// a blank one.
func fenceEnd(lines []string, i int) int {
	open := strings.TrimLeft(lines[i], " \t")
	for k := i + 1; k < len(lines); k++ {
		if closes(lines[k], open) {
			return k
		}
	}
	k := i
	for k+1 < len(lines) && strings.TrimSpace(lines[k+1]) != "" {
		k++
	}
	return k
}

// edit makes the units of an edit: its file for the list, and the changed lines, which need the file.
func (s *splitter) edit(i int, it *Item) {
	l := s.entries[i]
	if l != nil && l.unit < 0 {
		l.unit = s.add(unit{text: l.String(), class: file})
	}
	if diff := withoutBlankEnds(it.Diff); diff != "" && l != nil {
		s.under(unit{text: diff, class: change}, l.unit)
	}
}

// withoutBlankEnds returns a change without the blank lines that it adds or removes at its beginning and its end.
func withoutBlankEnds(diff string) string {
	lines := strings.Split(diff, "\n")
	blank := func(l string) bool {
		return strings.TrimLeft(l, "+- \t\r") == "" && len(strings.TrimRight(l, " \t\r")) < 2
	}
	for len(lines) > 0 && blank(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n")
}

// failure makes the unit of a failure of a command: a line with what is telling of each of its runs.
func (s *splitter) failure(it *Item, l *listed) {
	if l == nil || it.Target != "" && it.Target != "Bash" && it.Target != "PowerShell" && it.Target != "result" && it.Target != "recalled" {
		return // a call of another tool that the client refused says nothing about the project
	}
	begin := tellingLine(strings.ReplaceAll(it.Text, `\n`, "\n"), it.Fixed > 0)
	if begin == "" {
		return
	}
	begin = oneLine(begin, 200)
	const most = 400 // bytes of the line
	switch l.fixed = it.Fixed > 0; {
	case l.unit < 0:
		l.unit = s.add(unit{text: begin, class: failed})
	case !strings.Contains(s.units[l.unit].text, strings.Split(begin, " (")[0]) && len(s.units[l.unit].text)+len(begin) < most:
		s.units[l.unit].text += gap + begin
	}
}

var (
	tells = pattern(`(?i)error|fail|panic|fatal|cannot|can't|could not|unable|undefined|denied|not found|unknown|invalid|assert|expected|exception|missing|refused|[✘✗×]`)
	// progress matches lines that say what a program is about to do.
	progress = pattern(`^(\$|>|#|==>|\+|\*) |^\d* *[│|~└]|^(npm )?(warn|warning|notice)\b|(\.\.\.|…)$|^(Compil|Generat|Runn|Build|Install|Fetch|Download|Gett|Resolv|Check|Load|Start)(ing|ed)\b|^\W*$`)
)

// tellingLine returns the line of an output that says most of why it failed: an error, or else the first line that is no
// progress. Of what passed later it is "" if there is none, otherwise the last line.
func tellingLine(text string, fixed bool) string {
	first, last := "", ""
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case line == "":
			continue
		case tells().MatchString(line):
			return line
		case first == "" && !progress().MatchString(line):
			first = line
		}
		last = line
	}
	if first == "" && !fixed {
		return last
	}
	return first
}

// arrow stands before how a command ended.
const arrow = " → "

// commandText returns the entry of a command in the list of commands, or "" if it only looks around.
func commandText(it *Item) string {
	cmd := shortCommand(it.Text)
	if unnamed(cmd) > 0 {
		return cmd
	}
	if !does().MatchString(cmd) {
		return ""
	}
	cmd = strings.ReplaceAll(strings.TrimSpace(cmd), "\\\n", " ")
	return oneLine(strings.ReplaceAll(lineEnds().ReplaceAllString(cmd, ";"), "; ", ";"), 120) // a list is divided there
}

// shortCommand returns a command without what says little: a leading cd, and all but the beginning of quoted texts.
func shortCommand(cmd string) string {
	cmd = strings.TrimPrefix(ShortCommand("$ "+strings.TrimPrefix(cmd, "$ ")), "$ ")
	cmd = staged().ReplaceAllString(cmd, "$1") // the files are in their own list
	cmd = heredoc().ReplaceAllStringFunc(cmd, func(s string) string {
		_, s, _ = strings.Cut(s, "\n")
		end := strings.LastIndexByte(strings.TrimRight(s, "\n )\""), '\n')
		return `"` + strings.ReplaceAll(s[:max(0, end)], `"`, "'") + `"`
	})
	return quoted().ReplaceAllStringFunc(cmd, func(s string) string {
		line, _, more := strings.Cut(strings.TrimSpace(s[1:len(s)-1]), "\n")
		if line = oneLine(line, 72); more && !strings.HasSuffix(line, "…") {
			line += "…"
		}
		return `"` + line + `"`
	})
}

var (
	// does matches commands that build, test, check or change something.
	does = pattern(`(?:^|[\s;&|:/.-])(test|tests|pytest|jest|vitest|lint|build|check|fmt|format|commit|push|merge|rebase|tag|release|deploy|publish|install|migrate|vet|tsc|make|gh pr (create|merge)|gh issue create)(?:$|[\s;&|:.])`)
	// looks matches commands that only look around: that one failed says nothing.
	looks    = pattern(`^(cat|head|tail|ls|grep|rg|find|sed|awk|jq|wc|which|echo|stat|file|tree)\b`)
	lineEnds = pattern(`\s*\n\s*`)
	// heredoc matches a text in a here-document, quoted the text in quotes.
	heredoc = pattern(`(?s)"\$\(cat <<-?\s*['"\\]?\w+['"]?\n.*?\n\s*\w+\n?\s*\)"`)
	quoted  = pattern(`"(?:[^"\\]|\\.)*"`)
	// staged matches what only prepares a commit.
	staged = pattern(`^git (?:-C \S+ )?add [^&|;\n]*(?:&&|;|\n)\s*(git (?:-C \S+ )?commit\b)`)
)

// clientNoise reports whether a note of the client says nothing about the work.
func clientNoise(text string) bool {
	return !strings.HasPrefix(text, "pull request") && !strings.HasPrefix(text, "[Request interrupted")
}

// measure counts the units and returns what each is about: its terms, anchors below zero.
func (s *splitter) measure() [][]int32 {
	v := NewVocabulary()
	terms := make([][]int32, len(s.units))
	for i := range s.units {
		u := &s.units[i]
		terms[i] = v.Terms(u.text)
		for k, id := range terms[i] {
			if v.Anchor(id) {
				terms[i][k] = -1 - id
			}
		}
		u.cost = int32(tokens.Raw(u.text)) + 1
		if u.list > 0 {
			u.cost += int32(tokens.Raw(itemNames(s.units, u.list, "items"))) + 1
		}
		switch u.class {
		case userClass, pasted:
			u.cost += 1 + int32(strings.Count(u.text, "\n"))
		case change:
			u.cost += 20 // its label and its fences
		case failed:
			u.cost += 14
		}
	}
	return terms
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
	return s + "…"
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

// pattern returns a regular expression that is compiled when it is first used.
func pattern(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}
