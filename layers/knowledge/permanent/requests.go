package permanent

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/search/index"
)

// A request is a sentence in which the user asks to remember or always follow something.
type request struct {
	Text string // the sentence in normalised white space, with the text that "this" refers to
	Cue  string // the words that express permanence
}

// maxStated is the longest message, in characters, in which requests are searched. Longer ones are pasted instructions,
// documents and logs, whose "always" is not a request to remember.
const maxStated = 4000

// maxSentence is the longest sentence, in characters, that can be a rule.
const maxSentence = 400

// FindRequests returns what the user asks in a message to remember or to follow from now on: "remember this", "always ...",
// "never ...", "from now on ..." as imperatives, in English, Korean, Japanese and Chinese. Text in quotes, code, block
// quotes and tags is not the user's own, and a question is not a request. The same sentence counts once. The caller
// must pass only text that the user typed, nothing from a tool, a file or a model.
func FindRequests(message string) []request {
	if utf8.RuneCountInString(message) > maxStated {
		return nil
	}
	var out []request
	seen := map[string]bool{}
	list := sentences(message)
	for i, s := range list {
		cue, points := s.cue()
		text := s.text
		switch {
		case cue == "":
			continue
		case points == back && (s.afterForeign || i > 0 && !list[i-1].canBeRule()):
			continue // "this" is not the user's own text, or no rule
		case points == back && i > 0:
			text = list[i-1].text + " " + text
		case points != 0:
			text += pointedTo(list[i+1:])
		}
		if points == back && text == s.text {
			continue
		}
		if key := letters(text); !seen[key] {
			seen[key] = true
			out = append(out, request{text, cue})
		}
	}
	return out
}

// pointedTo returns the text after a sentence like "remember this:": the next sentence, or the items of a list. It is
// empty if nothing follows or what follows cannot be a rule.
func pointedTo(rest []sentence) string {
	var b strings.Builder
	n := 0
	for i, s := range rest {
		n += utf8.RuneCountInString(s.text)
		if s.afterForeign || i > 0 && !(s.item && rest[0].item) || n > maxSentence || !s.canBeRule() {
			break
		}
		b.WriteString(" " + s.text)
	}
	return b.String()
}

// A sentence is one sentence of a message.
type sentence struct {
	text         string
	ownText      string // text without quotations
	item         bool   // of a list
	afterForeign bool   // text that is not the user's own precedes it
}

// A direction says where the text is that a sentence asks to remember, if not in the sentence.
type direction int

const (
	back direction = iota + 1
	ahead
)

// letters returns the letters and digits of s alone, in lower case.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// cue returns the words that make the sentence a permanent request, "" if it is not one, and where the requested text
// is if the sentence refers to another one.
func (s sentence) cue() (cue string, points direction) {
	if !s.canBeRule() {
		return "", 0
	}
	own := s.ownText
	for _, l := range languages() {
		for _, c := range l {
			m := c.match.FindStringSubmatchIndex(own)
			if m == nil || c.unless != nil && c.unless.MatchString(own) {
				continue
			}
			i := c.match.SubexpIndex("cue")
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

// canBeRule reports whether the sentence is short, no question and looks like what it is.
func (s sentence) canBeRule() bool {
	return utf8.RuneCountInString(s.text) <= maxSentence && !isQuestion(s.text) &&
		!strings.ContainsFunc(s.text, isDeceptive)
}

// isDeceptive reports whether a character can make a text look like another one: it reorders what is shown, or is an
// invisible letter.
func isDeceptive(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f
}

func isQuestion(s string) bool {
	t := strings.TrimRight(s, " \t\"')]}”’」』")
	return strings.HasSuffix(t, "?") || strings.HasSuffix(t, "？") || strings.HasSuffix(t, "؟")
}

// maskRune replaces the text in quotes or code.
const maskRune = '▢'

// quotations matches what stands in quotation marks or backticks. A mark after a word is an apostrophe or a unit of
// measure; code in backticks ends within its paragraph; a quotation may have several.
var quotations = sync.OnceValue(func() *regexp.Regexp {
	list := []string{"`(?:[^`\n]|\n[^`\n])*`", `\B'(?:[^']|'[\pL\pN])*'`, `\B＇(?:[^＇]|＇[\pL\pN])*＇`, `‘(?:[^’]|’[\pL\pN])*’`,
		`‚(?:[^‘’]|’[\pL\pN])*[‘’]`, `»[^\s«][^«]*«`, `„[^“”]*[“”]`, `〝[^〞〟]*[〞〟]`}
	for _, pair := range []string{`""`, "＂＂", "“”", "‟”", "‹›", "«»", "「」", "『』", "《》", "〈〉", "【】", "❝❞"} {
		r := []rune(pair)
		open := string(r[0])
		if r[0] == r[1] {
			open = `\B` + open
		}
		list = append(list, open+"[^"+string(r[1])+"]*"+string(r[1]))
	}
	return regexp.MustCompile(strings.Join(list, "|"))
})

// mask returns a message with each character of its quotations and code replaced by [maskRune].
func mask(message string) string {
	return quotations().ReplaceAllStringFunc(message, func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return maskRune
		}, s)
	})
}

// visible returns masked text in one line: each quotation is one character, invisible characters are removed.
func visible(masked string) string {
	var b strings.Builder
	last := ' '
	for _, c := range masked {
		if !(c == maskRune && last == maskRune || unicode.Is(unicode.Cf, c)) {
			b.WriteRune(c)
		}
		last = c
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// sentences returns the user's own sentences of a message: without code, block quotes, tables, tags, headings and text
// pasted from a terminal, a log, a patch or a conversation.
func sentences(message string) []sentence {
	var out []sentence
	message = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(message)
	lines, own := strings.Split(message, "\n"), strings.Split(mask(message), "\n")
	others := notOwnLines(lines)
	apart := false
	for i, text := range lines {
		if others[i] {
			apart = apart || strings.TrimSpace(text) != ""
			continue
		}
		line, mine := []rune(text), []rune(own[i])
		lead := 0
		for lead < len(line) && (unicode.IsSpace(line[lead]) || strings.ContainsRune("-*•·", line[lead])) {
			lead++
		}
		for _, s := range split(line[lead:], mine[lead:]) {
			s.item, s.afterForeign = strings.TrimSpace(string(line[:lead])) != "" || item().MatchString(text), apart
			out, apart = append(out, s), false
		}
	}
	return out
}

// item matches the start of an item of a list with numbers.
var item = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *\d+[.)] `) })

// split cuts a line into sentences, at a full stop, question or exclamation mark that ends a word and is not quoted.
func split(line, own []rune) []sentence {
	var out []sentence
	start := 0
	put := func(end int) {
		if s := strings.Join(strings.Fields(string(line[start:end])), " "); s != "" {
			out = append(out, sentence{text: s, ownText: visible(string(own[start:end]))})
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

// abbreviated reports whether words end in an abbreviation, so that the full stop after them ends no sentence.
func abbreviated(words []rune) bool {
	s := strings.ToLower(string(words[max(0, len(words)-10):]))
	for _, a := range []string{"e.g", "i.e", "vs", "cf", "approx", "no"} {
		if rest, ok := strings.CutSuffix(s, a); ok && (rest == "" || strings.ContainsAny(rest[len(rest)-1:], " (")) {
			return true
		}
	}
	return false
}

// Verbatim returns the sentences of the user's message that a text consists of, with at most the words "from now on",
// "remember", "always" and the like removed from their start; "" if the text is in other words. Whether other words mean
// the same is not for code to say.
func Verbatim(message, text string) string {
	want := letters(text)
	list := sentences(message)
	for i := range list {
		all, have := "", ""
		for _, s := range list[i:] {
			if all = strings.TrimSpace(all + " " + s.text); isQuestion(s.text) {
				break
			}
			if have += letters(s.text); want != "" && (have == want || have == letters(s.text) && letters(s.withoutCue()) == want) {
				return all
			}
		}
	}
	return ""
}

// withoutCue returns the sentence without the words at its start that only say that it holds for ever.
func (s sentence) withoutCue() string {
	for _, c := range languages()[0] { // of English
		m := c.match.FindStringSubmatchIndex(s.ownText)
		if i := 2 * c.match.SubexpIndex("cue"); m != nil && m[0] == 0 && lasting(s.ownText[m[i]:m[i+1]]) {
			return s.ownText[m[i+1]:]
		}
	}
	return s.text
}

// lasting reports whether a cue can be left out: what it introduces means the same without it.
func lasting(cue string) bool {
	first, _, _ := strings.Cut(strings.ToLower(cue), " ")
	return slices.Contains([]string{"from", "remember", "henceforth", "going", "in", "for", "always", "keep"}, first)
}

// Mentions returns the sentences of the user's message that share words with a text. It reports whether they contain
// three fifths of its words: the message is about it.
func Mentions(message, text string) (quote string, ok bool) {
	want := Terms(text)
	var said []string
	for _, s := range sentences(message) {
		if !isQuestion(s.text) && shared(Terms(s.ownText), want) > 0 {
			said = append(said, s.text)
		}
	}
	quote = strings.Join(said, " ")
	return quote, len(want) > 0 && 5*shared(Terms(quote), want) >= 3*len(want)
}

// Within reports whether a text has no word that the user's message lacks.
func Within(message, text string) bool {
	return len(Terms(text)) == shared(Terms(message), Terms(text))
}

// shared returns the number of terms that two sorted lists have in common.
func shared(a, b []string) (n int) {
	for _, s := range a {
		if _, ok := slices.BinarySearch(b, s); ok {
			n++
		}
	}
	return n
}

// similar reports whether two texts are about the same: they share three fifths of the terms of the shorter one. It is
// the reason for a question, never for an answer.
func similar(a, b []string) bool {
	both := shared(a, b)
	return both >= 2 && 5*both >= 3*min(len(a), len(b)) && 3*both >= max(len(a), len(b)) || both > 0 && both == len(a) && both == len(b)
}

// Terms returns the terms of a text, sorted, each once, without those of whole identifiers.
func Terms(text string) (out []string) {
	var c index.Cutter
	c.Each(text, func(t index.Term) {
		if !t.Whole {
			out = append(out, string(t.Text))
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}
