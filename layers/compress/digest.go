package compress

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/compress/anchors"
	"github.com/memvcs/mem/layers/compress/paste"
)

// digest writes the chosen units as segments: each exchange under its heading, its parts in the order of the session,
// and then the lists of what failed, of files and of commands.
func (o *order) digest(chosen []bool) []Segment {
	w := writer{order: o, shown: o.shown(chosen)}
	for i := range o.units {
		if w.shown[i] {
			w.unit(int32(i))
		}
	}
	w.end()
	return joinSteps(w.out)
}

// steps is the label of announcements of steps in one line.
const steps = "steps"

// joinSteps joins announcements of steps that follow each other into one line.
func joinSteps(segs []Segment) []Segment {
	step := func(s Segment) bool {
		return s.Role == "assistant" && s.Label == "" && len(s.Text) < 240 && !strings.Contains(s.Text, "\n") &&
			narrates().MatchString(s.Text)
	}
	out := segs[:0]
	joined := false // the last one is of steps
	for _, s := range segs {
		is := step(s)
		if n := len(out) - 1; is && joined {
			out[n].Label = steps
			out[n].Text += anchors.Gap + s.Text
			out[n].Src = merge(append(slices.Clone(out[n].Src), s.Src...))
			continue
		}
		joined = is
		out = append(out, s)
	}
	return out
}

// shown returns the chosen units without words that lead in to something that is not chosen.
func (o *order) shown(chosen []bool) []bool {
	out := slices.Clone(chosen)
	for i := len(out) - 1; i >= 0; i-- {
		u := &o.units[i]
		if out[i] && u.flags&lead != 0 && u.list == 0 && !o.announces(i) {
			out[i] = i+1 < len(out) && out[i+1] && o.units[i+1].item == u.item
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
	begun bool            // a heading was written
	x     int             // of the exchange
	day   string          // of the last heading
	lists [classes][]int32

	pasted int32 // the item of the user of which the following is known, plus one
	review int   // the first line that reads like pasted text, or -1
	lines  int
	log    int // lines that a program wrote
}

func (w *writer) unit(i int32) {
	u := &w.units[i]
	it := &w.items[u.item]
	if !w.begun || it.X != w.x {
		w.end()
		w.begun, w.x = true, it.X
		w.heading(it)
	}
	if it.Label == atEnd {
		w.end()
	}
	switch u.class {
	case file, command, symbols:
		w.lists[u.class] = append(w.lists[u.class], i)
		return
	case failed:
		w.close()
		label := failureLabel(it)
		w.out = append(w.out, Segment{Role: "tool", Label: label, Text: u.text, Src: it.sources()})
		return
	case change:
		w.lists[change] = append(w.lists[change], i)
		return
	case trouble:
		w.close()
		if n := len(w.out) - 1; n >= 0 && w.out[n].Src[0] == it.sources()[0] && strings.HasPrefix(w.out[n].Label, "failed ") {
			w.out[n].Text, w.out[n].Code = u.text, "text"
			return
		}
		w.out = append(w.out, Segment{Role: "tool", Label: failureLabel(it), Code: "text", Text: u.text,
			Src: it.sources()})
		return
	}
	w.said(i, u, it)
}

// passedLater ends the label of a failure if the same thing succeeded later.
const passedLater = ", then passed"

// failureLabel names what failed.
func failureLabel(it *Item) string {
	label := "failed " + oneLine(strings.TrimPrefix(anchors.ShortCommand("$ "+it.Label), "$ "), 100)
	if it.Fixed {
		label += passedLater
	}
	return label
}

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
		text += " · " + at.Format(layout)
	}
	if it.By != "" {
		text += " · " + it.By
	}
	if it.N > it.X && it.Kind != User && it == w.first(it) {
		text += ", continued"
	}
	w.out = append(w.out, Segment{Role: "heading", Text: text, Src: [][2]int{{it.X, it.X}}})
}

// first returns the first item of the exchange of it among the items.
func (w *writer) first(it *Item) *Item {
	k := sort.Search(len(w.items), func(k int) bool { return w.items[k].X >= it.X })
	if k < len(w.items) && w.items[k].X == it.X {
		return &w.items[k]
	}
	return it
}

// said writes a unit of a text.
func (w *writer) said(i int32, u *unit, it *Item) {
	if label := w.label(u, it); w.last == 0 || w.units[w.last-1].item != u.item || label != w.out[len(w.out)-1].Label {
		w.close()
		w.out = append(w.out, Segment{Role: roleOf(it.Kind), Label: label, Src: it.sources()})
	} else {
		before := &w.units[w.last-1]
		switch {
		case u.line == before.line && u.at == before.at+1 && u.edges&anchors.AfterGap == 0:
			if u.edges&anchors.CloseBy == 0 {
				w.text.WriteByte(' ')
			}
		case u.line == before.line:
			w.text.WriteString(anchors.Gap)
		default:
			w.midEnd()
			w.listEnd(u)
			w.text.WriteByte('\n')
			if apart(w.units, before, u, w.last) {
				w.text.WriteByte('\n')
			}
		}
	}
	if (w.last == 0 || w.units[w.last-1].line != u.line || w.units[w.last-1].item != u.item) && u.edges&anchors.MidStart != 0 {
		w.text.WriteString(anchors.Gap[1:])
	}
	w.text.WriteString(u.text)
	w.last = i + 1
	if u.next > 0 && !w.shown[u.next] || u.list > 0 && !w.shown[u.list] {
		w.list = i + 1
	}
}

// label returns the label of a unit of a text: that of its item, or what marks a text that the user pasted.
func (w *writer) label(u *unit, it *Item) string {
	if u.class != userClass && u.class != pasted || it.Kind != User {
		return it.Label
	}
	if w.pasted != u.item+1 {
		w.pasted, w.review, w.lines, w.log = u.item+1, paste.Review(it.Text), 1+strings.Count(it.Text, "\n"), 0
		for k := sort.Search(len(w.units), func(k int) bool { return w.units[k].item >= u.item }); k < len(w.units) && w.units[k].item == u.item; k++ {
			if v := &w.units[k]; v.class == pasted {
				w.log += 1 + strings.Count(v.text, "\n")
			}
		}
	}
	switch {
	case u.class == pasted:
		return linesOf("pasted", w.log)
	case w.review >= 0 && int(u.line) >= w.review:
		return linesOf("reads like pasted text", w.lines-w.review)
	}
	return it.Label
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
		if w.units[w.last-1].edges&anchors.MidEnd == 0 {
			w.text.WriteString(anchors.Gap[:len(anchors.Gap)-1])
		}
	default:
		w.text.WriteString("\n" + strings.Repeat(" ", indent(w.units[rest].text)) + itemNames(w.units, rest, what))
	}
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
	if w.last > 0 && w.units[w.last-1].edges&anchors.MidEnd != 0 {
		w.text.WriteString(anchors.Gap[:len(anchors.Gap)-1])
	}
}

// close finishes the last segment.
func (w *writer) close() {
	if w.last > 0 {
		w.midEnd()
		w.listEnd(nil)
		w.out[len(w.out)-1].Text = w.text.String()
		w.text.Reset()
		w.last = 0
	}
}

// end finishes an exchange with its lists.
func (w *writer) end() {
	w.close()
	w.changes(w.lists[change])
	if list := w.lists[file]; len(list) > 0 {
		s := Segment{Role: "tool", Label: "files"}
		var entries []string
		of := map[int32]string{}
		for _, i := range w.lists[symbols] {
			of[w.units[i].parent] = ": " + strings.ReplaceAll(w.units[i].text, " ", ", ")
		}
		for _, i := range list {
			entries = append(entries, w.units[i].text+of[i])
			s.Src = append(s.Src, w.items[w.units[i].item].sources()...)
		}
		s.Text = strings.Join(entries, "; ")
		w.add(s)
	}
	if list := w.lists[command]; len(list) > 0 {
		s := Segment{Role: "tool", Label: "commands"}
		for _, i := range list {
			s.Src = append(s.Src, w.items[w.units[i].item].sources()...)
		}
		s.Text = strings.Join(w.endings(list), "; ")
		w.add(s)
	}
	w.lists = [classes][]int32{}
}

// endings returns the entries of the list of commands: each command once, with all the ways in which it ended.
func (w *writer) endings(list []int32) []string {
	var entries, last []string
	at := map[string]int{}
	for _, i := range list {
		cmd, end, _ := strings.Cut(w.units[i].text, arrow)
		k, known := at[cmd]
		switch {
		case !known:
			at[cmd] = len(entries)
			entries, last = append(entries, w.units[i].text), append(last, end)
		case end == "" || end == last[k]:
		case last[k] == "":
			entries[k], last[k] = entries[k]+arrow+end, end
		default:
			entries[k], last[k] = entries[k]+", then "+end, end
		}
	}
	return entries
}

// changes writes the chosen changes, a block for each file with the line of each change before it. One line alone says
// too little.
func (w *writer) changes(list []int32) {
	for len(list) > 0 {
		file := w.items[w.units[list[0]].item].Target
		var rest []int32
		var text []string
		s := Segment{Role: "tool", Label: "changes " + strings.ReplaceAll(file, `\`, "/"), Code: "diff"}
		for _, i := range list {
			it := &w.items[w.units[i].item]
			if it.Target != file {
				rest = append(rest, i)
				continue
			}
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
