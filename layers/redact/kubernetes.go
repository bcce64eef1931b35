package redact

import (
	"bytes"
)

// kubeRule is the rule that finds the values of Kubernetes Secrets.
const kubeRule = "kubernetes-secret"

// maxKube is the maximum distance, in either direction, from the kind of a Secret to its values.
const maxKube = 16 << 10

// kubernetes finds the values of a Kubernetes Secret in YAML or JSON, whatever their names. at is the offset of
// "kind".
func (s *Scan) kubernetes(at int, w *word) {
	text := s.Text
	if end := at + len(w.text); end < len(text) && wordChars.Has(text[end]) {
		return // another kind with this prefix
	}
	lo, hi := max(0, at-maxKube), min(len(text), at+maxKube)
	newline := "\n"
	if bytes.IndexByte(text[lo:hi], '\n') < 0 {
		newline = `\n` // of a string within this one, or of a line that is not JSON
	}
	margin := marginOf(text[lo:at], newline)
	for _, mark := range [...]string{newline + "---", newline + "- apiVersion", newline + margin + "---",
		newline + margin + "- apiVersion"} {
		if i := bytes.LastIndex(text[lo:at], []byte(mark)); i >= 0 {
			lo += i + len(newline)
		}
		if i := bytes.Index(text[at:hi], []byte(mark)); i >= 0 {
			hi = at + i
		}
	}
	if w.text[len("kind")] == ':' {
		s.kubeYAML(lo, hi, newline, margin)
		return
	}
	s.kubeJSON(lo, hi)
}

// kubeYAML scans the lines of text[lo:hi] that are indented below data: or stringData:, after the margin that a tool
// added.
func (s *Scan) kubeYAML(lo, hi int, newline, margin string) {
	below := -1 // the indentation of the block's key; -1 outside a block
	for start := lo; start < hi; {
		end := hi
		if n := bytes.Index(s.Text[start:hi], []byte(newline)); n >= 0 {
			end = start + n
		}
		line := s.Text[start:end]
		from := start + lineNumberLen(line)
		if from == start {
			from += min(len(line), len(margin))
		}
		start = end + len(newline)
		line = bytes.TrimRight(s.Text[from:end], " \t\r")
		indent := len(line) - len(bytes.TrimLeft(line, " "))
		body := line[indent:]
		switch {
		case len(body) == 0:
		case below >= 0 && indent > below:
			value := body
			if n := bytes.Index(body, []byte(": ")); n >= 0 && nameChars.Run(body, n) == n {
				value = bytes.TrimLeft(body[n+2:], " ")
			}
			value = bytes.Trim(value, `"'`)
			at := from + indent + bytes.LastIndex(body, value)
			s.kubeValue(at, at+len(value))
		default:
			below = -1
			if key := string(body); key == "data:" || key == "stringData:" {
				below = indent
			}
		}
	}
}

// kubeJSON scans the strings in the objects of text[lo:hi] that are called data or stringData.
func (s *Scan) kubeJSON(lo, hi int) {
	for _, name := range [...]string{`"data`, `"stringData`} {
		for at := lo; ; {
			n := bytes.Index(s.Text[at:hi], []byte(name))
			if n < 0 {
				break
			}
			at += n + len(name)
			open := at
			for open < hi && open < at+12 && bytes.IndexByte([]byte(`\": `+"\t\n"), s.Text[open]) >= 0 {
				open++
			}
			if open >= hi || s.Text[open] != '{' || open == at {
				continue
			}
			end := hi
			if n := bytes.IndexByte(s.Text[open:hi], '}'); n >= 0 {
				end = open + n
			}
			s.kubePairs(open+1, end)
			at = end
		}
	}
}

// kubePairs scans every second string of text[at:end]: names and values alternate.
func (s *Scan) kubePairs(at, end int) {
	for value := false; ; value = !value {
		n := bytes.IndexByte(s.Text[at:end], '"')
		if n < 0 {
			return
		}
		from := at + n + 1
		if n = bytes.IndexByte(s.Text[from:end], '"'); n < 0 {
			return
		}
		if value {
			s.kubeValue(from, from+len(bytes.TrimRight(s.Text[from:from+n], `\`)))
		}
		at = from + n + 1
	}
}

// kubeValue reports a value unless it is a typical example.
func (s *Scan) kubeValue(start, end int) {
	value := s.Text[start:end]
	if len(value) < 8 || isPlaceholder(value) || repeats(value) {
		return
	}
	if body := bytes.TrimRight(value, "="); len(value)%4 == 0 && Base64.Run(body, len(body)) == len(body) {
		if plain := decode64(nil, body); len(plain) < 6 || readable(plain) &&
			(isPlaceholder(plain) || common(plain)) {
			return
		}
	} else if reference(value, Quoted) || common(value) {
		return
	}
	s.found(start, end, kubeRule)
}
