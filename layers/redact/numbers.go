package redact

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/memvcs/mem/objects"
)

// Numbers maps the secrets of a session to their numbers. The zero value is ready for a new session. It contains hashes
// of secrets, so it must not leave the device.
type Numbers struct {
	of    map[objects.Hash]int
	added []objects.Hash // in the order of their numbers, for rollback
	last  int
	known knowns // the secrets that are found wherever they occur from now on
}

// know has a secret found wherever it occurs from now on, if it is no word: it has digits, or is so random that nothing else
// looks like it.
func (n *Numbers) know(secret []byte) {
	secret = Plain(secret)
	n.knowWord(secret)
	if word := bytes.TrimRight(secret, sentenceMarks); len(word) < len(secret) {
		n.knowWord(word) // the punctuation may not belong to it
	}
}

func (n *Numbers) knowWord(secret []byte) {
	t := traitsOf(secret)
	letters := t.Upper + t.Lower
	switch {
	case len(secret) >= 10 && t.Digits > 1 && letters > 2 && !bytes.ContainsAny(secret, " \t\r\n"):
	case len(secret) >= 12 && unguessable(secret):
	default:
		return // it may be an ordinary word elsewhere
	}
	if k, ok := Know(seenRule, secret); ok {
		n.known.Add(k)
	}
}

// Learn adds the secrets and numbers of earlier cuts.
func (n *Numbers) Learn(cuts []Cut) {
	for _, c := range cuts {
		n.set(objects.Sum(Plain(c.Bytes)), c.No)
		n.know(c.Bytes)
	}
}

// number returns the number of secret, the next one if it is new.
func (n *Numbers) number(secret []byte) int {
	h := objects.Sum(Plain(secret))
	if no, ok := n.of[h]; ok {
		return no
	}
	n.set(h, n.last+1)
	return n.last
}

func (n *Numbers) set(h objects.Hash, no int) {
	if _, ok := n.of[h]; ok {
		return
	}
	if n.of == nil {
		n.of = map[objects.Hash]int{}
	}
	n.of[h] = no
	n.added = append(n.added, h)
	n.last = max(n.last, no)
}

// mark returns a state that rollback restores.
func (n *Numbers) mark() [2]int { return [2]int{len(n.added), n.last} }

func (n *Numbers) rollback(m [2]int) {
	for _, h := range n.added[m[0]:] {
		delete(n.of, h)
	}
	n.added, n.last = n.added[:m[0]], m[1]
}

const opening, closing = "‹secret:", "›"

// placeholder returns the text that replaces the secret with this number.
func placeholder(rule string, no int) string {
	name := []byte(rule)
	for i, c := range name {
		if !ruleByte(c) {
			name[i] = '-'
		}
	}
	return opening + string(name) + ":" + strconv.Itoa(no) + closing
}

// RuleOf returns the rule in a placeholder, which may be in quotes; "" if mark is not a placeholder.
func RuleOf(mark []byte) string {
	s := strings.Trim(string(mark), `"`)
	s, ok := strings.CutPrefix(s, opening)
	if !ok {
		return ""
	}
	rule, number, _ := strings.Cut(strings.TrimSuffix(s, closing), ":")
	if _, err := strconv.Atoi(number); err != nil {
		return ""
	}
	return rule
}

func ruleByte(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' }

// Placeholders returns the placeholders in text, in order.
func Placeholders(text []byte) (found []string) {
	for _, span := range placeholders(text) {
		found = append(found, string(text[span.Start:span.End]))
	}
	return found
}

// placeholders returns the placeholders in text, in order.
func placeholders(text []byte) (found []Span) {
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(opening))
		if i < 0 {
			return found
		}
		start := at + i
		at = start + len(opening)
		for at < len(text) && ruleByte(text[at]) {
			at++
		}
		digits := at + 1
		for at < len(text) && (at < digits && text[at] == ':' || at >= digits && '0' <= text[at] && text[at] <= '9') {
			at++
		}
		if at > digits && bytes.HasPrefix(text[at:], []byte(closing)) {
			at += len(closing)
			found = append(found, Span{Start: start, End: at})
		}
	}
}
