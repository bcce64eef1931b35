package compress

import (
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/version"
)

// Recall converts the segments of a version to items, to make a smaller version of it. The items name the messages of
// the original. A kept text becomes an item of the user. A plan for these items must have the spans of all kept texts,
// in order, or none.
func Recall(segs []version.Segment) []version.Item {
	var items []version.Item
	x, at, by := 0, "", ""
	var day time.Time // of the last heading with a date
	closing := -1
	for _, s := range segs {
		if s.Role == "heading" {
			x, at, by, day = headingOf(s.Text, day)
			closing = -1
			continue
		}
		it := version.Item{N: s.Src[0][0], To: s.Src[len(s.Src)-1][1], X: x, Time: at, By: by, Text: s.Text, Label: s.Label}
		if len(s.Src) > 1 {
			it.Src = s.Src
		}
		switch {
		case s.Keep != "":
			it.Kind, it.Kept = version.User, true
		case s.Role == "user":
			it.Kind, it.Partial, it.Label = version.Answer, s.Partial, "" // there are no marks in it
		case s.Role == "script":
			it.Kind = version.Script
		case s.Role == "assistant" && (s.Label == "asked" || s.Label == version.Steps):
			it.Kind = version.Assistant
		case s.Role == "assistant":
			it.Kind, it.Closing = version.Assistant, true
			if closing >= 0 {
				items[closing].Closing = false
			}
			closing = len(items)
		default:
			items = append(items, tools(it, s)...)
			continue
		}
		if it.Kind != version.Assistant {
			closing = -1
		}
		items = append(items, it)
	}
	sort.SliceStable(items, func(i, j int) bool { return items[i].N < items[j].N })
	return items
}

// headingOf reads a heading: the first message of the exchange, its time, of which the year is not known, and what else
// it says. day is that of the heading before.
func headingOf(text string, day time.Time) (x int, at, by string, of time.Time) {
	number, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(text, continued), "#"), headingGap)
	x, _ = strconv.Atoi(number) // 0: a heading of another device, which is left out
	when, by, _ := strings.Cut(rest, headingGap)
	if t, err := time.Parse("Jan 2 15:04", when); err == nil {
		return x, t.Format(time.RFC3339), by, t
	}
	if t, err := time.Parse("15:04", when); err == nil && !day.IsZero() {
		y, m, d := day.Date()
		return x, time.Date(y, m, d, t.Hour(), t.Minute(), 0, 0, time.UTC).Format(time.RFC3339), by, day
	}
	return x, "", rest, day
}

var entry = pattern(`^(.*?)(?: \(\+(\d+) −(\d+)\))?$`)

// tools converts a segment in the role of tools: a list, a change, a failure or other text.
func tools(it version.Item, s version.Segment) []version.Item {
	kind, of, _ := strings.Cut(s.Label, " ")
	switch kind {
	case "files":
		var items []version.Item
		for e := range strings.SplitSeq(s.Text, "; ") {
			m := entry().FindStringSubmatch(e)
			x := it
			x.Kind, x.Label, x.Target, x.Text = version.Edit, "", m[1], ""
			x.Added, _ = strconv.Atoi(m[2])
			x.Removed, _ = strconv.Atoi(m[3])
			items = append(items, x)
		}
		return items
	case "commands":
		var items []version.Item
		for e := range strings.SplitSeq(s.Text, "; ") {
			x := it
			x.Kind = version.Command
			x.Text, x.Label, _ = strings.Cut(e, arrow)
			items = append(items, x)
		}
		return items
	case "changes":
		it.Kind, it.Label, it.Diff, it.Text = version.Edit, "", s.Text, ""
		it.Target, it.Partial = strings.CutSuffix(of, inPart)
		return []version.Item{it}
	case "failed":
		it.Kind = version.Failure
		label, fixed := strings.CutSuffix(of, passedLater)
		if it.Label = label; fixed {
			it.Fixed = it.N
		}
		return []version.Item{it}
	}
	if it.Kind = version.Recap; version.IsRemark(s.Label) {
		it.Kind = version.Call
	}
	return []version.Item{it}
}
