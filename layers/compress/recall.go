package compress

import (
	"sort"
	"strings"
)

// Recall converts the segments of a version to items, to make a smaller version of it. The items name the messages of
// the original. A kept text becomes an item of the user. A plan for these items must have the spans of all kept texts,
// in order, or none.
func Recall(segs []Segment) []Item {
	var items []Item
	for _, s := range segs {
		it := Item{N: s.Src[0][0], To: s.Src[len(s.Src)-1][1], Text: s.Text}
		if len(s.Src) > 1 {
			it.Src = s.Src
		}
		switch {
		case s.Keep != "":
			it.Kind, it.Kept = User, true
			items = append(items, it)
		case s.Role == "user":
			it.Kind, it.Partial = Answer, s.Partial // there are no marks in it
			items = append(items, it)
		case s.Role == "script":
			it.Kind = Script
			items = append(items, it)
		case s.Role == "assistant":
			it.Kind, it.Closing = Assistant, true
			items = append(items, it)
		default:
			items = append(items, tools(it)...)
		}
	}
	sort.SliceStable(items, func(i, j int) bool { return items[i].N < items[j].N })
	return items
}

// tools converts a segment in the role of tools: a list, a command, an error or other text.
func tools(it Item) []Item {
	if !strings.Contains(it.Text, "\n") {
		if c, names, ok := listOf(it.Text); ok {
			return listItems(it, c, strings.Split(names, ", "))
		}
	}
	switch {
	case strings.HasPrefix(it.Text, "$ "):
		it.Kind = Command
	case strings.Contains(it.Text, "FAIL") || strings.Contains(it.Text, "rror") || strings.Contains(it.Text, "panic"):
		it.Kind = Failure
	default:
		it.Kind = Recap
	}
	return []Item{it}
}

// listItems are the items of the names of a list.
func listItems(it Item, c class, names []string) []Item {
	if c == file {
		items := make([]Item, len(names))
		for i, name := range names {
			items[i] = it
			items[i].Kind, items[i].Target, items[i].Text = Edit, name, ""
		}
		return items
	}
	it.Kind, it.Text = Edit, strings.Join(names, " ")
	return []Item{it}
}
