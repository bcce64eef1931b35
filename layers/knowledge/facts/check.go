package facts

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/answers"
	"github.com/memvcs/mem/layers/tokens"
)

// A Speaker says where a part of a message comes from, the least trusted first.
type Speaker int

// The speakers.
const (
	ByTool      Speaker = iota // output of a tool or the client
	ByPaste                    // in a prompt, but pasted: a log, code, a conversation
	ByEcho                     // typed text inserted by mem, a fork or a resumed session
	ByCommand                  // a command of the client with its arguments
	ByScript                   // typed by a script in a headless run
	ByCall                     // the model's arguments of a tool call, which may contain text of others
	ByPlan                     // a plan of the model that the user accepted
	ByAssistant                // text of the model, including its summaries
	ByUser                     // typed by the user
)

// Trust returns the trust of a fact of a kind that the speaker states. Arguments of a tool call prove only that the
// model did something: a file can have any name.
func (s Speaker) Trust(k Kind) Trust {
	switch {
	case s == ByUser:
		return User
	case s == ByAssistant, s == ByPlan, s == ByCall && k == Action:
		return Assistant
	case s == ByScript:
		return Script
	}
	return Tool
}

func (s Speaker) String() string {
	return [...]string{"tool", "paste", "echo", "command", "script", "assistant", "plan", "assistant",
		"user"}[min(max(s, 0), ByUser)]
}

// A Part is a text of a message from one speaker.
type Part struct {
	Speaker Speaker
	Text    string
}

// A Transcript is the text in which evidence is searched: the parts of the messages of a session, by number. The zero
// value is empty.
type Transcript struct {
	Parts map[int][]Part
	plain map[int][]string // the parts without white space and marks
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
	delete(t.plain, message)
}

// Of returns the text of the quoted messages.
func (t *Transcript) Of(evidence []Evidence) string {
	var b strings.Builder
	for _, e := range evidence {
		for _, p := range t.Parts[e.Message] {
			b.WriteString(p.Text + "\n")
		}
	}
	return b.String()
}

// Plain returns a text in which quotes are compared: without the marks of Markdown and quotations, and with one space
// for each run of white space.
func Plain(s string) string {
	words := strings.Fields(markRemover().Replace(s))
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.Trim(w, "-+>#|•") == "" }), " ")
}

var markRemover = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, r := range "*_`~\"'“”„‟‘’‚‹›«»「」『』" {
		pairs = append(pairs, string(r), "")
	}
	return strings.NewReplacer(append(pairs, "|", " ")...)
})

func (t *Transcript) plainParts(message int) []string {
	if list, ok := t.plain[message]; ok {
		return list
	}
	var list []string
	for _, p := range t.Parts[message] {
		list = append(list, Plain(p.Text))
	}
	if t.plain == nil {
		t.plain = map[int][]string{}
	}
	t.plain[message] = list
	return list
}

func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// find searches a quote without marks in a message. If several speakers say it, the most trusted one counts. It also
// reports whether the quote begins or ends inside a word.
func (t *Transcript) find(message int, quote string) (by Speaker, cut, ok bool) {
	if quote == "" {
		return 0, false, false
	}
	for i, s := range t.plainParts(message) {
		who := t.Parts[message][i].Speaker
		if ok && who <= by {
			continue
		}
		if at := strings.Index(s, quote); at >= 0 {
			by, cut, ok = who, insideWord(s, at) || insideWord(s, at+len(quote)), true
		}
	}
	return by, cut, ok
}

// insideWord reports whether byte i of a text is between two Latin letters or digits.
func insideWord(s string, i int) bool {
	last, _ := utf8.DecodeLastRuneInString(s[:i])
	next, _ := utf8.DecodeRuneInString(s[i:])
	latin := func(r rune) bool { return unicode.Is(unicode.Latin, r) || unicode.IsDigit(r) }
	return latin(last) && latin(next)
}

// hint returns where the quote occurs instead, as the end of an error text, "" if nowhere.
func (t *Transcript) hint(message int, quote string) string {
	lower := strings.ToLower(quote)
	for _, s := range t.plainParts(message) {
		if strings.Contains(strings.ToLower(s), lower) {
			return "; it is there with other capital letters"
		}
	}
	best := 0
	for n := range t.Parts {
		if _, _, ok := t.find(n, quote); ok && (best == 0 || distance(n, message) < distance(best, message) ||
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

// A Scene is what a check looks at besides the quotes: the text of the exchange around the fact, and whether one of its
// commands is proved to have passed; and of the session, what the user typed, and what the user or the model said.
type Scene struct {
	Text   string
	Typed  string
	Said   string
	Passed bool
}

// Check looks a fact up in the transcript: it sets Verdict, Notes, Trust, and the speakers of the evidence. Code cannot
// tell whether a quote supports a sentence, so the best verdict is [Quoted]; a quote that does not exist makes it
// [Rejected]. Everything else that is missing is a note for the reader who decides.
func Check(f *Fact, t *Transcript, scene Scene) {
	f.Verdict, f.Notes, f.Trust = Quoted, nil, User
	if len(f.Evidence) == 0 {
		f.Verdict, f.Trust = Stated, Assistant
		if f.From != "" {
			f.Trust = Tool // stated in no session of this store
		}
		return
	}
	f.Evidence = slices.Clone(f.Evidence)
	var missing []string
	speakers := make([]Speaker, len(f.Evidence))
	for i := range f.Evidence {
		at := ""
		if len(f.Evidence) > 1 {
			at = fmt.Sprintf("evidence[%d]: ", i)
		}
		var why string
		if speakers[i], why = f.quote(i, t); why != "" {
			missing = append(missing, at+why)
		}
	}
	if len(missing) > 0 {
		f.Verdict, f.Notes, f.Trust = Rejected, missing, Tool
		return
	}
	f.Trust = f.trust(speakers, scene)
	f.noteSpeaker()
	f.noteClaims(t, scene)
	if !scene.Passed && passes().MatchString(f.Text) {
		f.note("no command of its exchange is proved to have passed")
	}
}

func (f *Fact) note(format string, args ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
}

// quote looks a quote up and sets its speaker; it returns why there is no such quote.
func (f *Fact) quote(i int, t *Transcript) (by Speaker, why string) {
	e := &f.Evidence[i]
	e.By = ""
	words := Plain(e.Quote)
	switch {
	case len(t.Parts[e.Message]) == 0:
		return 0, fmt.Sprintf("message %d has no text", e.Message)
	case !strings.ContainsFunc(words, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		return 0, "the quote has no words"
	}
	by, cut, ok := t.find(e.Message, words)
	if !ok {
		return 0, fmt.Sprintf("the quote is not in message %d%s", e.Message, t.hint(e.Message, words))
	}
	if e.By = by.String(); cut {
		f.note("the quote of message %d begins or ends inside a word", e.Message)
	}
	return by, ""
}

// trust returns the trust of the least trusted quote. If the user or the model is quoted too, and they or the quoted calls
// of the model name every name and number of the fact, further quotes do not lower it below that of the model. If nobody
// of that trust names them in the session, it is that of somebody who does: the words of a tool are not the user's
// because the user is quoted.
func (f *Fact) trust(speakers []Speaker, scene Scene) Trust {
	least := User
	var typed, said, called strings.Builder
	for i, e := range f.Evidence {
		by := speakers[i]
		trust := by.Trust(f.Kind)
		if least = min(least, trust); trust == User {
			typed.WriteString(e.Quote + "\n")
		}
		if trust >= Assistant {
			said.WriteString(e.Quote + "\n")
		}
		if by == ByCall {
			called.WriteString(e.Quote + "\n")
		}
	}
	switch {
	case least < Assistant && said.Len() > 0 && f.names(said.String()+called.String()+scene.Said):
		return Assistant
	case least == User && f.names(typed.String()+scene.Typed):
		return User
	case least >= Assistant && !f.names(said.String()+scene.Said):
		return Tool
	}
	return min(least, Assistant)
}

// names reports whether a text contains the names and numbers of the fact.
func (f *Fact) names(text string) bool {
	return len(answers.Missing(f.Text+"\n"+f.Reason, text+"\n"+Plain(text))) == 0
}

// noteSpeaker notes a fact about the user that does not quote the user, and an action that only the user mentions.
func (f *Fact) noteSpeaker() {
	var by []string
	for _, e := range f.Evidence {
		if !slices.Contains(by, e.By) {
			by = append(by, e.By)
		}
	}
	user := slices.Contains(by, ByUser.String())
	switch {
	case !user && (f.Kind == Request || f.Kind == Preference || f.Kind == Decision || aboutUser().MatchString(f.Text)):
		f.note("said by the %s, not by the user", strings.Join(by, " and the "))
	case f.Kind == Action && user && len(by) == 1:
		f.note("only the user is quoted: that proves a request, not that it was done")
	}
}

var aboutUser = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:the|by) user\b|사용자(?:가|는)|ユーザー[はが]|用户`)
})

// passes matches the statement that something ended well.
var passes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|green|builds cleanly|works now)\b`)
})

// noteClaims notes the names, numbers and quantities of the fact that do not occur in its messages or its exchange.
func (f *Fact) noteClaims(t *Transcript, scene Scene) {
	text := f.Text + "\n" + f.Reason
	quoted := t.Of(f.Evidence)
	outside := answers.NewSource(quoted + "\n" + Plain(quoted)).Missing(text)
	outside = append(outside, answers.Quantities(text, quoted)...)
	if len(outside) == 0 {
		return
	}
	all := quoted + scene.Text
	nowhere := append(answers.NewSource(all+"\n"+Plain(all)).Missing(text), answers.Quantities(text, all)...)
	near := slices.DeleteFunc(outside, func(s string) bool { return slices.Contains(nowhere, s) })
	if len(nowhere) > 0 {
		f.note("not in its exchange: %s", quoteList(nowhere))
	}
	if len(near) > 0 {
		f.note("in its exchange, but not in the quoted messages: %s", quoteList(near))
	}
}

// quoteList formats at most five words for a message.
func quoteList(words []string) string {
	const most = 5
	var out []string
	for _, w := range words[:min(len(words), most)] {
		out = append(out, "`"+tokens.OneLine(w, 60)+"`")
	}
	if n := len(words) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), n)
	}
	return strings.Join(out, ", ")
}
