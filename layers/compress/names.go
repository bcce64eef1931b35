package compress

import (
	"strconv"
	"strings"
)

// What is left out of a list or of a text with headings is named.
const (
	shortName = 10  // bytes that a name has at least, if it is cut
	longName  = 80  // bytes of a name
	longNames = 400 // bytes of all of them
)

// nameOf returns what stands for an item of a list or for a heading: its first sentence, to the end of a clause if it is
// long. Of a row of a table it is the first cell.
func nameOf(text string) string {
	s, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if m := leftOut().FindStringSubmatch(s); m != nil {
		return m[2]
	}
	if strings.HasPrefix(s, "|") {
		s, _, _ = strings.Cut(strings.Trim(s, "| "), "|")
	}
	s = strings.TrimLeft(strings.TrimLeft(s, "#"), " ")
	s = strings.ReplaceAll(s, "**", "")
	s = strings.TrimSpace(s[len(listMark().FindString(s)):])
	s = strings.ReplaceAll(strings.TrimRight(s, ":. "), "; ", ", ")
	if k := strings.Index(s, ". "); k > 2 {
		s = s[:k]
	}
	return Brief(s)
}

// Brief returns a text of one line, or of a long one the beginning up to the end of a clause.
func Brief(s string) string {
	if len(s) <= longName {
		return s
	}
	at := 0
	for _, end := range []string{", ", "; ", ": ", " - ", " — ", " – ", " → ", " ("} {
		for k := strings.LastIndex(s[:longName], end); k > max(at, shortName); k = strings.LastIndex(s[:k], end) {
			if closed(s[:k]) {
				at = k
			}
		}
	}
	if at > 0 {
		return s[:at]
	}
	if s = oneLine(s, longName); strings.Count(s, "`")%2 != 0 {
		s = strings.ReplaceAll(s, "`", "")
	}
	return s
}

// closed reports whether code, quotations and brackets that a text opens end in it.
func closed(s string) bool {
	return strings.Count(s, "`")%2 == 0 && strings.Count(s, `"`)%2 == 0 && strings.Count(s, "(") == strings.Count(s, ")")
}

// itemNames lists the names of the items of a list from one on, as a remark in brackets.
func itemNames(units []unit, first int32, what string) string {
	var names []string
	n := 0
	for k := first; k > 0; k = units[k].next {
		names = append(names, nameOf(units[k].text))
		if n++; leftOut().MatchString(strings.TrimSpace(units[k].text)) {
			more, _ := strconv.Atoi(leftOut().FindStringSubmatch(strings.TrimSpace(units[k].text))[1]) // digits
			n += more - 1
		}
	}
	return named(strconv.Itoa(n)+" "+what, names)
}

// nameless reports whether a list is a table of which the first cells say nothing: those of files are in [files], and some
// repeat.
func nameless(units []unit, first int32) bool {
	files, seen := true, map[string]bool{}
	for k := first; k > 0; k = units[k].next {
		name := nameOf(units[k].text)
		if !strings.HasPrefix(units[k].text, "|") {
			return false
		}
		if seen[name] {
			return true
		}
		seen[name] = true
		files = files && fileName(strings.Trim(name, "`"))
	}
	return files
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
