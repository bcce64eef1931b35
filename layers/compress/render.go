package compress

import (
	"sort"
	"strings"

	"github.com/memvcs/mem/layers/compress/anchors"
)

// A list of names begins with its mark, so that nobody takes it for something that was said.
const (
	filesMark   = "[files] "
	symbolsMark = "[symbols] "
)

// listOf returns the class of the names in a line and the names, if it is a list.
func listOf(line string) (c class, names string, ok bool) {
	for _, c := range [...]class{file, symbols} {
		if names, ok := strings.CutPrefix(line, markOf(c)); ok {
			return c, names, true
		}
	}
	return 0, "", false
}

func markOf(c class) string {
	if c == file {
		return filesMark
	}
	return symbolsMark
}

// render writes the units that were taken as segments: neighbours of one message together, names in lists.
func render(p *pool, items []Item) []Segment {
	var segs []Segment
	var lists [classes][]int32
	var text strings.Builder // of the last segment
	last := &unit{item: -1}
	end := func() {
		if len(segs) > 0 {
			if last.edges&anchors.MidEnd != 0 {
				text.WriteString(anchors.Gap[:len(anchors.Gap)-1])
			}
			segs[len(segs)-1].Text = text.String()
		}
		text.Reset()
	}
	texts := p.texts.browse()
	for i := range p.units.n {
		if !p.taken[i] {
			continue
		}
		u := p.units.at(int32(i))
		if listed.has(u.class) {
			lists[u.class] = append(lists[u.class], int32(i))
			continue
		}
		it := &items[u.item]
		switch {
		case u.item != last.item:
			end()
			segs = append(segs, Segment{Role: role(it.Kind, u.class), Src: it.sources()})
		case u.line == last.line && u.at == last.at+1 && u.edges&anchors.AfterGap == 0:
			if u.edges&anchors.CloseBy == 0 {
				text.WriteByte(' ')
			}
		case u.line == last.line:
			text.WriteString(anchors.Gap)
		default:
			if last.edges&anchors.MidEnd != 0 {
				text.WriteString(anchors.Gap[:len(anchors.Gap)-1])
			}
			text.WriteByte('\n')
		}
		if (u.item != last.item || u.line != last.line) && u.edges&anchors.MidStart != 0 {
			text.WriteString(anchors.Gap[1:])
		}
		if begun, ok := p.begun[int32(i)]; ok {
			text.WriteString(begun)
		} else {
			text.WriteString(texts.text(i))
		}
		last = u
	}
	end()
	for _, c := range [...]class{file, symbols} {
		if len(lists[c]) > 0 {
			segs = append(segs, nameList(p, items, lists[c], c))
		}
	}
	return segs
}

func role(k Kind, c class) string {
	switch {
	case k == Script:
		return "script"
	case c == userClass, c == pasted:
		return "user"
	case c == closing, c == prose:
		return "assistant"
	}
	return "tool"
}

// listed are the classes of names, which are written in lists.
const listed = classSet(1<<file | 1<<symbols)

func (s classSet) has(c class) bool { return s&(1<<c) != 0 }

// nameList is the one segment of the names of a class.
func nameList(p *pool, items []Item, units []int32, c class) Segment {
	s := Segment{Role: "tool"}
	var names []string
	for _, i := range units {
		names = append(names, p.text(i))
		s.Src = append(s.Src, items[p.units.at(i).item].sources()...)
	}
	sort.SliceStable(s.Src, func(a, b int) bool { return s.Src[a][0] < s.Src[b][0] })
	s.Text = markOf(c) + strings.Join(names, ", ")
	s.Src = merge(s.Src)
	return s
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
