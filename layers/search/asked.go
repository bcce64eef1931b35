package search

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// timePhrase matches the phrases for a time that a question may contain.
var timePhrase = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:(since|before|until)\s+|(?:from|on|in|during|of)\s+)?(?:the\s+)?` +
		`(today|yesterday|(?:this|last)\s+(?:week|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)` +
		`|\d{1,3}\s+(?:day|week|month)s?\s+ago|\d{4}-\d{2}-\d{2})\b`)
})

// Ask is [Parse] for a question of a person: a phrase such as "yesterday", "last week" or "since 3 days ago" restricts
// the time, unless nothing was written then. What remains of "what did we do last week" asks for the requests of it.
// "What is still open" and "what did I reject" ask for that. A question of words that are in nearly every text, which
// the ranking does not count, is a phrase.
func Ask(text string, now time.Time) Query {
	q := ask(text, now)
	if strings.ContainsFunc(q.Words, unicode.IsLetter) && q.Filter.Pending == 0 && len(q.Phrases) == 0 && len(queryTerms(q.Words)) == 0 {
		q.Words, q.Phrases, q.Common = "", []string{q.Words}, true
	}
	return q
}

func ask(text string, now time.Time) Query {
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
	phrase := text[at[4]:at[5]]
	from, to, ok := Span(phrase, now)
	if !ok {
		return whole
	}
	since, until := from.Unix(), to.Unix()
	if at[2] >= 0 {
		switch strings.ToLower(text[at[2]:at[3]]) {
		case "since":
			until = 0
		default:
			since, until = 0, from.Unix()
		}
	}
	q := Parse(text[:at[0]] + " " + text[at[1]:])
	q.Filter.Since, q.Filter.Until = since, until
	q.Filter.Requests = onlyDoing(q.Words)
	if q.Filter.Requests {
		q.Words = ""
	}
	q.pending()
	q.Phrase, q.without = strings.TrimSpace(text[at[0]:at[1]]), &whole
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

// Span returns the time that a phrase names, the end excluded: a day, week, month or year of the calendar of now.
func Span(phrase string, now time.Time) (from, to time.Time, ok bool) {
	words := strings.Fields(strings.ToLower(phrase))
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	month := day.AddDate(0, 0, 1-day.Day())
	year := time.Date(now.Year(), 1, 1, 0, 0, 0, 0, now.Location())
	switch strings.Join(words, " ") {
	case "today":
		return day, day.AddDate(0, 0, 1), true
	case "yesterday":
		return day.AddDate(0, 0, -1), day, true
	case "this week":
		return monday, monday.AddDate(0, 0, 7), true
	case "last week":
		return monday.AddDate(0, 0, -7), monday, true
	case "this month":
		return month, month.AddDate(0, 1, 0), true
	case "last month":
		return month.AddDate(0, -1, 0), month, true
	case "this year":
		return year, year.AddDate(1, 0, 0), true
	case "last year":
		return year.AddDate(-1, 0, 0), year, true
	}
	if t, err := time.ParseInLocation(time.DateOnly, phrase, now.Location()); err == nil {
		return t, t.AddDate(0, 0, 1), true
	}
	if len(words) == 2 && (words[0] == "last" || words[0] == "this") {
		for back := range 7 {
			d := day.AddDate(0, 0, -back)
			if back == 0 && words[0] == "last" {
				d = day.AddDate(0, 0, -7)
			}
			if strings.ToLower(d.Weekday().String()) == words[1] {
				return d, d.AddDate(0, 0, 1), true
			}
		}
	}
	if len(words) == 3 && words[2] == "ago" {
		n, err := strconv.Atoi(words[0])
		if err != nil {
			return from, to, false
		}
		switch strings.TrimSuffix(words[1], "s") {
		case "day":
			return day.AddDate(0, 0, -n), day.AddDate(0, 0, 1-n), true
		case "week":
			return monday.AddDate(0, 0, -7*n), monday.AddDate(0, 0, 7-7*n), true
		case "month":
			return month.AddDate(0, -n, 0), month.AddDate(0, 1-n, 0), true
		}
	}
	return from, to, false
}
