package settings

import (
	"bytes"
	"slices"
	"strings"
)

// A splice replaces the bytes from start to end of a text.
type splice struct {
	start, end int
	text       string
}

// apply applies changes, which must not overlap.
func apply(b []byte, changes []splice) []byte {
	slices.SortStableFunc(changes, func(a, b splice) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, c := range changes {
		out = append(append(out, b[at:c.start]...), c.text...)
		at = c.end
	}
	return append(out, b[at:]...)
}

// A style is the layout of a text.
type style struct {
	newline string
	indent  string // of one level
}

// styleOf detects the style of a text from its first indented line.
func styleOf(b []byte) style {
	s := style{"\n", "  "}
	if bytes.Contains(b, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	for line := range bytes.SplitSeq(b, []byte("\n")) {
		rest := bytes.TrimLeft(line, " \t")
		if n := len(line) - len(rest); n > 0 && len(rest) > 0 && rest[0] == '"' {
			s.indent = string(line[:n])
			break
		}
	}
	return s
}

// lead returns the indentation of the line of pos.
func lead(b []byte, pos int) string {
	line := b[bytes.LastIndexByte(b[:pos], '\n')+1 : pos]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// add returns the changes that append an item to n. Text is the item with newlines and two spaces a level, which add
// converts to the style.
func (s style) add(b []byte, n *node, text string) []splice {
	outer := lead(b, n.start)
	inner := outer + s.indent
	if len(n.items) > 0 {
		if first := n.items[0].start; bytes.IndexByte(b[n.start:first], '\n') >= 0 {
			inner = lead(b, first)
		}
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		rest := strings.TrimLeft(l, " ")
		lines[i] = s.newline + inner + strings.Repeat(s.indent, (len(l)-len(rest))/2) + rest
	}
	text = strings.Join(lines, "")
	var out []splice
	if k := len(n.items); k > 0 && n.items[k-1].comma < 0 {
		end := n.items[k-1].Value.end
		out = append(out, splice{end, end, ","})
	}
	closer := n.end - 1
	at := len(bytes.TrimRight(b[:closer], " \t\r\n"))
	if bytes.IndexByte(b[at:closer], '\n') < 0 {
		text += s.newline + outer
	}
	return append(out, splice{at, at, text})
}

// remove returns the changes that remove the items of n for which drop returns true, with the white space before them.
// Comments stay.
func (n *node) remove(b []byte, drop func(i int) bool) []splice {
	var out []splice
	kept := -1 // the last one
	for i, it := range n.items {
		if !drop(i) {
			kept = i
			continue
		}
		start := len(bytes.TrimRight(b[:it.start], " \t\r\n"))
		if lineComment(b[:start]) && (i < len(n.items)-1 || !newlineAt(b[it.Value.end:])) {
			start += bytes.IndexByte(b[start:it.start], '\n') + 1 // its newline ends the comment
		}
		out = append(out, splice{start, it.Value.end, ""})
		if it.comma >= 0 {
			out = append(out, splice{it.comma, it.comma + 1, ""})
		}
	}
	if last := len(n.items) - 1; kept >= 0 && kept < last && n.items[last].comma < 0 {
		out = append(out, splice{n.items[kept].comma, n.items[kept].comma + 1, ""})
	}
	return out
}

// lineComment reports whether the last line of b may end in a // comment.
func lineComment(b []byte) bool {
	line := b[bytes.LastIndexByte(b, '\n')+1:]
	return bytes.Contains(line, []byte("//"))
}

// newlineAt reports whether b starts with the end of a line.
func newlineAt(b []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(b, " \t\r"), []byte("\n"))
}
