package handover

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/knowledge/permanent"
)

// showPasted is the size of the line that stands for pasted ones.
const showPasted = 110

// Own returns the user's own words in a message. Of a message that is all paste, it returns how much that is, with the
// first line that tells of an error, or its first line.
func Own(text string) string {
	own, pasted := exchange.OwnWords(text)
	if own != "" || len(pasted) == 0 {
		return own
	}
	telling := ""
	for _, line := range pasted {
		if line = strings.Trim(line, " \t❯$%>=-─·"); telling == "" && strings.ContainsFunc(line, unicode.IsLetter) || line != "" && failed().MatchString(line) {
			telling = line
		}
		if failed().MatchString(line) {
			break
		}
	}
	return "(" + times(len(pasted), "pasted line") + strings.TrimSuffix(": "+Cut(telling, showPasted), ": ") + ")"
}

// failed matches a line that a program printed when it failed.
var failed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\W*(?i:[\w.]*(error|exception)|fatal|panic)(\[\w+\])?:|(?i:\berror [A-Z]+\d+:)|^Traceback \(most|` +
		`: (?i:invalid argument|no such file or directory|(command )?not found|permission denied|operation not (permitted|supported))\s*$|` +
		`(?i:\bexit(ed with)? (code|status):? [1-9])|^\s*(FAIL|--- FAIL|ERROR|npm ERR!)`)
})

// lastingIn returns the sentences of a message that say how to work from now on, "" if none does. What was to be done at once
// is told as a request.
func lastingIn(message string) string {
	var out []string
	for _, r := range permanent.FindRequests(shortOwn(message)) {
		out = append(out, r.Text)
	}
	return strings.Join(out, " ")
}

// correctedIn returns the sentences of a message that correct what the model did.
func correctedIn(message string) string {
	return strings.Join(permanent.Corrections(shortOwn(message)), " ")
}

// shortOwn returns the user's own words, "" if they are long: a long message is a request.
func shortOwn(message string) string {
	if text, _ := exchange.OwnWords(message); len(text) <= maxCorrection {
		return text
	}
	return ""
}

// maxCorrection is the size of a correction. A longer text is a request.
const maxCorrection = 400

// question reports whether a text ends with a question to the user.
func question(text string) bool {
	text = strings.TrimRight(strings.TrimSpace(text), "*_` ")
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
}

// bareQuestion is the size of a question that says nothing without the sentence before it.
const bareQuestion = 50

// lastQuestion returns the last question of a text to the user, with what follows it, or "".
func lastQuestion(text string) string {
	list := unitsOf(text)
	for k, u := range slices.Backward(list) {
		if u.level != prose || !question(u.text) {
			continue
		}
		for len(joined(list[k:], maxWant, false)) < bareQuestion && k > 0 && list[k-1].level == prose && list[k-1].text != missing {
			k--
		}
		return joined(list[k:], maxWant, false)
	}
	return ""
}

// askedIn returns a question of at most limit bytes, with as much of what precedes it as fits.
func askedIn(text string, limit int) string {
	list := clauses(text)
	last := Cut(list[len(list)-1], limit)
	if before := strings.Join(list[:len(list)-1], " "); len(before)+1+len(last) <= limit {
		return strings.TrimSpace(before + " " + last)
	} else if room := limit - len(last) - 1; room >= leastShown {
		return Cut(before, room) + " " + last
	}
	return last
}

// maxChoice is the number of words of a request that chooses from a list.
const maxChoice = 14

// choice matches the numbers by which a request chooses from a list, not those that count something, and choices a line with the
// number of an item: of a list, a heading or a table.
var (
	choice = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:^|\b(?:options?|approach|items?|numbers?|points?|do|skip|fix|implement|address|go (?:for|with)|choose|pick|try|take|yes,?) )#?` +
			`(\d\d?(?:(?:,? and |, ?| & |\+)#?\d\d?)*)(?:\W*$|[.,;:!?)]|,? (?:and|but|then|please|first|now|too|only|for|with|as|is|looks|sounds)\b)`)
	})
	choices = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^[#>*|\s-]*(?:(?:option|approach|issue|item|step|bug|fix) )?#?(\d\d?)(?:[.):]|\*\*| \||:? [—–-]) *(\S.*)$`)
	})
)

// chosenItems returns the items of a text that a short request names by their numbers, "" if it names none, or one that
// does not stand there once.
func chosenItems(request, text string) string {
	m := choice().FindStringSubmatch(request)
	if m == nil || len(strings.Fields(request)) > maxChoice || choices().MatchString(request) {
		return ""
	}
	items := map[string][]string{}
	for line := range strings.Lines(text) {
		if c := choices().FindStringSubmatch(strings.TrimRight(line, " \r\n|")); c != nil {
			items[c[1]] = append(items[c[1]], c[1]+". "+strings.Trim(strings.ReplaceAll(c[2], "**", ""), " :|"))
		}
	}
	var out []string
	wanted := strings.FieldsFunc(m[1], func(r rune) bool { return !unicode.IsDigit(r) })
	for _, n := range wanted {
		if len(items[n]) != 1 {
			return ""
		}
		out = append(out, Cut(items[n][0], max(leastShown, maxChosen/len(wanted))))
	}
	return strings.Join(out, "; ")
}

// lead matches a clause that only announces what follows.
var lead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(nothing (else|more) to do|here'?s|here is|here are|summary|the (following|changes|fix|problem|result)|what (i|was|changed)|changes|let me|now (let|i)|i'?ll|perfect|great|excellent|done|all done)\b[^.:!]{0,60}[:!.]?$|^here(’s|'s| is| are)\b.*:$`)
})

// announcement matches a clause that says what the model does next.
var announcement = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^((ok(ay)?|good|great|perfect|excellent|now|next|first|then|and|so|alright)[,.!]? (- )?)*` +
		`(let me|let's|i'?ll|i will|i need to|i'm going to|time to|now i (have|can|understand|see|know)|i now have|(i )?found it\b|there it is\b|i have (the|a) (full|complete|good|clear))\b`)
})

// announces reports whether a text only says what the model does next.
func announces(text string) bool {
	if len(text) > maxCorrection || strings.HasPrefix(strings.ToLower(text), "done") {
		return false
	}
	for _, c := range clauses(strings.Join(strings.Fields(strings.NewReplacer("’", "'", restSign, "").Replace(text)), " ")) {
		if c != "" && !announcement().MatchString(c) && !lead().MatchString(c) && !endsInColon(c) {
			return false
		}
	}
	return true
}

// waiting matches a clause that says only that something is not over, or of no concern.
var waiting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(still (waiting|running|pending|queued|going|in (progress|flight))|waiting (for|on)|(i'll|i will) (wait|keep|check|report|continue)|standing by|` +
		`nothing (to|new|else)|no (action|change|news)\b|not (done|over|finished) yet|(is|are) (running|pending|queued)|routine)\b`)
})

// waits reports whether a text of the model says only that it waits.
func waits(text string) bool {
	for _, c := range clauses(strings.Join(strings.Fields(strings.ReplaceAll(text, "’", "'")), " ")) {
		if c != "" && !waiting().MatchString(c) && !announcement().MatchString(c) {
			return false
		}
	}
	return len(text) < longAnswer
}

// housekeeping matches a request that asks for no work of its own.
var housekeeping = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\W*(please |now |ok(ay)?,? |yes,? |and )*(let's |can you )?(git )?(com+it?|push|merge|ship|open a pr|create a pr|make a pr)\b.{0,40}$`)
})

// clauses divides a line into sentences.
func clauses(line string) (out []string) {
	start := 0
	for i := 0; i+1 < len(line); i++ {
		if strings.ContainsRune(".!?", rune(line[i])) && line[i+1] == ' ' && i+2 < len(line) && !lower(line[i+2]) && stops(line[:i+1]) {
			out = append(out, strings.TrimSpace(line[start:i+1]))
			start = i + 2
		}
	}
	return append(out, strings.TrimSpace(line[start:]))
}

func lower(b byte) bool { return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' }
