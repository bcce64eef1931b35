package facts

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/claims"
)

// A Speaker says where a part of a message comes from, the least trusted first.
type Speaker int

// The speakers.
const (
	ByTool      Speaker = iota // output of a tool or the client
	ByEcho                     // typed text inserted by mem, a fork or a resumed session
	ByCommand                  // a command of the client with its arguments
	ByScript                   // typed by a script in a headless run
	ByCall                     // the model's arguments of a tool call, which may contain text of others
	ByAssistant                // text of the model, including its summaries
	ByUser                     // typed by the user
)

// Trust returns the trust of a fact of a kind that the speaker states. Arguments of a tool call prove only that the
// model did something: a file can have any name.
func (s Speaker) Trust(k Kind) Trust {
	switch s {
	case ByCall:
		if k == Action {
			return Assistant
		}
		return Tool
	case ByUser:
		return User
	case ByScript:
		return Script
	case ByAssistant:
		return Assistant
	}
	return Tool
}

// A Part is a text of a message from one speaker.
type Part struct {
	Speaker Speaker
	Text    string
}

// A Transcript is the text in which evidence is searched: the parts of the messages of a session, by number. Names are
// the names of speakers, if they have one besides "the user" and "the assistant". The zero value is empty.
type Transcript struct {
	Parts map[int][]Part
	Names map[Speaker]string
	norm  map[int][]normalText
}

// Add adds a text to a message. Text of white space alone is ignored.
func (t *Transcript) Add(message int, p Part) {
	if strings.TrimSpace(p.Text) == "" {
		return
	}
	if t.Parts == nil {
		t.Parts = map[int][]Part{}
	}
	t.Parts[message] = append(t.Parts[message], p)
	delete(t.norm, message)
}

// A normalText is a text in which every run of white space is one space; breaks are the offsets of the lines.
type normalText struct {
	text   string
	breaks []int
}

func normalise(s string) normalText {
	var n normalText
	var b strings.Builder
	for line := range strings.Lines(s) {
		if line = oneSpace(line); line == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		n.breaks = append(n.breaks, b.Len())
		b.WriteString(line)
	}
	n.text = b.String()
	return n
}

// maxContext is the longest text before and after a quote that is checked with it, in bytes.
const maxContext = 80

// before returns the words before byte i in its clause.
func (n normalText) before(i int) string {
	line, _ := slices.BinarySearch(n.breaks, i+1)
	start := max(n.breaks[line-1], i-maxContext)
	for start < i && insideWord(n.text, start) {
		start++
	}
	words, clause := n.text[start:i], 0
	for at, r := range words {
		if end := at + utf8.RuneLen(r); endsClause(words, end, r) {
			clause = end
		}
	}
	return words[clause:]
}

// after returns the words from byte i to the end of its clause.
func (n normalText) after(i int) string {
	end := min(len(n.text), i+maxContext)
	if line, _ := slices.BinarySearch(n.breaks, i+1); line < len(n.breaks) {
		end = min(end, n.breaks[line])
	}
	for end > i && insideWord(n.text, end) {
		end--
	}
	for at, r := range n.text[i:end] {
		if endsClause(n.text, i+at+utf8.RuneLen(r), r) {
			return n.text[i : i+at]
		}
	}
	return n.text[i:end]
}

// endsClause reports whether the character r, which ends before byte i of a text, ends a clause: the points of "main.go",
// "10:30" and "1,000" do not.
func endsClause(s string, i int, r rune) bool {
	return strings.ContainsRune("!?;()。！？、，", r) ||
		strings.ContainsRune(".:,", r) && (i == len(s) || s[i] == ' ')
}

// insideWord reports whether byte i is inside a character, a word or a number. Words of scripts that use no spaces or
// attach endings to words can be cut anywhere.
func insideWord(s string, i int) bool {
	if i == len(s) || !utf8.RuneStart(s[i]) {
		return i < len(s)
	}
	last, size := utf8.DecodeLastRuneInString(s[:i])
	next, width := utf8.DecodeRuneInString(s[i:])
	beforeLast, _ := utf8.DecodeLastRuneInString(s[:i-size])
	afterNext, _ := utf8.DecodeRuneInString(s[i+width:])
	return isLatin(last) && isLatin(next) || joins(last, next, afterNext) || joins(beforeLast, last, next)
}

// isLatin reports whether a character is a digit or a letter of a script that separates words.
func isLatin(r rune) bool {
	return usesSpaces(r) && !unicode.Is(unicode.Hangul, r) && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// joins reports whether a mark between two characters belongs to a word ("don't") or a number ("1.5").
func joins(before, mark, after rune) bool {
	switch mark {
	case '\'', '’':
		return isLatin(before) && isLatin(after)
	case '.', ',':
		return unicode.IsDigit(before) && unicode.IsDigit(after)
	}
	return false
}

func (t *Transcript) normalised(message int) []normalText {
	if list, ok := t.norm[message]; ok {
		return list
	}
	var list []normalText
	for _, p := range t.Parts[message] {
		list = append(list, normalise(p.Text))
	}
	if t.norm == nil {
		t.norm = map[int][]normalText{}
	}
	t.norm[message] = list
	return list
}

func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// A foundQuote is a quote with its speaker and the words around it in its clause.
type foundQuote struct {
	speaker Speaker
	before  string
	quote   string
	after   string
	partial bool // it begins or ends inside a word
}

// find searches a quote in a message. If several speakers say it, the most trusted one counts.
func (t *Transcript) find(message int, quote string) (best foundQuote, ok bool) {
	for i, n := range t.normalised(message) {
		who := t.Parts[message][i].Speaker
		if ok && who <= best.speaker {
			continue
		}
		if at, partial := n.find(quote); at >= 0 {
			best, ok = foundQuote{who, n.before(at), quote, n.after(at + len(quote)), partial}, true
		}
	}
	return best, ok
}

// find returns the first place of a quote, -1 if there is none. A place where the quote begins or ends inside a word
// counts only if there is no other.
func (n normalText) find(quote string) (at int, partial bool) {
	at = -1
	for from := 0; ; {
		i := strings.Index(n.text[from:], quote)
		if i < 0 {
			return at, partial
		}
		i += from
		if !insideWord(n.text, i) && !insideWord(n.text, i+len(quote)) {
			return i, false
		}
		if at < 0 {
			at, partial = i, true
		}
		from = i + 1
	}
}

// hint returns where the quote occurs instead, as the end of an error text, "" if nowhere.
func (t *Transcript) hint(message int, quote string) string {
	lower := strings.ToLower(quote)
	for _, n := range t.normalised(message) {
		if strings.Contains(strings.ToLower(n.text), lower) {
			return "; it is there with other capital letters"
		}
	}
	best := 0
	for n := range t.Parts {
		if _, ok := t.find(n, quote); ok && (best == 0 || distance(n, message) < distance(best, message) ||
			distance(n, message) == distance(best, message) && n < best) {
			best = n
		}
	}
	if best > 0 {
		return fmt.Sprintf("; it is in message %d", best)
	}
	return ""
}

func distance(a, b int) int { return max(a-b, b-a) }

// Check compares a fact with its evidence in the transcript and sets Verdict, Reason and Trust.
func Check(f *Fact, t *Transcript) {
	c := checker{fact: f, t: t}
	f.Verdict, f.Reason, f.Trust = Verified, "", User
	for _, step := range []func() (Verdict, string){c.findQuotes, c.checkSpeaker, c.checkContent} {
		v, why := step()
		if worse(v, f.Verdict) {
			f.Verdict, f.Reason = v, why
		}
		if f.Verdict == Rejected {
			break
		}
	}
	f.Trust = limitTrust(f.Trust, f.Verdict)
}

// limitTrust returns the trust of a fact with a verdict. An inferred fact is the word of its author, not of the quoted
// speaker.
func limitTrust(t Trust, v Verdict) Trust {
	if v == Inferred {
		return min(t, Assistant)
	}
	return t
}

func worse(a, b Verdict) bool {
	order := []Verdict{Verified, Inferred, Rejected}
	return slices.Index(order, a) > slices.Index(order, b)
}

type checker struct {
	fact   *Fact
	t      *Transcript
	quotes []foundQuote
}

// findQuotes searches the quotes and sets the trust.
func (c *checker) findQuotes() (Verdict, string) {
	switch {
	case len(c.fact.Evidence) > 0:
	case c.fact.From != "":
		c.fact.Trust = Tool // stated in no session of this store
		return Inferred, "imported without evidence"
	default:
		c.fact.Trust = Assistant
		return Inferred, "stated without evidence"
	}
	verdict, why := Verified, ""
	for i, e := range c.fact.Evidence {
		at := ""
		if len(c.fact.Evidence) > 1 {
			at = fmt.Sprintf("evidence[%d]: ", i)
		}
		quote := oneSpace(e.Quote)
		switch {
		case len(c.t.Parts[e.Message]) == 0:
			return c.reject(at + fmt.Sprintf("message %d has no text", e.Message))
		case !strings.ContainsFunc(quote, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
			return c.reject(at + "the quote has no words")
		}
		q, ok := c.t.find(e.Message, quote)
		if !ok {
			return c.reject(at + fmt.Sprintf("the quote is not in message %d%s", e.Message, c.t.hint(e.Message,
				quote)))
		}
		if q.partial {
			verdict, why = Inferred, at+"the quote begins or ends inside a word: quote whole words"
		}
		c.quotes = append(c.quotes, q)
		c.fact.Trust = min(c.fact.Trust, q.speaker.Trust(c.fact.Kind))
	}
	return verdict, why
}

func (c *checker) reject(why string) (Verdict, string) {
	c.fact.Trust = Tool
	return Rejected, why
}

// checkSpeaker checks whether the quoted speakers can state the fact.
func (c *checker) checkSpeaker() (Verdict, string) {
	if len(c.quotes) == 0 {
		return Verified, ""
	}
	said := func(s Speaker) bool {
		return slices.ContainsFunc(c.quotes, func(q foundQuote) bool {
			return q.speaker == s || s == ByAssistant && q.speaker == ByCall
		})
	}
	who, named := c.subject()
	switch {
	case named && who == ByAssistant && !said(ByAssistant):
		return c.reject("it is about the assistant, but the quotes are from others")
	case c.fact.Kind == Request, c.fact.Kind == Preference, named && who == ByUser:
		what := fmt.Sprintf("a %s comes from the user", c.fact.Kind)
		if named && who == ByUser {
			what = "it is about the user"
		}
		switch {
		case said(ByUser):
		case said(ByEcho):
			return c.reject(what + ", but the quoted text is an echo: it was not typed in this session")
		case said(ByScript):
			return Inferred, what + ", but a script typed the quoted text"
		case said(ByCommand):
			return Inferred, what + ", but only a command of the client is quoted"
		case said(ByAssistant):
			return c.reject(what + ", but the assistant is quoted")
		default:
			return c.reject(what + ", but the output of a tool is quoted")
		}
	case c.fact.Kind == Action && !said(ByAssistant) && !said(ByTool):
		return Inferred, "only the user is quoted: this proves a request, not that it was done"
	}
	return Verified, ""
}

// subject returns the speaker that a fact is about, if its first words name one.
func (c *checker) subject() (Speaker, bool) {
	words := strings.FieldsFunc(c.fact.Text, func(r rune) bool { return !unicode.IsLetter(r) })
	for len(words) > 0 && slices.Contains([]string{"the", "our", "this"}, strings.ToLower(words[0])) {
		words = words[1:]
	}
	if len(words) == 0 {
		return 0, false
	}
	first := strings.ToLower(words[0])
	for _, who := range []Speaker{ByUser, ByAssistant} {
		if name := c.t.Names[who]; name != "" && strings.EqualFold(name, words[0]) {
			return who, true
		}
	}
	second := ""
	if len(words) > 1 {
		second = strings.ToLower(words[1])
	}
	switch first {
	case "user": // "the user wants"; not "the user table has"
		return ByUser, slices.Contains(speakerVerbs(), second)
	case "assistant", "claude", "model", "agent":
		return ByAssistant, slices.Contains(speakerVerbs(), second)
	}
	for _, mark := range []string{"사용자가", "사용자는", "ユーザーは", "ユーザーが", "用户要", "用户希望", "用户说"} {
		if strings.HasPrefix(c.fact.Text, mark) {
			return ByUser, true
		}
	}
	return 0, false
}

// checkContent checks whether the quotes support the text of the fact.
func (c *checker) checkContent() (Verdict, string) {
	if len(c.quotes) == 0 {
		return Verified, ""
	}
	text := oneSpace(c.fact.Text)
	var quotes, clauses, whole strings.Builder
	for _, q := range c.quotes {
		if verbatim(text, q.quote) && !isNegated(q.before) && newWording(q.after).countNegations() == 0 {
			return Verified, ""
		}
		quotes.WriteString(q.quote + "\n")
		clauses.WriteString(q.before + q.quote + "\n")
		whole.WriteString(q.before + q.quote + q.after + "\n")
	}
	said, fact, stands := newWording(quotes.String()), newWording(text), newWording(clauses.String())
	if why := contradiction(fact, stands); why != "" {
		return c.reject(why)
	}
	if missing := c.unsupported(text, quotes.String(), fact, said); len(missing) > 0 {
		messages := c.messages()
		if bad := c.unsupported(text, messages, fact, newWording(messages)); len(bad) > 0 {
			return c.reject(fmt.Sprintf("its evidence does not contain %s", quoteList(bad)))
		}
		return Inferred, fmt.Sprintf("the quotes do not contain %s, only their messages do", quoteList(missing))
	}
	if why := doubt(fact, stands); why != "" {
		return Inferred, why
	}
	if goesOn := newWording(whole.String()); contradiction(fact, goesOn) != "" || doubt(fact, goesOn) != "" {
		return Inferred, "the quotes end within clauses that deny something: quote whole clauses"
	}
	ignored := c.speakerWords()
	if w, ok := fact.subject(); ok && !said.has(w.stem) && !ignored[w.stem] {
		return Inferred, fmt.Sprintf("the quotes do not name `%s`", w.text)
	}
	switch known, total := fact.covered(said, ignored); {
	case total == 0:
		return Inferred, "it has no words that can be checked"
	case known*100 < total*minCoverage:
		return Inferred, fmt.Sprintf("the quotes have only %d of its %d words", known, total)
	}
	if known, total := fact.withoutIdentifiers().covered(said, ignored); known == 0 && total > 0 {
		return Inferred, "the quotes contain its names, but nothing of its statement about them"
	}
	return Verified, ""
}

// messages returns the text of the quoted messages.
func (c *checker) messages() string {
	var b strings.Builder
	seen := map[int]bool{}
	for _, e := range c.fact.Evidence {
		if seen[e.Message] {
			continue
		}
		seen[e.Message] = true
		for _, p := range c.t.Parts[e.Message] {
			b.WriteString(p.Text + "\n")
		}
	}
	return b.String()
}

// minCoverage is the share of a fact's words, in hundredths, that must occur in its quotes, or synonyms of them.
const minCoverage = 50

// speakerWords returns the stems of the words that name speakers.
func (c *checker) speakerWords() map[string]bool {
	out := map[string]bool{"user": true, "assist": true, "claud": true, "model": true, "agent": true}
	for _, name := range c.t.Names {
		out[stem(strings.ToLower(name))] = true
	}
	return out
}

// unsupported returns the names, numbers, paths and identifiers of a fact that do not occur in a text.
func (c *checker) unsupported(fact, text string, words, source *wording) []string {
	bad := claims.Missing(fact, text+"\n"+c.t.Names[ByUser]+"\n"+c.t.Names[ByAssistant])
	ignored := c.speakerWords()
	for _, name := range words.names {
		if !source.has(name.stem) && !ignored[name.stem] && !slices.Contains(bad, name.text) {
			bad = append(bad, name.text)
		}
	}
	return slices.DeleteFunc(bad, func(s string) bool { return ignored[stem(strings.ToLower(s))] })
}

// verbatim reports whether a text is a whole sentence of a quote, ignoring the case of its first letter and the final
// stop.
func verbatim(text, quote string) bool {
	text = strings.TrimRight(text, ".!。 ")
	if text == "" {
		return false
	}
	r, n := utf8.DecodeRuneInString(text)
	for _, s := range []string{text, string(unicode.ToLower(r)) + text[n:], string(unicode.ToUpper(r)) + text[n:]} {
		for from := 0; ; {
			i := strings.Index(quote[from:], s)
			if i < 0 {
				break
			}
			i += from
			before, after := strings.TrimRight(quote[:i], " \"'`*#->"), quote[i+len(s):]
			if (before == "" || strings.ContainsAny(before[len(before)-1:], ".!?:;") || strings.HasSuffix(before, "。")) &&
				(after == "" || strings.ContainsAny(after[:1], ".!?;,:)\"'`*") || strings.HasPrefix(after, "。") ||
					strings.HasPrefix(after, " (") || strings.HasPrefix(after, " -")) {
				return true
			}
			from = i + 1
		}
	}
	return false
}

// isNegated reports whether words negate the text after them.
func isNegated(before string) bool {
	w := newWording(before + " what")
	return len(w.words) > 0 && w.words[len(w.words)-1].negated
}

// usesSpaces reports whether the script of a letter separates words by spaces.
func usesSpaces(r rune) bool {
	const longVowel = 'ー' // used with both kana, in neither of the two tables
	return r != longVowel && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// quoteList formats at most five words for a message.
func quoteList(words []string) string {
	const most = 5
	var out []string
	for _, w := range words[:min(len(words), most)] {
		out = append(out, "`"+truncate(oneSpace(w), 60)+"`")
	}
	if n := len(words) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), n)
	}
	return strings.Join(out, ", ")
}

// truncate shortens s to n runes.
func truncate(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// SpeakerOf returns the speaker of a quote, and whether the quote was found.
func (t *Transcript) SpeakerOf(e Evidence) (Speaker, bool) {
	q, ok := t.find(e.Message, oneSpace(e.Quote))
	return q.speaker, ok
}

func (s Speaker) String() string {
	return [...]string{"tool", "echo", "command", "script", "assistant", "assistant", "user"}[min(max(s, 0), ByUser)]
}
