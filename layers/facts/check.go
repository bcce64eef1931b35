package facts

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/claims"
)

// A Speaker says who a part of a message comes from, the least trusted first.
type Speaker int

// The speakers.
const (
	ByTool      Speaker = iota // what a tool returned, or the client wrote
	ByEcho                     // typed text that mem, a fork or a resumed session brought
	ByCommand                  // a command of the client with what stands behind it
	ByScript                   // typed by a script in a headless run
	ByCall                     // what the model handed to a tool: names of files and texts may be those of others
	ByAssistant                // the model: its words, the summaries it wrote
	ByUser                     // typed by the user
)

// Trust is how far a fact may be trusted that a speaker says. What was handed to a tool shows that the model
// did something, and nothing else: a file can have any name.
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

// A Part is a text of a message, and who it comes from.
type Part struct {
	Speaker Speaker
	Text    string
}

// A Transcript is what evidence is looked up in: the parts of the messages of a session, by number. Names are those of
// the speakers, where they have any besides "the user" and "the assistant".
type Transcript struct {
	Parts map[int][]Part
	Names map[Speaker]string
	norm  map[int][]normal
}

// Add adds a text of a message. White space alone is no text.
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

// A normal is a text in which every run of white space is one space; breaks are where lines began.
type normal struct {
	text   string
	breaks []int
}

func normalise(s string) normal {
	var n normal
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

// before returns what stands in front of the byte at i in its clause, at most a few words.
func (n normal) before(i int) string {
	start := max(0, i-80)
	for _, b := range n.breaks {
		if b <= i {
			start = max(start, b)
		}
	}
	s := n.text[start:i]
	return s[strings.LastIndexAny(s, ".!?;:,()")+1:]
}

// after returns what stands behind the byte at i in its clause, at most a few words.
func (n normal) after(i int) string {
	end := min(len(n.text), i+80)
	for _, b := range n.breaks {
		if b > i {
			end = min(end, b)
		}
	}
	s := n.text[i:end]
	for at, r := range s {
		if strings.ContainsRune("!?;:,()。！？、，", r) || r == '.' && (at+1 == len(s) || s[at+1] == ' ') {
			return s[:at]
		}
	}
	return s
}

// plain returns the parts of a message, normalised.
func (t *Transcript) plain(message int) []normal {
	if list, ok := t.norm[message]; ok {
		return list
	}
	var list []normal
	for _, p := range t.Parts[message] {
		list = append(list, normalise(p.Text))
	}
	if t.norm == nil {
		t.norm = map[int][]normal{}
	}
	t.norm[message] = list
	return list
}

func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// A found quote is a quote with who said it, and the words around it in its clause.
type found struct {
	speaker Speaker
	before  string
	quote   string
	after   string
}

// find looks a quote up in a message: of several who say it the one who is trusted most counts.
func (t *Transcript) find(message int, quote string) (best found, ok bool) {
	for i, n := range t.plain(message) {
		at := strings.Index(n.text, quote)
		if who := t.Parts[message][i].Speaker; at >= 0 && (!ok || who > best.speaker) {
			best, ok = found{who, n.before(at), quote, n.after(at + len(quote))}, true
		}
	}
	return best, ok
}

// elsewhere says where a quote might have been meant to be, "" if that cannot be told.
func (t *Transcript) elsewhere(message int, quote string) string {
	lower := strings.ToLower(quote)
	for _, n := range t.plain(message) {
		if strings.Contains(strings.ToLower(n.text), lower) {
			return "; it is there with other capital letters"
		}
	}
	best := 0
	for n := range t.Parts {
		if _, ok := t.find(n, quote); ok && (best == 0 || away(n, message) < away(best, message) ||
			away(n, message) == away(best, message) && n < best) {
			best = n
		}
	}
	if best > 0 {
		return fmt.Sprintf("; it is in message %d", best)
	}
	return ""
}

func away(a, b int) int { return max(a-b, b-a) }

// Check finds out whether a fact is what its evidence says: it sets Verdict, Reason and Trust.
func Check(f *Fact, t *Transcript) {
	c := checker{fact: f, t: t}
	f.Verdict, f.Reason, f.Trust = Verified, "", User
	for _, step := range []func() (Verdict, string){c.evidence, c.speaker, c.content} {
		v, why := step()
		if worse(v, f.Verdict) {
			f.Verdict, f.Reason = v, why
		}
		if f.Verdict == Rejected {
			break
		}
	}
	f.Trust = vouched(f.Trust, f.Verdict)
}

// vouched returns how far a fact of a verdict may be trusted. What was inferred from quotes is not what they
// say, whoever is quoted: it is the word of who inferred it.
func vouched(t Trust, v Verdict) Trust {
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
	quotes []found
}

// evidence looks the quotes up.
func (c *checker) evidence() (Verdict, string) {
	switch {
	case len(c.fact.Evidence) > 0:
	case c.fact.From != "":
		c.fact.Trust = Tool // nobody here said it
		return Inferred, "imported without evidence"
	default:
		c.fact.Trust = Assistant
		return Inferred, "stated without evidence"
	}
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
			return c.reject(at + fmt.Sprintf("the quote is not in message %d%s", e.Message, c.t.elsewhere(e.Message,
				quote)))
		}
		c.quotes = append(c.quotes, q)
		c.fact.Trust = min(c.fact.Trust, q.speaker.Trust(c.fact.Kind))
	}
	return Verified, ""
}

func (c *checker) reject(why string) (Verdict, string) {
	c.fact.Trust = Tool
	return Rejected, why
}

// speaker sees whether those who are quoted can know it.
func (c *checker) speaker() (Verdict, string) {
	if len(c.quotes) == 0 {
		return Verified, ""
	}
	said := func(s Speaker) bool {
		return slices.ContainsFunc(c.quotes, func(q found) bool {
			return q.speaker == s || s == ByAssistant && q.speaker == ByCall
		})
	}
	who, named := c.subject()
	switch {
	case named && who == ByAssistant && !said(ByAssistant):
		return c.reject("it tells what the assistant said or did, but somebody else is quoted")
	case c.fact.Kind == Request, c.fact.Kind == Preference, named && who == ByUser:
		switch what := whatOf(c.fact.Kind, named && who == ByUser); {
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
	case c.fact.Kind == Action && !said(ByAssistant) && !said(ByTool) && !named:
		return Inferred, "only the user's words are quoted: they tell what was wanted, not that it was done"
	}
	return Verified, ""
}

func whatOf(k Kind, subject bool) string {
	if subject || k == Decision {
		return "it tells what the user said"
	}
	return fmt.Sprintf("a %s comes from the user", k)
}

// subject returns whose words or deeds a fact tells of, if its first words say so.
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
	case "user", "users": // the user wants; not: the user table has, users of the program can
		if first == "user" && !strings.HasPrefix(strings.ToLower(c.fact.Text), "the ") && !slices.Contains(deeds(),
			second) {
			return 0, false
		}
		return ByUser, first == "user" && slices.Contains(deeds(), second)
	case "assistant", "claude", "model", "agent":
		return ByAssistant, slices.Contains(deeds(), second)
	}
	for _, mark := range []string{"사용자가", "사용자는", "ユーザーは", "ユーザーが", "用户要", "用户希望", "用户说"} {
		if strings.HasPrefix(c.fact.Text, mark) {
			return ByUser, true
		}
	}
	return 0, false
}

// content sees whether the fact says what its evidence says.
func (c *checker) content() (Verdict, string) {
	if len(c.quotes) == 0 {
		return Verified, ""
	}
	text := oneSpace(c.fact.Text)
	var quotes, clauses, whole strings.Builder
	for _, q := range c.quotes {
		if verbatim(text, q.quote) && !denies(q.before) {
			return Verified, ""
		}
		quotes.WriteString(q.quote + "\n")
		clauses.WriteString(q.before + q.quote + "\n")
		whole.WriteString(q.before + q.quote + q.after + "\n")
	}
	var messages strings.Builder
	for _, e := range c.fact.Evidence {
		for _, p := range c.t.Parts[e.Message] {
			messages.WriteString(p.Text + "\n")
		}
	}
	all := quotes.String()
	said, around := newWording(all), newWording(messages.String())
	fact, stands := newWording(text), newWording(clauses.String())
	if why := contradiction(fact, stands); why != "" {
		return c.reject(why)
	}
	if bad := c.unsupported(text, messages.String(), fact, around); len(bad) > 0 {
		return c.reject(fmt.Sprintf("its evidence does not hold %s", list(bad)))
	}
	if bad := c.unsupported(text, all, fact, said); len(bad) > 0 {
		return Inferred, fmt.Sprintf("the quotes do not hold %s, only their messages do", list(bad))
	}
	if why := doubt(fact, stands); why != "" {
		return Inferred, why
	}
	if goesOn := newWording(whole.String()); contradiction(fact, goesOn) != "" || doubt(fact, goesOn) != "" {
		return Inferred, "the quotes end before their clauses do, which deny something: quote all of them"
	}
	ignored := c.names()
	if w, ok := fact.doer(); ok && !said.has(w.stem) && !ignored[w.stem] {
		return Inferred, fmt.Sprintf("the quotes do not name `%s`", w.text)
	}
	switch known, total := fact.covered(said, ignored); {
	case total == 0:
		return Inferred, "it has no words that could be looked up"
	case known*100 < total*enough:
		return Inferred, fmt.Sprintf("the quotes have only %d of its %d words", known, total)
	}
	if known, total := fact.said().covered(said, ignored); known == 0 && total > 0 {
		return Inferred, "the quotes have its names, and nothing of what it says of them"
	}
	return Verified, ""
}

// enough is the share of a fact's words, in hundredths, that its quotes must have, or words for the same.
const enough = 50

// names returns the stems of the words that stand for the speakers.
func (c *checker) names() map[string]bool {
	out := map[string]bool{"user": true, "assist": true, "claud": true, "model": true, "agent": true}
	for _, name := range c.t.Names {
		out[stem(strings.ToLower(name))] = true
	}
	return out
}

// unsupported returns the names, numbers, paths and identifiers of a fact that a text does not hold.
func (c *checker) unsupported(fact, text string, words, source *wording) []string {
	bad := claims.Missing(fact, text+"\n"+strings.Join(c.fact.speakers(c.t), "\n"))
	ignored := c.names()
	for _, name := range words.names {
		if !source.has(name.stem) && !ignored[name.stem] && !slices.Contains(bad, name.text) {
			bad = append(bad, name.text)
		}
	}
	return slices.DeleteFunc(bad, func(s string) bool { return ignored[stem(strings.ToLower(s))] })
}

// speakers returns the names of those who speak.
func (f *Fact) speakers(t *Transcript) []string {
	var out []string
	for _, who := range []Speaker{ByUser, ByAssistant} {
		if n := t.Names[who]; n != "" {
			out = append(out, n)
		}
	}
	return out
}

// verbatim reports whether a text is a sentence of a quote, but for the capital it begins with and the stop it
// ends with.
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

// denies reports whether words deny what follows them.
func denies(before string) bool {
	w := newWording(before + " what")
	return len(w.words) > 0 && w.words[len(w.words)-1].denied
}

// spaced reports whether the script of a letter puts spaces between words.
func spaced(r rune) bool { return !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// list writes what is missing for people, at most five.
func list(words []string) string {
	const most = 5
	var out []string
	for _, w := range words[:min(len(words), most)] {
		out = append(out, "`"+cut(oneSpace(w), 60)+"`")
	}
	if n := len(words) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), n)
	}
	return strings.Join(out, ", ")
}

// cut shortens s to n runes.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// Who returns who says a quote, and whether anybody does.
func (t *Transcript) Who(e Evidence) (Speaker, bool) {
	q, ok := t.find(e.Message, oneSpace(e.Quote))
	return q.speaker, ok
}

func (s Speaker) String() string {
	return [...]string{"tool", "echo", "command", "script", "assistant", "assistant", "user"}[min(max(s, 0), ByUser)]
}
