package search

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// timePhrase matches the phrases for a time that a question may contain: the word before it, and the phrase. A day of the
// week needs a word before it: "the monday report" names no time.
var timePhrase = sync.OnceValue(func() *regexp.Regexp {
	const (
		day    = `(?:mon|tues|wednes|thurs|fri|satur|sun)day`
		number = `(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|(?:a\s+)?couple\s+of)\s+`
		units  = `(?:minute|hour|day|week|month|year)s?`
	)
	return regexp.MustCompile(`(?i)\b(?:(since|before|until)\s+|(?:from|on|in|during|within|of|over)\s+)?(?:the\s+)?` +
		`(today|yesterday|(?:this|last|past)\s+(?:week|month|year|` + day + `)|(?:last|past)\s+` + number + units +
		`|` + number + units + `\s+ago|\d{4}-\d{2}-\d{2})\b|\b(since|before|until|on)\s+(` + day + `)\b`)
})

// Ask is [Parse] for a question of a person: a phrase such as "yesterday", "last two weeks" or "since monday" restricts
// the time, unless no match was written then. What remains of "what did we do last week" asks for the requests of it.
// "What is still open" and "what did I reject" ask for that. A question of words that are in nearly every text, which
// the ranking does not count, is a phrase.
func Ask(text string, now time.Time) Query {
	q := ask(text, now)
	if strings.ContainsFunc(q.Words, unicode.IsLetter) && q.Filter.Pending == 0 && len(q.Phrases) == 0 && len(queryTerms(q.Words)) == 0 {
		q.Words, q.Phrases, q.Common = "", []string{q.Words}, true
	}
	return q
}

// leadIn matches the words before a question that say only that it is one: "can you find out why".
var leadIn = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\W*(?:(?:please|can|could|would|will|you|i|we|i'd|want|need|like|to|find|figure|out|tell|show|explain|check|look|` +
		`see|know|remember|remind|me|us|again|do|into|up)\b\W+)+(why|how|what|where|which|when|who|whether)\b`)
})

// question returns a text from the word with which it asks on.
func question(text string) string {
	if at := leadIn().FindStringSubmatchIndex(text); at != nil {
		return text[at[2]:]
	}
	return text
}

func ask(text string, now time.Time) Query {
	text = question(text)
	whole := Parse(text)
	if len(whole.Phrases) > 0 {
		return whole
	}
	if whole.pending(); whole.Filter.Pending != 0 {
		return whole
	}
	at := timePhrase().FindStringSubmatchIndex(text)
	if at == nil {
		return whole
	}
	word, phrase := at[2:4], at[4:6]
	if phrase[0] < 0 {
		word, phrase = at[6:8], at[8:10]
	}
	from, to, ok := Span(text[phrase[0]:phrase[1]], now)
	if !ok {
		return whole
	}
	since, until := from.Unix(), to.Unix()
	switch strings.ToLower(text[max(0, word[0]):max(0, word[1])]) {
	case "since":
		until = 0
	case "before", "until":
		since, until = 0, from.Unix()
	}
	q := Parse(text[:at[0]] + " " + text[at[1]:])
	q.Filter.Since, q.Filter.Until = since, until
	q.Filter.Requests = onlyDoing(q.Words)
	if q.Filter.Requests {
		q.Words = ""
	}
	q.pending()
	q.Phrase = strings.TrimSpace(text[at[0]:at[1]])
	return q
}

// The words of questions for what is open, or what the user rejected: they begin with one of asks and have nothing but
// these words.
const (
	asks   = " what whats what's which anything is show list "
	opens  = " open unfinished undone pending outstanding unresolved unanswered incomplete "
	refuse = " reject rejected refuse refused decline declined "
	around = " still left yet there are was were all the a of in this project here now do did we i you he she user users me my our " +
		"have has had to be by so far that thing things item items issue issues question questions todo todos task tasks work " +
		"request requests plan plans proposal proposals edit edits call calls suggestion suggestions "
)

// pending makes a question for what is open or was rejected one for that.
func (q *Query) pending() {
	has := func(list, word string) bool { return strings.Contains(list, " "+word+" ") }
	var kind Pending
	for i, w := range strings.Fields(strings.ToLower(strings.ReplaceAll(q.Words, "’", "'"))) {
		w = strings.Trim(w, "?!.,:;")
		switch {
		case i == 0 && !has(asks, w):
			return
		case has(opens, w):
			kind = Open
		case has(refuse, w):
			kind = Rejected
		case w != "" && !has(asks, w) && !has(around, w):
			return
		}
	}
	if kind != 0 {
		q.Words, q.Filter.Pending = "", kind
	}
}

// onlyDoing reports whether words only ask what was done.
func onlyDoing(words string) bool {
	for _, t := range queryTerms(words) {
		switch t.term {
		case "work", "happen", "done", "chang", "session", "thing":
		default:
			return false
		}
	}
	return true
}

// Span returns the time that a phrase names, the end excluded: a day, week, month or year of the calendar of now, or the
// last few of them, with today.
func Span(phrase string, now time.Time) (from, to time.Time, ok bool) {
	if t, err := time.ParseInLocation(time.DateOnly, phrase, now.Location()); err == nil {
		return t, t.AddDate(0, 0, 1), true
	}
	words := strings.Fields(strings.ToLower(phrase))
	lead, ago := "", len(words) > 2 && words[len(words)-1] == "ago"
	switch {
	case ago:
		words = words[:len(words)-1]
	case len(words) == 0:
		return from, to, false
	case len(words) > 1:
		lead, words = words[0], words[1:]
	}
	unit := strings.TrimSuffix(words[len(words)-1], "s")
	n, counted := numberOf(words[:len(words)-1])
	day := slices.IndexFunc(week, func(d time.Weekday) bool { return strings.ToLower(d.String()) == unit })
	switch {
	case len(words) > 1 && !counted:
		return from, to, false
	case lead == "" && unit == "today":
		unit, n = "day", 0
	case lead == "" && unit == "yesterday":
		unit, n = "day", 1
	case day >= 0 && !counted:
		n = (int(now.Weekday()) - day + 7) % 7
		if unit = "day"; n == 0 && lead == "last" {
			n = 7
		}
	case lead == "this" && !counted:
		n = 0
	case lead == "past", lead == "last" && counted:
		if days := map[string]int{"week": 7, "month": 30, "year": 365}[unit]; days > 0 {
			unit, n = "day", n*days
		}
		from, ok = before(now, unit, n)
		return from, now.AddDate(0, 0, 1), ok
	case lead != "last" && !(ago && counted):
		return from, to, false
	}
	if from, ok = before(now, unit, n); ok {
		to, ok = before(now, unit, n-1)
	}
	return from, to, ok
}

var week = []time.Weekday{0, 1, 2, 3, 4, 5, 6}

// numberOf returns the number that some words are, and 1 for none.
func numberOf(words []string) (n int, ok bool) {
	if len(words) == 0 {
		return 1, false
	}
	switch words[len(words)-1] {
	case "a", "an":
		return 1, true
	case "of": // a couple
		return 2, true
	}
	if n = slices.Index(numbers, words[0]); n > 0 {
		return n, true
	}
	n, err := strconv.Atoi(words[0])
	return n, err == nil
}

var numbers = []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

// before returns the begin of the day, week, month or year that was n before that of now, or the time n minutes or
// hours before.
func before(now time.Time, unit string, n int) (time.Time, bool) {
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch unit {
	case "minute":
		return now.Add(-time.Duration(n) * time.Minute), true
	case "hour":
		return now.Add(-time.Duration(n) * time.Hour), true
	case "day":
		return day.AddDate(0, 0, -n), true
	case "week":
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7-7*n), true
	case "month":
		return time.Date(now.Year(), now.Month()-time.Month(n), 1, 0, 0, 0, 0, now.Location()), true
	case "year":
		return time.Date(now.Year()-n, 1, 1, 0, 0, 0, 0, now.Location()), true
	}
	return now, false
}
