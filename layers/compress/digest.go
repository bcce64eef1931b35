package compress

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/version"
)

// digest writes the shown units as segments: each exchange under its heading, its parts in the order of the session,
// and then the lists of files and of commands.
func (o *order) digest(shown []bool) []version.Segment {
	w := writer{order: o, shown: shown}
	for from, to := 0, 0; from < len(o.units); from = to {
		for to = from; to < len(o.units) && o.items[o.units[to].item].X == o.items[o.units[from].item].X; to++ {
		}
		if first := slices.Index(shown[from:to], true); first >= 0 {
			w.heading(&o.items[o.units[from+first].item])
			w.exchange(from, to)
		}
	}
	return w.out
}

type writer struct {
	*order
	shown []bool
	out   []version.Segment
	day   string // of the last heading
	steps int    // the number of segments up to the last one that only announces steps
}

// exchange writes an exchange: the units from one up to another.
func (w *writer) exchange(from, to int) {
	end := to
	for i, next := from, 0; i < to; i = next {
		for next = i; next < to && w.units[next].item == w.units[i].item; next++ {
		}
		switch it := &w.items[w.units[i].item]; {
		case it.Label == version.AtEnd:
			end = i
		case it.Kind == version.Failure && w.shown[i]:
			label := "failed " + it.Label
			if it.Fixed > 0 {
				label += passedLater
			}
			w.add(version.Segment{Role: "tool", Label: label, Text: it.Text, Src: it.Sources()})
		case it.Kind == version.Edit:
			w.changes(i, next)
		case it.Kind != version.Command && it.Kind != version.Failure:
			n := len(w.out)
			w.said(i, next)
			if len(w.out) == n+1 && it.Kind == version.Assistant && it.Label == "" && w.idle(i, next) {
				w.join()
			}
			if last := &w.units[next-1]; w.shown[next-1] && it.Kind == version.Assistant && it.Label == "" && asks(last.text) && w.wentOn(next, to) {
				w.add(version.Segment{Role: "tool", Label: version.Ignored, Text: "it went on", Src: it.Sources()})
			}
		}
	}
	w.entries("files", file, from, to)
	w.entries("commands", command, from, to)
	if end < to {
		w.said(end, end+1)
	}
}

// asks reports whether a text ends with a question.
func asks(text string) bool { return strings.HasSuffix(strings.TrimRight(text, " *_)"), "?") }

// wentOn reports whether the assistant speaks next in an exchange, of which the units from one up to another are left.
func (w *writer) wentOn(from, to int) bool {
	for _, u := range w.units[from:to] {
		switch it := &w.items[u.item]; it.Kind {
		case version.Assistant:
			return it.Label == ""
		case version.User, version.Answer, version.Script, version.Recap, version.Call:
			return false
		}
	}
	return false
}

// passedLater ends the label of a failure if the same thing succeeded later.
const passedLater = ", then passed"

// inPart ends the label of a plan and of changes that are not all of it.
const inPart = ", in part"

// Parts of a heading.
const (
	headingGap = " · "
	continued  = ", continued"
)

// gap marks omitted text in a line.
const gap = " … "

// heading begins an exchange.
func (w *writer) heading(it *version.Item) {
	if it.X == 0 {
		return
	}
	text := "#" + strconv.Itoa(it.X)
	if at, err := time.Parse(time.RFC3339, it.Time); err == nil {
		at = at.UTC()
		layout := "15:04"
		if day := at.Format(time.DateOnly); day != w.day {
			layout, w.day = "Jan 2 15:04", day
		}
		text += headingGap + at.Format(layout)
	}
	if it.By != "" {
		text += headingGap + it.By
	}
	if w.continued && it.X == w.items[0].X {
		text += continued
	}
	w.out = append(w.out, version.Segment{Role: "heading", Text: text, Src: [][2]int{{it.X, it.X}}})
}

// said writes the units of an item: text under a label each.
func (w *writer) said(from, to int) {
	it := &w.items[w.units[from].item]
	any := slices.Contains(w.shown[from:to], true)
	var text strings.Builder // of the segment that is open
	last, label := none, ""  // its last unit, and its label
	left := 0                // lines of pastes that are left out
	typing := 0              // words that the user typed which are
	whose := it.Label
	if strings.HasPrefix(whose, "plan") && !strings.HasSuffix(whose, inPart) && slices.Contains(w.shown[from:to], false) {
		whose += inPart
	}
	end := func() {
		if last != none {
			w.add(version.Segment{Role: roleOf(it.Kind), Label: label, Src: it.Sources(), Text: text.String()})
			text.Reset()
			last = none
		}
		if left > 2 {
			w.add(version.Segment{Role: "tool", Label: version.LeftPaste, Text: count(left, "line") + ", left out", Src: it.Sources()})
		}
		left = 0
	}
	for i, next := from, 0; any && i < to; i = next {
		next = i + 1
		u := &w.units[i]
		if !w.shown[i] {
			if left += u.lines; u.class == typed {
				typing += len(strings.Fields(u.text))
			}
			continue
		}
		if of := cmp.Or(u.label, whose); last == none || of != label || left > 2 {
			end()
			label = of
		} else {
			text.WriteString(w.between(it.Text, last, i))
		}
		text.WriteString(u.text)
		last = i
		for k := next; k <= to; k++ {
			if k == to || w.shown[k] {
				text.WriteString(w.rest(i, k, to))
				break
			}
		}
	}
	if strings.HasPrefix(whose, "plan") && last != none {
		n, names := 0, []string(nil) // of the parts that are left out
		for i := from; i < to; i++ {
			m := leftOut().FindStringSubmatch(strings.TrimSpace(w.units[i].text)) // by an earlier version
			switch {
			case w.shown[i]:
			case m != nil:
				also, _ := strconv.Atoi(m[1]) // digits
				n, names = n+also, append(names, m[2])
			case strings.HasPrefix(w.units[min(i+1, to-1)].text, strings.Fields(w.units[i].text)[0]+"#"): // it has no text of its own
			case strings.HasPrefix(w.units[i].text, "##"):
				n, names = n+1, append(names, w.partOf(i, to))
			}
		}
		if n > 0 {
			text.WriteString("\n\n" + more(n, names, 1000))
		}
	}
	end()
	if typing > 9 { // for fewer words it is as long as they are
		w.add(version.Segment{Role: "tool", Label: version.LeftTyped, Text: count(typing, "word") + ", left out", Src: it.Sources()})
	}
}

// idle reports whether all that is shown of the units from one up to another only announces steps.
func (w *writer) idle(from, to int) bool {
	for i := from; i < to; i++ {
		if w.shown[i] && w.units[i].flags&idle == 0 {
			return false
		}
	}
	return true
}

// join makes one paragraph of the last segment, which only announces a step, and of the one before it, if that does the same.
func (w *writer) join() {
	n := len(w.out) - 1
	if w.steps < n || n == 0 {
		w.steps = n + 1
		return
	}
	a, b := &w.out[n-1], w.out[n]
	a.Label, a.Text = version.Steps, a.Text+gap+b.Text
	a.Src = version.Runs(append(slices.Clone(a.Src), b.Src...)...)
	w.out = w.out[:n]
}

// between returns what stands between two units of a text that are shown.
func (w *writer) between(text string, a, b int) string {
	last, next := &w.units[a], &w.units[b]
	space := text[last.from+len(last.text) : next.from]
	switch lines := strings.Count(space, "\n"); {
	case lines == 0 && b == a+1:
		return space
	case lines == 0:
		return gap
	case last.class == pasted && next.class == pasted && b > a+1:
		return "\n…\n"
	case b == a+1 && lines == 1 && strings.TrimSpace(space) == "", last.list > 0 && last.list == next.list:
		return "\n"
	}
	return "\n\n"
}

// rest marks what is left out between a unit and the next one that is shown: the end of a sentence, and the names of the
// items at the end of a list.
func (w *writer) rest(i, next, to int) string {
	u := &w.units[i]
	var names []string
	n := 0
	for k := i + 1; k < to && w.units[k].list == u.list && u.list > 0 && (next == to || w.units[next].list != u.list); k++ {
		if v := &w.units[k]; v.flags&begins != 0 {
			n++
			names = append(names, nameOf(v.text))
			if m := leftOut().FindStringSubmatch(strings.TrimSpace(v.text)); m != nil {
				also, _ := strconv.Atoi(m[1]) // digits
				n += also - 1
			}
		}
	}
	switch {
	case n > 0 && u.class != typed: // what the user typed stands alone
		return "\n" + strings.Repeat(" ", transcript.Indent(u.text)) + more(n, names, 400)
	case w.cut(i, next):
		return "\n" + version.LeftOut
	case n > 0, u.flags&ends != 0 && next != i+1:
		return strings.TrimRight(gap, " ")
	}
	return ""
}

// cut reports whether sentences are left out of what the assistant said between a sentence and the next unit that is shown.
func (w *writer) cut(i, next int) bool {
	few := 15 // words
	u := &w.units[i]
	sentence := strings.HasSuffix(strings.TrimRight(u.text, "*_)\"`"), ".") && !strings.Contains(u.text, "\n") && u.list == 0
	if leadsIn(u.text) || isHeading(u.text) {
		sentence, few = true, 3
	}
	sentence = sentence || slices.ContainsFunc(w.units[i+1:next], func(v unit) bool { return isHeading(v.text) && v.parent < 0 }) // a part of the text
	if u.class == typed || u.class == pasted || strings.HasPrefix(w.items[u.item].Label, "plan") && !leadsIn(u.text) || !sentence {
		return false
	}
	words := 0
	for _, v := range w.units[i+1 : next] {
		if v.flags&idle == 0 && !isHeading(v.text) {
			words += len(strings.Fields(v.text))
		}
	}
	return words > few
}

// partOf names a part of a plan by its heading and, of a long plan, the first thing that it says, before a unit.
func (w *writer) partOf(heading, to int) string {
	const long = 4000 // bytes
	name := tokens.Brief(strings.Trim(w.units[heading].text, "#*: "))
	for k := heading + 1; k < to && !strings.HasPrefix(w.units[k].text, "#") && len(w.items[w.units[heading].item].Text) > long; k++ {
		if u := &w.units[k]; u.flags&lead == 0 && !transcript.IsFence(u.text) {
			text := u.text
			if rows := strings.SplitN(text, "\n", 3); len(rows) > 2 && tableRule(rows[1]) {
				text = rows[2]
			}
			return name + ": " + nameOf(text)
		}
	}
	return name
}

// more returns a remark that names items of a list, in at most so many bytes.
func more(n int, names []string, most int) string {
	size := 0
	for i, name := range names {
		if size += len(name); size > most {
			names = append(names[:i:i], "…")
			break
		}
	}
	return "[" + strconv.Itoa(n) + " more: " + strings.NewReplacer("[", "(", "]", ")").Replace(strings.Join(names, "; ")) + "]"
}

// nameOf returns what stands for an item of a list: its first sentence, to the end of a clause if it is long. Of a row of a
// table it is the first cell, with the next ones as far as they are short.
func nameOf(text string) string {
	s, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if m := leftOut().FindStringSubmatch(s); m != nil {
		return m[2]
	}
	if strings.HasPrefix(s, "|") {
		cells := strings.Split(strings.Trim(s, "| "), "|")
		for s, cells = strings.TrimSpace(cells[0]), cells[1:]; len(cells) > 0 && len(s)+len(cells[0]) <= 80; cells = cells[1:] {
			s += ": " + strings.TrimSpace(cells[0])
		}
	}
	s = strings.ReplaceAll(s, "**", "")
	s = strings.TrimSpace(s[len(listMark().FindString(s)):])
	s = strings.ReplaceAll(strings.TrimRight(s, ":. "), "; ", ", ")
	if k := strings.Index(s, ". "); k > 2 {
		s = s[:k]
	}
	return tokens.Brief(s)
}

// count returns a number with what is counted.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// entries writes what is shown of the entries of a list, and how many are left out: a reader takes a list for complete.
func (w *writer) entries(label string, c class, from, to int) {
	s := version.Segment{Role: "tool", Label: label}
	var list []string
	rest := 0
	for i := from; i < to; i++ {
		switch u := &w.units[i]; {
		case u.class != c:
		case w.shown[i]:
			list = append(list, u.text)
			s.Src = append(s.Src, w.items[u.item].Sources()...)
		default:
			rest += max(unnamed(u.text), 1)
		}
	}
	if len(list) == 0 {
		return
	}
	if rest > 0 {
		list = append(list, strconv.Itoa(rest)+" more")
	}
	s.Text = strings.Join(list, "; ")
	w.add(s)
}

// changes writes the shown changes of a file.
func (w *writer) changes(from, to int) {
	it := &w.items[w.units[from].item]
	var shown []string
	for i := from; i < to; i++ {
		if w.units[i].class == change && w.shown[i] {
			shown = append(shown, w.units[i].text)
		}
	}
	if len(shown) == 0 {
		return
	}
	s := version.Segment{Role: "tool", Label: "changes " + it.Target, Code: "diff", Text: strings.Join(shown, "\n"), Src: it.Sources()}
	if it.Partial || len(shown) < len(it.Hunks) {
		s.Label += inPart
	}
	w.add(s)
}

func (w *writer) add(s version.Segment) {
	s.Src = version.Runs(s.Src...)
	w.out = append(w.out, s)
}

func roleOf(k version.Kind) string {
	switch k {
	case version.User, version.Answer:
		return "user"
	case version.Script:
		return "script"
	case version.Assistant:
		return "assistant"
	}
	return "tool"
}
