package exchange

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/transcript"
)

const (
	shortestWord = 3   // bytes
	maxTopic     = 200 // words
	maxRequest   = 400 // bytes of a request that say what it is about
)

// OwnWords returns the user's own words in a message, without logs, code and output that he pasted, and those.
func OwnWords(text string) (own string, pasted []string) {
	kinds := transcript.LineKinds(text)
	if kinds == nil {
		return text, nil
	}
	var said []string
	for i, line := range strings.Split(text, "\n") {
		switch {
		case kinds[i] == transcript.Pasted:
			pasted = append(pasted, line)
		case strings.TrimSpace(line) != "":
			said = append(said, line)
		}
	}
	return strings.Join(said, "\n"), pasted
}

// Words returns the words of a text or a path in lower case and in the singular. It splits at marks and camelCase.
func Words(s string) (out []string) {
	EachWord(s, func(w []byte) { out = append(out, string(w)) })
	return out
}

// EachWord calls each with the words of [Words]; w is valid during the call.
func EachWord(s string, each func(w []byte)) {
	b := make([]byte, 0, 64)
	lower := false
	flush := func() {
		if len(b) >= shortestWord {
			each(b[:singular(b)])
		}
		b = b[:0]
	}
	for _, r := range s {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			lower = false
			continue
		case unicode.IsUpper(r) && lower:
			flush()
		}
		lower = !unicode.IsUpper(r)
		b = utf8.AppendRune(b, unicode.ToLower(r))
	}
	flush()
}

// singular returns the length of a word without the s of its plural.
func singular(w []byte) int {
	if n := len(w); n > 4 && w[n-1] == 's' && w[n-2] != 's' {
		return n - 1
	}
	return len(w)
}

// StopWords are words without meaning for the topic of a prompt.
var StopWords = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(
		`the and for you that this with have are was not but can could would should will what when where which who
		why how does did doing done from into out about there their they them then than its our your please yes yeah
		okay thank great good nice look need want like just also some any all now let make made run again test tests
		commit push pull continue start stop fix add change update use using used work working file files code line
		lines new old see show tell think check try get got set put take give go going here more most other only
		same still very well been being were had has may might must shall each every message request command user
		caveat local image error issue problem help sure after before over because while first last next one two
		three thing things way know implement implementation plan following review create remove delete write read
		open close call don isn doesn http https www com github org html`) {
		out[w[:singular([]byte(w))]] = true
	}
	return out
}()

// Shared returns the distinct words of a text that are in a set.
func Shared(text string, wanted map[string]bool) (out []string) {
	EachWord(text, func(w []byte) {
		if wanted[string(w)] && !slices.Contains(out, string(w)) {
			out = append(out, string(w))
		}
	})
	return out
}

// Topic returns the words of a text that say what it is about.
func Topic(text string) map[string]bool {
	out := map[string]bool{}
	EachWord(text, func(w []byte) {
		if len(out) < maxTopic && !StopWords[string(w)] {
			out[string(w)] = true
		}
	})
	return out
}

// AskedFor returns what says what a request is about: the user's own words, of a long one the beginning.
func AskedFor(request string) string {
	own, _ := OwnWords(request)
	return own[:min(len(own), maxRequest)]
}

// Settles reports whether an answered request, or an accepted plan, of [AskedFor] deals with something of a topic that an
// earlier session left open: it has half of the words.
func Settles(topic map[string]bool, asked string) bool {
	return len(topic) > 0 && 2*len(Shared(asked, topic)) >= len(topic)
}
