package compress

import (
	"slices"
	"strconv"
	"strings"
)

// What is left out of a list or of a text with headings is named by its labels.
const (
	longName  = 48  // bytes of a label
	longNames = 320 // bytes of all of them
)

// nameOf returns the label of an item of a list or of a heading: the words in bold or in code at its beginning, those
// before a dash, a colon or a bracket, or its first words. Of a row of a table it is the cell of a column.
func nameOf(text string, column int) string {
	s, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if m := leftOut().FindStringSubmatch(s); m != nil {
		return m[2]
	}
	if strings.HasPrefix(s, "|") {
		cells := strings.Split(strings.Trim(s, "| "), "|")
		s = strings.TrimSpace(cells[min(column, len(cells)-1)])
	}
	s = strings.TrimLeft(strings.TrimLeft(s, "#"), " ")
	s = strings.TrimSpace(s[len(listMark().FindString(s)):])
	if rest, is := strings.CutPrefix(s, "**"); is {
		if bold, _, closed := strings.Cut(rest, "**"); closed && bold != "" {
			return oneLine(strings.TrimRight(bold, ": "), 2*longName)
		}
	}
	for _, end := range []string{": ", " - ", " — ", " – ", " → ", " ("} {
		if k := strings.Index(s, end); k > 2 && k <= longName {
			s = s[:k]
		}
	}
	s = oneLine(strings.TrimRight(strings.ReplaceAll(s, "**", ""), ":. "), longName)
	if strings.Count(s, "`")%2 != 0 {
		s = strings.ReplaceAll(s, "`", "")
	}
	return s
}

// itemNames lists the names of the items of a list from one on, as a remark in brackets.
func itemNames(units []unit, first int32, what string) string {
	var names []string
	n := 0
	for column := 0; column < 2 && (column == 0 || repeats(names)); column++ {
		names, n = nil, 0
		for k := first; k > 0; k = units[k].next {
			names = append(names, nameOf(units[k].text, column))
			if n++; leftOut().MatchString(strings.TrimSpace(units[k].text)) {
				more, _ := strconv.Atoi(leftOut().FindStringSubmatch(strings.TrimSpace(units[k].text))[1]) // digits
				n += more - 1
			}
		}
	}
	return named(strconv.Itoa(n)+" "+what, names)
}

// repeats reports whether two names are the same.
func repeats(names []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(names)))) < len(names)
}

// named returns a remark that lists names.
func named(what string, names []string) string {
	size := 0
	for i, n := range names {
		if size += len(n); size > longNames {
			names = append(names[:i:i], "…")
			break
		}
	}
	return "[" + what + ": " + strings.NewReplacer("[", "(", "]", ")").Replace(strings.Join(names, "; ")) + "]"
}

// leftOut matches such a remark about the items of a list.
var leftOut = pattern(`^\[(\d+) (?:more|items): (.*)\]$`)

// isHeading reports whether a unit is a heading in a text.
func (u *unit) isHeading() bool {
	text := strings.TrimLeft(u.text, " \t")
	return u.flags&lead != 0 && (strings.HasPrefix(text, "#") || boldLine(text))
}
