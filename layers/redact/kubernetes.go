package redact

import "bytes"

// kubeRule is the rule that finds the values of Kubernetes' Secrets.
const kubeRule = "kubernetes-secret"

// maxKube is how far from its kind the values of a Secret are looked for, in either direction.
const maxKube = 16 << 10

// kubernetes finds the values of a Secret of Kubernetes, in YAML and in JSON, whatever their names. at is where "kind" stands.
func (s *scan) kubernetes(at int, w *word) {
	text := s.text
	if end := at + len(w.text); end < len(text) && wordly.has(text[end]) {
		return // another kind, whose name begins so
	}
	lo, hi := max(0, at-maxKube), min(len(text), at+maxKube)
	newline := "\n"
	if indexByte(text[lo:hi], '\n') < 0 {
		newline = `\n` // of a string within this one, or of a line that is no JSON
	}
	margin := marginOf(text[lo:at], newline)
	for _, mark := range [...]string{newline + "---", newline + "- apiVersion", newline + margin + "---", newline + margin + "- apiVersion"} {
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

// marginOf returns what a tool put before the last line of text: the sign of a comparison, the mark of a quotation, a time, the name of a
// file. Of a number at its end it is the length that counts.
func marginOf(text []byte, newline string) string {
	if n := bytes.LastIndex(text, []byte(newline)); n >= 0 {
		text = text[n+len(newline):]
	}
	if string(text) == "-" {
		return "-" // the sign
	}
	text = bytes.TrimRight(text, " ")
	if string(text) == "-" || len(text) > 64 || bytes.HasSuffix(text, []byte("→")) || bytes.HasSuffix(text, []byte("\t")) || bytes.HasSuffix(text, []byte(`"`)) {
		return "" // an item of a list, a listing, the beginning of a string
	}
	if n := len(text); n > 1 && text[n-1] != '+' && text[n-1] != ':' || string(text) == ">" {
		return string(text) + " "
	}
	return string(text)
}

// kubeYAML looks at the lines of text[lo:hi] that are indented below data: or stringData:, behind the margin that tools put before them.
func (s *scan) kubeYAML(lo, hi int, newline, margin string) {
	below := -1 // how far the key of the block is indented
	for start := lo; start < hi; {
		end := hi
		if n := bytes.Index(s.text[start:hi], []byte(newline)); n >= 0 {
			end = start + n
		}
		line := s.text[start:end]
		from := start + listing(line)
		if from == start {
			from += min(len(line), len(margin))
		}
		start = end + len(newline)
		line = bytes.TrimRight(s.text[from:end], " \t\r")
		indent := len(line) - len(bytes.TrimLeft(line, " "))
		body := line[indent:]
		switch {
		case len(body) == 0:
		case below >= 0 && indent > below:
			value := body
			if n := bytes.Index(body, []byte(": ")); n >= 0 && nameChars.run(body, n) == n {
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

// listing returns the length of the number that a listing puts before a line.
func listing(line []byte) int {
	i := 0
	for i < len(line) && line[i] == ' ' {
		i++
	}
	n := digits.run(line[i:], 8)
	if n == 0 {
		return 0
	}
	for _, mark := range [...]string{"→", "\t"} {
		if bytes.HasPrefix(line[i+n:], []byte(mark)) {
			return i + n + len(mark)
		}
	}
	return 0
}

// kubeJSON looks at the strings in the objects of text[lo:hi] that are called data or stringData.
func (s *scan) kubeJSON(lo, hi int) {
	for _, name := range [...]string{`"data`, `"stringData`} {
		for at := lo; ; {
			n := bytes.Index(s.text[at:hi], []byte(name))
			if n < 0 {
				break
			}
			at += n + len(name)
			open := at
			for open < hi && open < at+12 && bytes.IndexByte([]byte(`\": `+"\t\n"), s.text[open]) >= 0 {
				open++
			}
			if open >= hi || s.text[open] != '{' || open == at {
				continue
			}
			end := hi
			if n := indexByte(s.text[open:hi], '}'); n >= 0 {
				end = open + n
			}
			s.kubePairs(open+1, end)
			at = end
		}
	}
}

// kubePairs looks at every second string of text[at:end]: names and values take turns.
func (s *scan) kubePairs(at, end int) {
	for value := false; ; value = !value {
		n := indexByte(s.text[at:end], '"')
		if n < 0 {
			return
		}
		from := at + n + 1
		if n = indexByte(s.text[from:end], '"'); n < 0 {
			return
		}
		if value {
			s.kubeValue(from, from+len(bytes.TrimRight(s.text[from:from+n], `\`)))
		}
		at = from + n + 1
	}
}

// kubeValue takes a value for a secret unless it is one of those that examples have.
func (s *scan) kubeValue(start, end int) {
	value := s.text[start:end]
	if len(value) < 8 || placeholderish(value) || repeats(value) {
		return
	}
	if body := bytes.TrimRight(value, "="); len(value)%4 == 0 && base64.run(body, len(body)) == len(body) {
		if plain := decode64(nil, body); len(plain) < 6 || readable(plain) && (placeholderish(plain) || common(plain)) {
			return
		}
	} else if reference(value, quoted) || common(value) {
		return
	}
	s.found(start, end, kubeRule)
}
