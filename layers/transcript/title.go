package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// titleSource is the number of bytes at the start of a text that a title is made from.
const titleSource = 8 << 10

// titleRecord are in the records that may change a title after the first request that names a subject.
var titleRecord = [][]byte{[]byte(`"summary"`), []byte(`"ai-title"`), []byte(`"custom-title"`)}

// Title returns the title of a session without reading the records that cannot change it, "" if it has none: of the turns that
// the user withdrew it knows nothing. clean takes the secrets out of the records that it reads. An error of r ends the session.
func Title(r io.Reader, clean func([]byte) []byte) string {
	sc := NewScanner(Carry{}, func([]byte) [32]byte { return [32]byte{} })
	in := bufio.NewReaderSize(r, 64<<10)
	var turn []byte // the last one, which a summary may be of
	for whole, feeds := true, true; ; {
		part, err := in.ReadSlice('\n')
		contains := func(b []byte) bool { return bytes.Contains(part, b) }
		if whole { // the part begins a line
			change := slices.ContainsFunc(titleRecord, contains)
			if feeds = change || sc.carry.TitleFrom < FromTyped; change {
				sc.Write(clean(turn))
			}
		}
		whole = err == nil
		if feeds {
			sc.Write(clean(part))
		} else if whole && (contains([]byte(`"user"`)) || contains([]byte(`"assistant"`))) {
			turn = append(turn[:0], part...)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return sc.Summary().Title
		}
	}
}

// titleOf returns the first sentence of a typed text, without markers, or the heading of the plan that the text asks to
// implement; "" for a text from the composition that the session was resumed from.
func titleOf(text string) string {
	if fromComposition(text) {
		return ""
	}
	if text = strings.TrimSpace(text); len(text) > titleSource {
		text = strings.ToValidUTF8(text[:titleSource], "")
	}
	text = strings.TrimSpace(unmarked(text))
	if heading := PlanHeading(text); heading != "" {
		return heading
	}
	return firstSentence(text)
}

// request takes the title from something that the user or a script typed in message n.
func (sc *Scanner) request(n int, text string, scripted bool) {
	plan := PlanHeading(strings.TrimSpace(text)) != ""
	from := FromTyped
	if text = titleOf(text); !plan && !namesSubject(text) {
		from = FromVague
	}
	sc.title(heading{n, text, from, scripted})
}

// title takes the title from h, now or when what it is from now is withdrawn.
func (sc *Scanner) title(h heading) {
	sc.carry.title(h)
	if h.text = oneLine(h.text, 80); h.text != "" && h.from <= FromTyped {
		sc.headings = append(sc.headings, h)
	}
}

// subject returns the first sentence of an answer that names its subject, "" if none of the first few does.
func subject(text string) string {
	if text = strings.TrimSpace(text); len(text) > titleSource {
		text = strings.ToValidUTF8(text[:titleSource], "")
	}
	if fromComposition(text) {
		return ""
	}
	for range 4 {
		sentence := firstSentence(text)
		if line := strings.Trim(sentence, "#*_ \t\n"); namesSubject(line) && !strings.HasSuffix(line, ":") {
			return line
		}
		text = strings.TrimSpace(text[len(sentence):])
	}
	return ""
}

// vague are the words of requests that name no subject: "can you take a look at the changes in this branch?".
var vague = wordSet(`a about actually add again all also an and any anything are as at be been bit both but by can change changed
changes check commit continue could do does doing done else everything fine first fix for from get go going good got great
guess have hello help here hey hi how i i'd i'll i'm idea if in instead is it it's its job just keep know last let let's
like little look looks lot make makes maybe me more my need new next nice no not now of ok okay on one only or other our
out over part perfect please point problem proceed put quick really right see should ship so some something sounds start step
still stuff sure take tell thank thanks that that's the them then there these they thing things think this those to too
try two up us use very wait want was way we we'll well were what what's when where which why will with work works would
yeah yep yes yet you your branch code file files pr review discuss issue hmm oh ah`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// namesSubject reports whether a text says what it is about: it has a word that is not [vague], the name of something in
// code, or, in a script without blanks between words, four letters.
func namesSubject(text string) bool {
	unspaced := 0
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, "\"'`.,;:!?()[]{}<>*_#…“”‘’«»。、？！")
		letters := strings.IndexFunc(word, unicode.IsLetter) >= 0
		if letters && strings.IndexFunc(word, nameSign) > 0 {
			return true
		}
		for _, r := range word {
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
				unspaced++
			}
		}
		if word = strings.ToLower(strings.ReplaceAll(word, "’", "'")); letters && !vague[word] && (unspaced == 0 || unspaced > 3) {
			return true
		}
	}
	return false
}

// nameSign reports whether r, after the first character of a word with letters, shows that the word is a name of something in
// code: a path, an identifier, an issue, a version.
func nameSign(r rune) bool { return strings.ContainsRune("/_.@#=", r) || unicode.IsDigit(r) }

// PlanHeading returns the heading or the first sentence of a plan. Claude Code starts a session after plan mode with
// the text "Implement the following plan:" and the plan. The result is "" for any other text.
func PlanHeading(text string) string {
	first, plan, _ := strings.Cut(text, "\n")
	first = strings.ToLower(strings.TrimSpace(first))
	if !strings.HasPrefix(first, "implement ") || !strings.HasSuffix(first, "plan:") {
		return ""
	}
	for plan = strings.TrimSpace(plan); strings.HasPrefix(plan, "#"); plan = strings.TrimSpace(plan) {
		var heading string
		heading, plan, _ = strings.Cut(plan, "\n")
		if heading = WithoutPlan(strings.Trim(heading, "# \t\r")); heading != "" {
			return heading
		}
	}
	return firstSentence(plan)
}

// WithoutPlan returns a heading without the word "Plan" at its start, which says nothing.
func WithoutPlan(heading string) string {
	before, after, _ := strings.Cut(heading, ":")
	switch strings.ToLower(strings.TrimSpace(before)) {
	case "plan", "implementation plan":
		return strings.TrimSpace(after)
	}
	return heading
}

// fromComposition reports whether text is a part of composed.jsonl: its heading, the heading of a part, or a text
// with a tag.
func fromComposition(text string) bool {
	if strings.HasPrefix(text, "# Memory: ") {
		return strings.Contains(text[:min(len(text), 1024)],
			"\n\nThis is context from earlier sessions, put together by mem.")
	}
	if heading, ok := strings.CutPrefix(text, "## "); ok {
		line, rest, _ := strings.Cut(heading, "\n")
		number, _, ok := strings.Cut(line, ". ")
		return ok && digits(number) && (tagged(strings.TrimLeft(rest, "\n")) || rest == "" && dated(line))
	}
	return tagged(text)
}

// dated reports whether the heading of a part ends in a date: "3. Rounding, 2026-01-22".
func dated(line string) bool {
	_, date, ok := strings.Cut(line[max(0, len(line)-len(", 2026-01-22")):], ", ")
	_, err := time.Parse(time.DateOnly, date)
	return ok && err == nil
}

// tagged reports whether text begins with the tag of a source: "[mem 1#12 user]".
func tagged(text string) bool {
	rest, ok := strings.CutPrefix(text, "[mem ")
	source, _, sharp := strings.Cut(rest[:min(len(rest), 16)], "#")
	return ok && sharp && digits(source)
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// markerMax is the maximum length of a marker tag, including malformed ones, that is removed from a title.
const markerMax = 24

// unmarked returns the beginning of text without marker tags, well formed or not: "##keepit0.80##", "##keepit 0.8##",
// "##/keepit##". It ends where a marker begins after other words, unless that marker is closed on the same line.
func unmarked(text string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "##")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		opens := strings.HasPrefix(rest, "keepit")
		end := strings.Index(rest[:min(len(rest), markerMax)], "##")
		switch {
		case end < 0 || !opens && !strings.HasPrefix(rest, "/keepit"):
			out.WriteString("##")
			text = rest
			continue
		case opens && !closed(rest[end+2:]) && strings.TrimSpace(out.String()) != "":
			return out.String()
		}
		text = rest[end+2:]
	}
}

// closed reports whether the marker at the start of text is closed on its line.
func closed(text string) bool {
	line, _, _ := strings.Cut(text, "\n")
	end := strings.Index(line, "##/keepit##")
	return end >= 0 && !strings.Contains(line[:end], "##keepit")
}

// firstSentence returns text up to the end of its first sentence: a full stop, a question mark or an exclamation mark
// before a blank, a Chinese or Japanese one, or an empty line that does not follow a colon. Marks inside `code` do
// not count.
func firstSentence(text string) string {
	code := false
	for i, r := range text {
		rest := text[i+utf8.RuneLen(r):]
		switch r {
		case utf8.RuneError:
			return text // invalid UTF-8: only the length limits the title
		case '`':
			code = !code && strings.Contains(rest, "`")
		case '\n':
			if paragraphEnds(text[:i], rest) {
				return text[:i]
			}
		case '.', '?', '!', '。', '？', '！':
			after := strings.TrimLeft(rest, "\"')]*_”’»")
			if !code && stops(text[:i], r, after) {
				return text[:len(text)-len(after)]
			}
		}
	}
	return text
}

// paragraphEnds reports whether the line end after before ends a sentence.
func paragraphEnds(before, rest string) bool {
	before = strings.TrimRightFunc(before, unicode.IsSpace)
	line := before[strings.LastIndexByte(before, '\n')+1:]
	if strings.HasPrefix(line, "#") {
		return true // a heading is a line
	}
	next, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(next) == "" && !strings.HasSuffix(before, ":")
}

// stops reports whether the mark r ends a sentence. before is the text before it, after the text after it and its
// closing quotes.
func stops(before string, r rune, after string) bool {
	if r >= utf8.RuneSelf {
		return true
	}
	if next, _ := utf8.DecodeRuneInString(after); after != "" && !unicode.IsSpace(next) {
		return false // a file name, a version, a URL, the middle of "..."
	}
	if r != '.' {
		return true
	}
	word := before[strings.LastIndexFunc(before, unicode.IsSpace)+1:]
	word = strings.TrimLeft(word, "\"'([*_“‘«")
	if strings.HasSuffix(word, ".") {
		return strings.TrimSpace(after) == "" // "..." continues the sentence
	}
	if word == "" || digits(word) {
		return word != "" && strings.TrimLeft(before, "#-* \t") != word // the number of a list item
	}
	return !abbreviation(strings.ToLower(word), strings.TrimSpace(after))
}

// abbreviation reports whether word, in lower case and without its full stop, is an abbreviation or an initial before
// after.
func abbreviation(word, after string) bool {
	next, _ := utf8.DecodeRuneInString(after)
	switch word {
	case "e.g", "i.e", "eg", "ie", "vs", "cf", "approx", "resp", "incl", "mr", "mrs", "dr", "prof", "z.b", "bzw", "d.h":
		return true
	case "no", "nr", "fig", "sec":
		return unicode.IsDigit(next)
	case "etc", "al":
		return unicode.IsLower(next)
	}
	return utf8.RuneCountInString(word) == 1 && word != "i"
}
