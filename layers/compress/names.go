package compress

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/compress/anchors"
)

// What is left out of a list or of a text with headings is named.
const (
	shortName = 10  // bytes that a name has at least, if it is cut
	longName  = 80  // bytes of a name
	longNames = 400 // bytes of all of them
)

// nameOf returns what stands for an item of a list or for a heading: its first sentence, to the end of a clause if it is
// long. Of a row of a table it is the cell of a column.
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
	s = strings.ReplaceAll(strings.TrimSpace(s[len(listMark().FindString(s)):]), "**", "")
	s = strings.ReplaceAll(strings.TrimRight(s, ":. "), "; ", ", ")
	if k := strings.Index(s, ". "); k > 2 {
		s = s[:k]
	}
	if len(s) > longName {
		at := 0
		for _, end := range []string{", ", ": ", " - ", " — ", " – ", " → ", " ("} {
			if k := strings.LastIndex(s[:longName], end); k > shortName {
				at = max(at, k)
			}
		}
		if at > 0 {
			s = s[:at]
		}
		s = oneLine(s, longName)
	}
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

// filesOnly reports whether a list is a table of files, of which the names alone say nothing that [files] does not.
func filesOnly(units []unit, first int32) bool {
	for k := first; k > 0; k = units[k].next {
		if !strings.HasPrefix(units[k].text, "|") || !anchors.FileName(strings.Trim(nameOf(units[k].text, 0), "`")) {
			return false
		}
	}
	return true
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
var leftOut = pattern(`^\[(\d+) (?:more|items|left out): (.*)\]$`)

// isHeading reports whether a unit is a heading in a text.
func (u *unit) isHeading() bool {
	text := strings.TrimLeft(u.text, " \t")
	return u.flags&lead != 0 && (strings.HasPrefix(text, "#") || boldLine(text))
}
