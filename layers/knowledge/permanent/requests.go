package permanent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Request is a sentence in which the user asks to remember or always follow something.
type Request struct {
	Text string // the sentence in normalised white space, with the text that "this" refers to
	Cue  string // the words that express permanence
}

// maxStated is the longest message, in characters, in which requests are searched. Longer ones are pasted instructions,
// documents and logs, whose "always" is not a request to remember.
const maxStated = 4000

// maxSentence is the longest sentence, in characters, that can be a rule.
const maxSentence = 400

// Requests returns what the user asks in a message to remember or to follow from now on: "remember this", "always ...",
// "never ...", "from now on ..." as imperatives, in English, Korean, Japanese and Chinese. Text in quotes, code, block
// quotes and tags is not the user's own, and a question is not a request. The same sentence counts once. The caller
// must pass only text that the user typed, nothing from a tool, a file or a model.
func Requests(message string) []Request {
	if utf8.RuneCountInString(message) > maxStated {
		return nil
	}
	var out []Request
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
		if key := squash(text); !seen[key] {
			seen[key] = true
			out = append(out, Request{text, cue})
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

// squash returns the letters and digits of s alone, in lower case.
func squash(s string) string {
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

// A quotePair contains the characters that open and close a quotation.
type quotePair struct{ opens, closes string }

// quotePairs are the pairs of quotation marks. German and Japanese ones may end with a mark that opens in English.
var quotePairs = []quotePair{
	{"\"", "\""}, {"`", "`"}, {"“", "”"}, {"„", "“”"}, {"‟", "”"}, {"‘", "’"}, {"‚", "‘’"}, {"'", "'"}, {"‹", "›"},
	{"«", "»"}, {"»", "«"}, {"「", "」"}, {"『", "』"},
	{"《", "》"}, {"〈", "〉"}, {"【", "】"}, {"〝", "〞〟"}, {"❝", "❞"}, {"＂", "＂"}, {"＇", "＇"},
}

// maskRune replaces the text in quotes or code.
const maskRune = '▢'

// mask returns a copy of a message of the same length, in which quotations and code are replaced by [maskRune]. Code in
// backticks ends within its paragraph, or is not code; a quotation may have several paragraphs.
func mask(r []rune) []rune {
	out := slices.Clone(r)
	closing := closingQuotes(r)
	for i := 0; i < len(r); i++ {
		k := closing(i)
		if k < 0 {
			continue
		}
		for ; i <= k; i++ {
			if r[i] != '\n' {
				out[i] = maskRune
			}
		}
		i = k
	}
	return out
}

// closingQuotes returns a function that returns the index of the mark that closes the quotation opened at i, -1 if there
// is none. Its arguments must increase. A mark within or after a word is an apostrophe or a unit of measure.
func closingQuotes(r []rune) func(i int) int {
	word := func(k int) bool { return k >= 0 && k < len(r) && (unicode.IsLetter(r[k]) || unicode.IsDigit(r[k])) }
	paragraph := forward(len(r), func(k int) bool { return r[k] == '\n' && k+1 < len(r) && r[k+1] == '\n' })
	var near, far []func(int) int // the next closing mark of each pair, in the same and in another paragraph
	var apostrophe []bool
	for _, q := range quotePairs {
		last, _ := utf8.DecodeLastRuneInString(q.closes)
		inWords := strings.ContainsRune("'＇’‘", last)
		apostrophe = append(apostrophe, inWords)
		closes := func(k int) bool { return strings.ContainsRune(q.closes, r[k]) && !(inWords && word(k+1)) }
		near = append(near, forward(len(r), closes))
		far = append(far, forward(len(r), func(k int) bool {
			return closes(k) && !unicode.IsSpace(r[k-1]) && !word(k+1)
		}))
	}
	return func(i int) int {
		q := slices.IndexFunc(quotePairs, func(q quotePair) bool { return strings.ContainsRune(q.opens, r[i]) })
		if q < 0 {
			return -1
		}
		same := strings.ContainsRune(quotePairs[q].closes, r[i])
		if (same || apostrophe[q]) && word(i-1) || r[i] == '»' && (i+1 == len(r) || unicode.IsSpace(r[i+1])) {
			return -1
		}
		k := near[q](i)
		if same && k > paragraph(i) {
			if r[i] == '`' {
				return -1
			}
			k = far[q](i)
		}
		if k == len(r) {
			return -1
		}
		return k
	}
}

// forward returns a function that returns the first index from i+1 to n-1 that ok accepts, n if there is none. Its
// arguments must not decrease: all calls together ask ok at most twice about an index.
func forward(n int, ok func(int) bool) func(i int) int {
	next := 0
	return func(i int) int {
		for next = max(next, i+1); next < n && !ok(next); next++ {
		}
		return next
	}
}

// visible returns masked text in one line: each quotation is one character, invisible characters are removed.
func visible(masked []rune) string {
	var b strings.Builder
	for i, c := range masked {
		if c == maskRune && i > 0 && masked[i-1] == maskRune || unicode.Is(unicode.Cf, c) {
			continue
		}
		b.WriteRune(c)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// sentences returns the user's own sentences of a message: without code, block quotes, tables, tags, headings and text
// pasted from a terminal, a log, a patch or a conversation.
func sentences(message string) []sentence {
	var out []sentence
	r := []rune(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(message))
	own := mask(r)
	lines := strings.Split(string(r), "\n")
	others := notOwnLines(lines)
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
			s.item, s.afterForeign = strings.TrimSpace(string(line[:lead])) != "" || numbered(text), apart
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

// fenceOf returns the marks of a line that opens or closes a code block, "" for other lines.
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
	end := 0 // of the tag
	for i := range len(line) {
		if line[i] != '<' {
			continue
		}
		if end <= i {
			n := strings.IndexByte(line[i:], '>')
			if n < 0 {
				break
			}
			end = i + n
		}
		name := line[i+1 : end]
		switch c, _ := utf8.DecodeRuneInString(strings.TrimPrefix(name, "/")); {
		case !unicode.IsLetter(c):
		case name[0] == '/':
			closed++
		case !strings.HasSuffix(name, "/"):
			opened++
		}
	}
	return opened, closed
}

// split cuts a line into sentences, at a full stop, question or exclamation mark that ends a word and is not quoted.
func split(line, own []rune) []sentence {
	var out []sentence
	start := 0
	put := func(end int) {
		if s := strings.Join(strings.Fields(string(line[start:end])), " "); s != "" {
			out = append(out, sentence{text: s, ownText: visible(own[start:end])})
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
