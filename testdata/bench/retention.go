package main

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// A score says what texts kept of passages, in five parts: anchors of the client's own summaries (.25), what the user
// typed (.20), files (.20) and words (.20) of the commit that followed, tests that failed and were mended (.15). A token is
// four characters here, so that no counter of mem's has a say in it.
type score struct{ anchors, user, files, words, tests mean }

type mean struct{ sum, n float64 }

func (m *mean) share(want []string, has func(string) bool) {
	if len(want) == 0 {
		return
	}
	n := 0
	for _, w := range want {
		if has(w) {
			n++
		}
	}
	m.sum += float64(n) / float64(len(want))
	m.n++
}

func (m mean) value() float64 { return m.sum / max(m.n, 1) }

func (s score) total() float64 {
	return .25*s.anchors.value() + .20*(s.user.value()+s.files.value()+s.words.value()) + .15*s.tests.value()
}

func (s score) String() string {
	return fmt.Sprintf("%.3f (anchors %.3f, user %.3f, files %.3f, words %.3f, failures %.3f)",
		s.total(), s.anchors.value(), s.user.value(), s.files.value(), s.words.value(), s.tests.value())
}

// add scores a text that stands for a passage.
func (s *score) add(p passage, text string) {
	flat := strings.Join(strings.Fields(text), " ")
	has := func(a string) bool { return strings.Contains(text, a) || strings.Contains(flat, a) }
	known := map[string]bool{}
	prev := ""
	for _, w := range allStems(text) {
		known[w], known[prev+" "+w] = true, true
		prev = w
	}
	said := func(w string) bool { return known[w] }
	s.anchors.share(p.anchors, has)
	s.files.share(p.files, has)
	s.words.share(p.words, said)
	for _, t := range p.tests { // of all tests, not of sessions
		s.tests.share([]string{t}, has)
	}
	if p.part != "c" && len(p.user) >= 10 {
		s.user.share(p.user, said)
	}
}

func runes(s string) int { return utf8.RuneCountInString(s) }

// units cuts a passage into the lines that the budgets and the simplest methods go by.
func units(es []entry) []line {
	var out []line
	put := func(text string, user bool) {
		for s := range strings.SplitSeq(text, "\n") {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, line{s, user})
			}
		}
	}
	for _, e := range es {
		for _, s := range e.user {
			put(s, true)
		}
		for _, s := range e.said {
			put(s, false)
		}
		for _, c := range e.calls {
			text := c.Name
			for _, k := range []string{"file_path", "command", "pattern", "description", "url"} {
				if s, ok := c.Input[k].(string); ok {
					text += " " + s
				}
			}
			first, _, _ := strings.Cut(text, "\n")
			put(string([]rune(first)[:min(200, runes(first))]), false)
		}
		for _, r := range e.results {
			for _, m := range failureLine.FindAllString(r.text, 5) {
				put(m, false)
			}
		}
	}
	return out
}

var failureLine = regexp.MustCompile(`(?m)^.*(?:--- FAIL|[Ee]rror:|panic:).*$`)

func unitTokens(us []line) int {
	n := 0
	for _, u := range us {
		n += runes(u.text) + 1
	}
	return n / 4
}

// pairs returns the pairs of neighbouring stems inside the lines of the user, each once.
func pairs(us []line) []string {
	set := map[string]bool{}
	for _, u := range us {
		if !u.user {
			continue
		}
		prev := ""
		for _, w := range allStems(u.text) {
			if prev != "" {
				set[prev+" "+w] = true
			}
			prev = w
		}
	}
	return sortedKeys(set)
}

// stems returns the stems of a text, each once.
func stems(text string) []string {
	set := map[string]bool{}
	for _, w := range allStems(text) {
		set[w] = true
	}
	return sortedKeys(set)
}

// allStems returns the stems of the words of a text in order, without those that say nothing.
func allStems(text string) []string {
	var out []string
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		if w = strings.Trim(w, "_"); w != "" && !english.IsStopWord(w) && !filler[w] {
			out = append(out, english.Stem(w, true))
		}
	}
	return out
}

var filler = map[string]bool{"s": true, "t": true, "ll": true, "ve": true, "re": true, "d": true, "m": true, "ok": true, "okay": true, "also": true, "would": true, "like": true, "really": true}

var (
	ticked  = regexp.MustCompile("`([^`\n]{3,60})`")
	named   = regexp.MustCompile(`[\w.-]+\.[a-z][a-z0-9]{0,4}\b|\b[a-z]+(?:[A-Z][a-z0-9]*)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b|\b\w+_\w+\b|\b[A-Z]{2,10}-\d+\b|#\d+\b|\bv?\d+\.\d+(?:\.\d+)*\b|\b[0-9a-f]{7,40}\b|\b\d{3,}\b`)
	pathEnd = regexp.MustCompile(`^\S*/([^/\s]+)$`)
)

// anchorsOf returns what a summary names: files, symbols, issues, hashes, versions, long numbers, spans in back-ticks.
func anchorsOf(text string) []string {
	set := map[string]bool{}
	put := func(a string) {
		if m := pathEnd.FindStringSubmatch(a); m != nil {
			a = m[1]
		}
		if a = strings.Trim(a, ".,:;()[]{}\"'* "); len(a) >= 3 && len(a) <= 60 {
			set[a] = true
		}
	}
	for _, m := range ticked.FindAllStringSubmatch(text, -1) {
		put(m[1])
	}
	for _, m := range named.FindAllString(text, -1) {
		put(m)
	}
	return sortedKeys(set)
}

// shared returns the anchors that a passage has, too.
func shared(anchors []string, es []entry) []string {
	var b strings.Builder
	for _, e := range es {
		b.WriteString(e.all())
	}
	text := b.String()
	var out []string
	for _, a := range anchors {
		if strings.Contains(text, a) {
			out = append(out, a)
		}
	}
	return out
}
