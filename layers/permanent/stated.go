package permanent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Statement is a sentence by which a user asks for something to be remembered or held to for ever.
type Statement struct {
	Text string // of the sentence, white space squeezed; with what it points to where it does not say it itself
	Cue  string // the words that say it is for ever
}

// maxStated is how long a message may be for its sentences to be the user's own words: longer ones are pasted
// instructions, documents and logs, whose "always" is not said to be remembered.
const maxStated = 4000

// maxSentence is how long a sentence may be that is a rule.
const maxSentence = 400

// Stated returns what a user asks, in a message that they typed, to be remembered or held to from now on:
// "remember this", "always ...", "never ...", "from now on ..." as orders, in English, Korean, Japanese and
// Chinese. Text in quotes, code, block quotes and tags is not the user's own, and a question asks for nothing.
// The same sentence counts once. The caller answers for that text having been typed: nothing a tool, a file or
// a model said may come here.
func Stated(message string) []Statement {
	if utf8.RuneCountInString(message) > maxStated {
		return nil
	}
	var out []Statement
	seen := map[string]bool{}
	list := sentences(message)
	for i, s := range list {
		cue, points := s.order()
		text := s.text
		switch {
		case cue == "":
			continue
		case points == back && i > 0:
			text = list[i-1].text + " " + text
		case points == ahead || points == back && !s.apart:
			text += told(list[i+1:])
		}
		if points == back && text == s.text {
			continue
		}
		if key := squash(text); !seen[key] {
			seen[key] = true
			out = append(out, Statement{text, cue})
		}
	}
	return out
}

// told returns what a sentence points to that the others follow on: the next sentence, or the items of a list.
// There may be nothing, or nothing that can be a rule.
func told(rest []sentence) string {
	var b strings.Builder
	n := 0
	for i, s := range rest {
		n += utf8.RuneCountInString(s.text)
		if s.apart || i > 0 && !(s.item && rest[0].item) || n > maxSentence || isQuestion(s.text) ||
			strings.ContainsFunc(s.text, disguises) {
			break
		}
		b.WriteString(" " + s.text)
	}
	return b.String()
}

// A sentence is what a user wrote, and the same without the words of others in it.
type sentence struct {
	text, own string
	item      bool // of a list
	apart     bool // words of others stand before it
}

// pointing says where that is said which a sentence asks to be remembered, if not in itself.
type pointing int

const (
	back pointing = iota + 1
	ahead
)

// squash returns the letters and digits of s alone, in lower case.
func squash(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// order returns the words that make the sentence an order for ever, "" if it is none, and whether it speaks of
// another one.
func (s sentence) order() (cue string, points pointing) {
	if utf8.RuneCountInString(s.text) > maxSentence || isQuestion(s.text) || strings.ContainsFunc(s.text, disguises) {
		return "", 0
	}
	own := s.own
	for _, l := range languages() {
		for _, c := range l {
			m := c.says.FindStringSubmatchIndex(own)
			if m == nil || c.unless != nil && c.unless.MatchString(own) {
				continue
			}
			i := c.says.SubexpIndex("cue")
			cue := strings.ToLower(strings.TrimSpace(own[m[2*i]:m[2*i+1]]))
			switch {
			case c.back != nil && c.back.MatchString(own):
				return cue, back
			case strings.HasSuffix(own, ":") || strings.HasSuffix(own, "："):
				return cue, ahead
			}
			return cue, 0
		}
	}
	return "", 0
}

// disguises reports whether a character lets a text look like another one: it reorders what is shown, or is a
// letter that nobody sees.
func disguises(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f
}

func isQuestion(s string) bool {
	t := strings.TrimRight(s, " \t\"')]}”’」』")
	return strings.HasSuffix(t, "?") || strings.HasSuffix(t, "？") || strings.HasSuffix(t, "؟")
}

// A quotation is how words of others begin and end.
type quotation struct{ opens, closes string }

// quotations are the pairs of quotes. German and Japanese ones may end as English ones begin.
var quotations = []quotation{
	{"\"", "\""}, {"`", "`"}, {"“", "”"}, {"„", "“”"}, {"‟", "”"}, {"‘", "’"}, {"‚", "‘’"}, {"'", "'"}, {"‹", "›"},
	{"«", "»"}, {"»", "«"}, {"「", "」"}, {"『", "』"},
	{"《", "》"}, {"〈", "〉"}, {"【", "】"}, {"〝", "〞〟"}, {"❝", "❞"}, {"＂", "＂"}, {"＇", "＇"},
}

// quoted stands for what is in quotes or code.
const quoted = '▢'

// mask returns a message with the same number of characters, in which what stands in quotes or code is
// [quoted]. Code in backticks ends within its paragraph, or is none; a quote may have several.
func mask(r []rune) []rune {
	out := slices.Clone(r)
	for i := 0; i < len(r); i++ {
		k := closing(r, i)
		if k < 0 {
			continue
		}
		for ; i <= k; i++ {
			if r[i] != '\n' {
				out[i] = quoted
			}
		}
		i = k
	}
	return out
}

// closing returns where the quote ends that begins at i, -1 if none does. What stands inside or behind a word
// is an apostrophe or a measure.
func closing(r []rune, i int) int {
	q := slices.IndexFunc(quotations, func(q quotation) bool { return strings.ContainsRune(q.opens, r[i]) })
	if q < 0 {
		return -1
	}
	ends := quotations[q].closes
	same := strings.ContainsRune(ends, r[i])
	word := func(k int) bool { return k >= 0 && k < len(r) && (unicode.IsLetter(r[k]) || unicode.IsDigit(r[k])) }
	apostrophe := strings.ContainsRune("'＇’‘", []rune(ends)[len([]rune(ends))-1])
	if (same || apostrophe) && word(i-1) || r[i] == '»' && (i+1 == len(r) || unicode.IsSpace(r[i+1])) {
		return -1
	}
	paragraph := true // which i is in
	for k := i + 1; k < len(r); k++ {
		paragraph = paragraph && !(r[k] == '\n' && k+1 < len(r) && r[k+1] == '\n')
		ended := strings.ContainsRune(ends, r[k])
		switch {
		case !paragraph && r[i] == '`':
			return -1
		case !ended, apostrophe && word(k+1):
		case paragraph || !same || !unicode.IsSpace(r[k-1]) && !word(k+1):
			return k
		}
	}
	return -1
}

// visible returns the user's own words: what is quoted is one character, what cannot be seen is left out.
func visible(masked []rune) string {
	var b strings.Builder
	for i, c := range masked {
		if c == quoted && i > 0 && masked[i-1] == quoted || unicode.Is(unicode.Cf, c) {
			continue
		}
		b.WriteRune(c)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// sentences returns the sentences of a message that are the user's own: without code, block quotes, tables,
// tags, headings and what was pasted from a terminal, a log, a patch or a conversation.
func sentences(message string) []sentence {
	var out []sentence
	r := []rune(message)
	own := mask(r)
	lines := strings.Split(string(r), "\n")
	others := foreign(lines)
	at := 0
	apart := false
	for i, text := range lines {
		n := utf8.RuneCountInString(text)
		line, mine := r[at:at+n], own[at:at+n]
		at += n + 1
		if others[i] {
			apart = apart || strings.TrimSpace(text) != ""
			continue
		}
		lead := 0
		for lead < len(line) && (unicode.IsSpace(line[lead]) || strings.ContainsRune("-*•·", line[lead])) {
			lead++
		}
		for _, s := range split(line[lead:], mine[lead:]) {
			s.item, s.apart = strings.TrimSpace(string(line[:lead])) != "" || numbered(text), apart
			out, apart = append(out, s), false
		}
	}
	return out
}

// numbered reports whether a line is an item of a list with numbers.
func numbered(line string) bool {
	t := strings.TrimLeft(line, " ")
	rest := strings.TrimLeft(t, "0123456789")
	return len(rest) < len(t) && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") "))
}

// fenceOf returns the marks of a line that opens or closes a block of code, "" if it does neither.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// tagsOf counts the tags, as in <rules>, that a line opens and closes.
func tagsOf(line string) (opened, closed int) {
	for rest := line; ; {
		k := strings.IndexByte(rest, '<')
		if k < 0 {
			return opened, closed
		}
		rest = rest[k+1:]
		end := strings.IndexByte(rest, '>')
		if end < 1 {
			continue
		}
		name := rest[:end]
		switch c, _ := utf8.DecodeRuneInString(strings.TrimPrefix(name, "/")); {
		case !unicode.IsLetter(c):
		case name[0] == '/':
			closed++
		case !strings.HasSuffix(name, "/"):
			opened++
		}
	}
}

// split cuts a line into its sentences, at a full stop, question or exclamation mark that ends a word and is
// not quoted.
func split(line, own []rune) []sentence {
	var out []sentence
	start := 0
	put := func(end int) {
		if s := strings.Join(strings.Fields(string(line[start:end])), " "); s != "" {
			out = append(out, sentence{text: s, own: visible(own[start:end])})
		}
		start = end
	}
	for i, c := range own {
		switch {
		case strings.ContainsRune("。！？", c):
			put(i + 1)
		case strings.ContainsRune(".!?;", c) && (i+1 == len(own) || own[i+1] == ' ') && !abbreviated(own[start:i]):
			put(i + 1)
		}
	}
	put(len(own))
	return out
}

// abbreviated reports whether the full stop behind words is no end: e.g. i.e. etc. vs.
func abbreviated(words []rune) bool {
	s := strings.ToLower(string(words))
	for _, a := range []string{"e.g", "i.e", "vs", "cf", "approx", "no"} {
		if rest, ok := strings.CutSuffix(s, a); ok && (rest == "" || strings.ContainsAny(rest[len(rest)-1:], " (")) {
			return true
		}
	}
	return false
}
