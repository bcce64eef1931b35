package compress

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/transcript"
)

// digest writes the chosen units as segments: each exchange under its heading, its parts in the order of the session,
// and then the lists of what failed, of files and of commands.
func (o *order) digest(chosen []bool) []Segment {
	w := writer{order: o, shown: o.shown(chosen)}
	for from := 0; from < len(o.units); {
		to := from + 1
		for to < len(o.units) && o.items[o.units[to].item].X == o.items[o.units[from].item].X {
			to++
		}
		if slices.Contains(w.shown[from:to], true) {
			w.exchange(from, to)
		}
		from = to
	}
	return joinSteps(w.out)
}

// exchange writes an exchange: the units from one up to another.
func (w *writer) exchange(from, to int) {
	w.heading(&w.items[w.units[from+slices.Index(w.shown[from:to], true)].item])
	end := to
	for i := from; i < to; i++ {
		if w.items[w.units[i].item].Label == atEnd {
			end = min(end, i)
		}
	}
	for i := from; i < end; i++ {
		if w.shown[i] {
			w.unit(int32(i))
		} else {
			w.leftPaste(int32(i))
		}
	}
	w.close()
	w.changes()
	w.entriesOf("files", file, from, end)
	w.entriesOf("commands", command, from, end)
	for i := end; i < to; i++ {
		if w.shown[i] {
			w.unit(int32(i))
		}
	}
	w.close()
}

// steps is the label of announcements of steps in one line.
const steps = "steps"

// joinSteps joins announcements of steps that follow each other into one line.
func joinSteps(segs []Segment) []Segment {
	step := func(s Segment) bool {
		return s.Role == "assistant" && s.Label == "" && len(s.Text) < 240 && !strings.Contains(s.Text, "\n") &&
			narrates(s.Text)
	}
	out := segs[:0]
	joined := false // the last one is of steps
	for _, s := range segs {
		is := step(s)
		if n := len(out) - 1; is && joined {
			out[n].Label = steps
			out[n].Text += gap + s.Text
			out[n].Src = merge(append(slices.Clone(out[n].Src), s.Src...))
			continue
		}
		joined = is
		out = append(out, s)
	}
	return out
}

// shown returns the chosen units without words that lead in to something that is not chosen, and the remarks that stand
// between two of them.
func (o *order) shown(chosen []bool) []bool {
	out := slices.Clone(chosen)
	needed := make([]bool, len(out)) // by something under it
	goesOn := 0                      // the exchange in which the assistant says something below
	for i := len(out) - 1; i >= 0; i-- {
		u := &o.units[i]
		if it := &o.items[u.item]; it.Label == noReply {
			out[i] = i > 0 && out[i-1] && goesOn == it.X
		} else if out[i] && it.Kind == Assistant {
			goesOn = it.X
		}
		if out[i] && u.flags&lead != 0 && u.list == 0 && !o.announces(i) {
			out[i] = needed[i]
		}
		if out[i] && u.parent >= 0 {
			needed[u.parent] = true
		}
	}
	for i := range out { // an item that is no longer than what would name it
		u := &o.units[i]
		if k := u.next; out[i] && k > 0 && !out[k] && u.class != userClass && u.class != pasted && o.units[k].next == 0 &&
			o.units[k].flags&lead == 0 && len(o.units[k].text) <= len(itemNames(o.units, k, "more")) {
			out[k] = true
		}
	}
	return out
}

type writer struct {
	*order
	shown []bool
	list  int32 // what is shown before the items of a list that are left out, plus one
	out   []Segment
	text  strings.Builder // of the last segment
	last  int32           // the unit before, plus one; 0: none in this segment
	day   string          // of the last heading
	diffs []int32         // the changes of the exchange

	typed  int32 // the item of the user of which the following is known, plus one
	review int   // the first line that reads like pasted text, or -1
	lines  int
}

func (w *writer) unit(i int32) {
	u := &w.units[i]
	it := &w.items[u.item]
	switch u.class {
	case file, command:
		return
	case failed:
		w.close()
		w.out = append(w.out, Segment{Role: "tool", Label: w.entries[u.item].failure(), Text: u.text, Src: merge(w.entries[u.item].src)})
		return
	case change:
		w.diffs = append(w.diffs, i)
		return
	}
	w.said(i, u, it)
}

// passedLater ends the label of a failure if the same thing succeeded later.
const passedLater = ", then passed"

// failure is the label of a failure.
func (l *listed) failure() string {
	if l.fixed {
		return "failed " + l.name + passedLater
	}
	return "failed " + l.name
}

// Parts of a heading.
const (
	headingGap = " · "
	continued  = ", continued"
)

// heading begins an exchange.
func (w *writer) heading(it *Item) {
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
	w.out = append(w.out, Segment{Role: "heading", Text: text, Src: [][2]int{{it.X, it.X}}})
}

// said writes a unit of a text.
func (w *writer) said(i int32, u *unit, it *Item) {
	if label := w.label(i, u, it); w.last == 0 || w.units[w.last-1].item != u.item || label != w.out[len(w.out)-1].Label {
		w.close()
		w.out = append(w.out, Segment{Role: roleOf(it.Kind), Label: label, Src: it.sources()})
	} else {
		before := &w.units[w.last-1]
		switch {
		case u.line == before.line && u.at == before.at+1 && u.edges&afterGap == 0:
			if u.edges&closeBy == 0 {
				w.text.WriteByte(' ')
			}
		case u.line == before.line:
			w.text.WriteString(gap)
		default:
			w.midEnd()
			w.listEnd(u)
			w.text.WriteByte('\n')
			if apart(w.units, before, u, w.last) {
				w.text.WriteByte('\n')
			}
		}
	}
	if (w.last == 0 || w.units[w.last-1].line != u.line || w.units[w.last-1].item != u.item) && u.edges&startsMidway != 0 {
		w.text.WriteString(gap[1:])
	}
	w.skipped(i)
	w.text.WriteString(u.text)
	w.last = i + 1
	if u.next > 0 && !w.shown[u.next] || u.list > 0 && !w.shown[u.list] {
		w.list = i + 1
	}
}

// label returns the label of a unit of a text: that of its item, or what marks a text that the user pasted.
func (w *writer) label(i int32, u *unit, it *Item) string {
	switch {
	case u.class != userClass && u.class != pasted || it.Kind != User:
	case w.reads(u, it):
		return linesOf("reads like pasted text", w.lines-w.review)
	case u.class == pasted:
		return linesOf("pasted", w.pastedLines(i))
	}
	return it.Label
}

// reads reports whether a unit of what the user typed is in a part that reads like pasted text.
func (w *writer) reads(u *unit, it *Item) bool {
	if w.typed != u.item+1 {
		w.typed, w.review, w.lines = u.item+1, transcript.ReviewStart(it.Text), 1+strings.Count(it.Text, "\n")
	}
	return w.review >= 0 && int(u.line) >= w.review
}

// leftPaste marks what the user pasted and is left out, at its first unit: pastes from what is shown before of the text up
// to what is shown next are one.
func (w *writer) leftPaste(i int32) {
	const few = 3 // lines
	item := w.units[i].item
	from, to := w.of(item)
	gap := func(k int) bool { return from <= k && k < to && !w.shown[k] }
	n := 0
	for k := int(i); gap(k); k++ {
		if u := &w.units[k]; u.class == pasted {
			n += 1 + strings.Count(u.text, "\n")
		}
	}
	for k := int(i) - 1; gap(k); k-- {
		if w.units[k].class == pasted {
			return // it is marked there
		}
	}
	if n < few || w.units[i].class != pasted || w.reads(&w.units[i], &w.items[item]) || !slices.Contains(w.shown[from:to], true) {
		return
	}
	w.close()
	w.out = append(w.out, Segment{Role: "tool", Label: leftPaste, Text: strconv.Itoa(n) + " lines, left out", Src: w.items[item].sources()})
}

// pastedLines returns the number of lines of the paste that a unit is a part of.
func (w *writer) pastedLines(i int32) int {
	same := func(k int32) bool {
		return k >= 0 && int(k) < len(w.units) && w.units[k].class == pasted && w.units[k].item == w.units[i].item
	}
	first, last := i, i
	for ; same(first - 1); first-- {
	}
	for ; same(last + 1); last++ {
	}
	return int(w.units[last].line-w.units[first].line) + 1 + strings.Count(w.units[last].text, "\n")
}

func linesOf(what string, n int) string {
	if n == 1 {
		return what + ", 1 line"
	}
	return what + ", " + strconv.Itoa(n) + " lines"
}

// listEnd names the items of a list that are left out. next is what follows what is shown of it, or nil.
func (w *writer) listEnd(next *unit) {
	if w.list == 0 {
		return
	}
	u := &w.units[w.list-1]
	rest, what := u.next, "more"
	if u.list > 0 && !w.shown[u.list] {
		rest, what = u.list, "items"
	}
	if what == "more" && next != nil && next.flags&listItem != 0 && indent(next.text) > indent(u.text) {
		return
	}
	w.list = 0
	switch {
	case u.class == userClass || u.class == pasted: // what the user typed stands alone
		if w.units[w.last-1].edges&endsMidway == 0 {
			w.text.WriteString(gap[:len(gap)-1])
		}
	default:
		w.text.WriteString("\n" + strings.Repeat(" ", indent(w.units[rest].text)) + itemNames(w.units, rest, what))
	}
}

// skipped names the parts of a text before a unit that are left out, if the unit is a part with a number: an answer does
// not begin with its third point.
func (w *writer) skipped(i int32) {
	u := &w.units[i]
	if u.isHeading() && w.plan(i) {
		return
	}
	n := partNumber(u)
	var names []string
	rest := 0
	for k := i - 1; n > 1 && k >= 0 && w.units[k].item == u.item; k-- {
		before := &w.units[k]
		is := leftOut().FindStringSubmatch(strings.TrimSpace(before.text))
		if is == nil && (partNumber(before) != n-1 || indent(before.text) != indent(u.text) || before.isHeading() != u.isHeading()) {
			continue
		}
		if w.shown[k] {
			break
		}
		names = append(names, nameOf(before.text))
		if rest, n = rest+1, n-1; is != nil {
			more, _ := strconv.Atoi(is[1]) // digits
			rest, n = rest+more-1, 0
		}
	}
	if text := w.text.String(); len(names) > 0 && !strings.HasSuffix(strings.TrimRight(text, "\n"), "]") { // the end of the list names them
		slices.Reverse(names)
		w.text.WriteString(strings.Repeat(" ", indent(u.text)) + named(strconv.Itoa(rest)+" left out", names) + "\n")
	}
}

func (w *writer) plan(i int32) bool { return strings.HasPrefix(w.items[w.units[i].item].Label, "plan") }

// of returns the first unit of an item and the one behind its last.
func (w *writer) of(item int32) (from, to int) {
	from = sort.Search(len(w.units), func(k int) bool { return w.units[k].item >= item })
	return from, sort.Search(len(w.units), func(k int) bool { return w.units[k].item > item })
}

// parts names the parts of a plan, or of an answer that says nothing yet, that are left out: a heading alone says too
// little for a line.
func (w *writer) parts() {
	from, to := w.of(w.units[w.last-1].item)
	plan := w.plan(w.last - 1)
	if !plan && !w.little(from, to) {
		return
	}
	divided := map[int32]bool{-1: true} // headings with a part that is shown
	for i := from; i < to; i++ {
		if u := &w.units[i]; w.shown[i] && u.isHeading() {
			divided[u.parent] = true
		}
	}
	var names []string
	for i := from; i < to; i++ {
		if u := &w.units[i]; !w.shown[i] && u.isHeading() && divided[u.parent] && !ofFiles().MatchString(u.text) && !strings.HasPrefix(u.text, "# ") &&
			i+1 < to && !w.units[i+1].isHeading() {
			names = append(names, nameOf(u.text))
		}
	}
	if len(names) > 1 || plan && len(names) > 0 {
		w.text.WriteString("\n\n" + named(strconv.Itoa(len(names))+" left out", names))
	}
}

// little reports whether what is shown of an answer says nothing yet.
func (w *writer) little(from, to int) bool {
	for i := from; i < to; i++ {
		if u := &w.units[i]; u.class != closing || w.shown[i] && !opening().MatchString(u.text) {
			return false
		}
	}
	return true
}

// ofFiles matches the heading of a list of files.
var ofFiles = pattern(`(?i)^[#* ]*(critical |new |key )?files?\b`)

// depth returns the depth of a heading.
func depth(heading string) int {
	if n := len(heading) - len(strings.TrimLeft(heading, "#")); n > 0 {
		return n
	}
	return 9 // in bold
}

var numberedPart = pattern(`^\s*(?:#+\s+)?\**(?:[A-Z][a-z]+ )?(\d{1,2})[.):]`)

// partNumber returns the number of a unit that begins a part or an item with a number, or 0.
func partNumber(u *unit) int {
	if u.at > 0 || u.class == userClass || u.class == pasted {
		return 0
	}
	m := numberedPart().FindStringSubmatch(u.text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // digits
	return n
}

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// apart reports whether a blank line is between two lines of a text: where the text has one between them, and where
// paragraphs would run on because lines between them are left out.
func apart(units []unit, a, b *unit, next int32) bool {
	for k := next; k < int32(len(units)); k++ {
		u := &units[k]
		if u.flags&blank != 0 && u.line > a.line {
			return a.flags&listItem == 0 || b.flags&listItem == 0 || units[next].line == b.line && b.flags&blank != 0
		}
		if u == b {
			break
		}
	}
	return b.line > a.line+int32(1+strings.Count(a.text, "\n")) && (a.flags|b.flags)&listItem == 0
}

// midEnd marks that the line went on.
func (w *writer) midEnd() {
	if w.last > 0 && w.units[w.last-1].edges&endsMidway != 0 {
		w.text.WriteString(gap[:len(gap)-1])
	}
}

// close finishes the last segment.
func (w *writer) close() {
	if w.last > 0 {
		w.midEnd()
		w.listEnd(nil)
		w.parts()
		w.out[len(w.out)-1].Text = w.text.String()
		w.text.Reset()
		w.last = 0
	}
}

// entriesOf writes what is shown of the entries of a list, and how many are left out: a reader takes a list for complete.
func (w *writer) entriesOf(label string, c class, from, to int) {
	s := Segment{Role: "tool", Label: label}
	var entries []string
	rest := 0
	for i := from; i < to; i++ {
		u := &w.units[i]
		switch n := unnamed(u.text); {
		case u.class != c:
		case w.shown[i]:
			entries = append(entries, u.text)
			s.Src = append(s.Src, w.entries[u.item].src...)
		default:
			rest += max(n, 1)
		}
	}
	if len(entries) == 0 {
		return
	}
	if rest > 0 {
		entries = append(entries, strconv.Itoa(rest)+" more")
	}
	s.Text = strings.Join(entries, "; ")
	w.add(s)
}

// changes writes the chosen changes, a block for each file with the line of each change before it, in the order of the
// lines if these are known. One line alone says too little.
func (w *writer) changes() {
	list := w.diffs
	w.diffs = nil
	of := func(i int32) *Item { return &w.items[w.units[i].item] }
	for len(list) > 0 {
		file := w.entries[w.units[list[0]].item]
		var same, rest []int32
		for _, i := range list {
			if w.entries[w.units[i].item] == file {
				same = append(same, i)
			} else {
				rest = append(rest, i)
			}
		}
		if !slices.ContainsFunc(same, func(i int32) bool { return of(i).Line == 0 }) {
			slices.SortStableFunc(same, func(a, b int32) int { return of(a).Line - of(b).Line })
		}
		var text []string
		s := Segment{Role: "tool", Label: "changes " + file.name, Code: "diff"}
		if of(same[0]).Label != "" {
			s.Label += " (" + of(same[0]).Label + ")" // of an earlier version
		} else if len(same) < file.edits {
			s.Label += fmt.Sprintf(" (%d of %d edits)", len(same), file.edits)
		}
		for _, i := range same {
			it := of(i)
			if it.Line > 0 {
				text = append(text, "@@ "+strconv.Itoa(it.Line)+" @@")
			} else {
				text = append(text, "@@")
			}
			text = append(text, w.units[i].text)
			s.Src = append(s.Src, it.sources()...)
		}
		if s.Text = strings.Join(text, "\n"); strings.Count(s.Text, "\n") > 1 {
			w.add(s)
		}
		list = rest
	}
}

func (w *writer) add(s Segment) {
	sort.SliceStable(s.Src, func(a, b int) bool { return s.Src[a][0] < s.Src[b][0] })
	s.Src = merge(s.Src)
	w.out = append(w.out, s)
}

func roleOf(k Kind) string {
	switch k {
	case User, Answer:
		return "user"
	case Script:
		return "script"
	case Assistant:
		return "assistant"
	}
	return "tool"
}

// merge joins runs of messages that touch or overlap. They are in the order of their first messages.
func merge(src [][2]int) [][2]int {
	var out [][2]int
	for _, r := range src {
		if n := len(out); n > 0 && r[0]-1 <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], r[1])
			continue
		}
		out = append(out, r)
	}
	return out
}
