// Package search ranks the documents of search indexes for a query.
//
// The score of a message is BM25 over Porter2 stems, whole identifiers and their parts, plus a share of the scores
// of the neighbouring messages (an answer seldom repeats the words of the question) and of its session. Sessions are
// ranked by BM25 over all their text, plus their best message. All sums are computed in the same order each time, so
// a query has one answer. The best messages are then compared by their best passage: whole sentences, items or changed
// lines. A page shows different things: an exchange once for the same words, three hits of a session at most. Literal
// searches, for a phrase or a regular expression, read the stored text.
//
// [Transcript] makes documents of a session, [Search] answers a query. Package index stores the documents, package
// terms splits texts.
package search

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/search/index"
)

// Version changes when the same records make other documents, so that indexes are built again.
const Version = 14

// A Unit is the kind of thing that a search returns.
type Unit string

// The units.
const (
	ByMessage Unit = "message"
	BySession Unit = "session"
	ByFile    Unit = "file"
)

// A Query contains the words, phrases and patterns of a search, its filter and its limit.
type Query struct {
	Words    string           // a text with some of them is found; one with more of them ranks higher
	Phrases  []string         // the text must contain all, in any case, unless no text does
	Patterns []*regexp.Regexp // the text must match all
	Filter   Filter
	By       Unit
	Limit    int // 0 is no limit
	Width    int // bytes of a passage, about; 0 is 400

	Phrase    string // of the time in a question, which [Ask] read
	Common    bool   // the only phrase consists of words that are in nearly every text, which [Ask] made a phrase
	uncounted bool   // the hits beyond the limit do not matter
}

// A Filter restricts the results. The zero Filter accepts everything.
type Filter struct {
	Classes  []index.Class
	Files    []string // names or ends of paths, or patterns with * and ?; one must match
	Since    int64    // seconds since 1970
	Until    int64    // exclusive; 0 is no limit
	Branch   string
	Topic    string                // words in the topics of the session
	Keepit   func(weight int) bool // of a marker in the message
	Only     Only
	Requests bool            // only requests that begin an exchange
	Part     Part            // of calls that must match
	Rewound  bool            // also what the user withdrew
	Without  map[string]bool // sessions to leave out, by id
	Pending  Pending         // only what is open, or was rejected
}

// Pending says what of sessions is searched instead of their messages.
type Pending int

// What sessions left open and no later session dealt with; and what the user rejected.
const (
	Open Pending = iota + 1
	Rejected
)

// A Part is a part of a call of a tool.
type Part int

// The parts: what the model gave to the tool, and what the tool answered.
const (
	Both Part = iota
	Given
	Answered
)

// Only restricts projects to some of their sessions, by id. A project that is not in it is searched whole.
type Only map[string]map[string]bool

// allows reports whether a session of a project may be found; s is nil for a document without a session.
func (o Only) allows(project string, s *index.Session) bool {
	some, ok := o[project]
	return !ok || s != nil && (some[s.ID] || some[s.Parent])
}

// Parse reads the text of a query: words, and phrases in double quotes.
func Parse(s string) (q Query) {
	var words []string
	for {
		before, rest, ok := strings.Cut(s, `"`)
		phrase, after, closed := strings.Cut(rest, `"`)
		words = append(words, before)
		if !ok || !closed {
			words = append(words, rest)
			break
		}
		if phrase = strings.TrimSpace(phrase); phrase != "" {
			q.Phrases = append(q.Phrases, phrase)
		}
		s = after
	}
	q.Words = strings.TrimSpace(strings.Join(words, " "))
	return q
}

// Blank reports whether q asks for nothing.
func (q *Query) Blank() bool { return q.text() == "" && len(q.Patterns) == 0 && !q.Filter.Restricts() }

// text returns the words and phrases, which the ranking counts.
func (q *Query) text() string {
	return strings.TrimSpace(q.Words + "\n" + strings.Join(q.Phrases, "\n"))
}

// Role adds the classes of a role to the filter, and reports whether there is such a role. What the model gave to a
// tool is the assistant's, and what the tool answered is the tool's.
func (f *Filter) Role(role string) bool {
	add := func(part Part, all ...index.Class) {
		if had := slices.Contains(f.Classes, index.Tool); part != Both && had && f.Part != part {
			f.Part = Both
		} else if part != Both {
			f.Part = part
		}
		f.Classes = append(f.Classes, all...)
	}
	switch role {
	case "user":
		add(Both, index.User)
	case "assistant":
		add(Given, index.Assistant, index.Tool)
	case "tool":
		add(Answered, index.Tool)
	case "note":
		add(Both, index.Note, index.Summary)
	case "summary":
		add(Both, index.Summary)
	case "plan":
		add(Both, index.PlanSent)
	case "script":
		add(Both, index.Script)
	case "agent":
		add(Both, index.Agent)
	default:
		return false
	}
	return true
}

// exact reports whether the text of a hit must be checked.
func (q *Query) exact() bool { return len(q.Phrases)+len(q.Patterns) > 0 }

// fits reports whether a text contains all phrases and matches all patterns.
func (q *Query) fits(text string) bool {
	for _, p := range q.Phrases {
		if indexFold(text, p) < 0 {
			return false
		}
	}
	for _, re := range q.Patterns {
		if !re.MatchString(text) {
			return false
		}
	}
	return true
}

// Restricts reports whether f excludes anything.
func (f *Filter) Restricts() bool {
	return len(f.Classes)+len(f.Files) > 0 || f.Since != 0 || f.Until != 0 || f.Branch != "" || f.Topic != "" ||
		f.Keepit != nil || len(f.Only) > 0 || len(f.Without) > 0 || f.Requests || f.Pending != 0
}

// A Hit is one result.
type Hit struct {
	Project string
	Session *index.Session // nil if it belongs to none
	Doc     index.Doc      // of a session or file its best message
	Score   float64
	Weight  int    // of the heaviest marker in the message, -1 without one
	Count   int    // messages of the session or file that match, of those that were read
	File    string // of [ByFile]
	Loose   bool   // the text has words of the phrases, but not the phrases
	Context bool   // the text has no word of the query: a message next to it has, or the title of the session

	Passage  Snippet  // the part of the text that answers; if a request matches, of the outcome of its exchange
	Request  string   // of the exchange, in one line; "" if Passage is the request
	From, To int      // messages that Request and Passage come from, if they are near; else of Passage
	Changed  *Change  // the newest edit, of a later exchange, of what an edit wrote; nil if nothing did
	Share    float64  // the part of the query's words, by their rarity, that Passage contains: 0 to 1
	Failure  *Failure // of [Passages]: how a call failed; nil if it did not
}

// A Failure is how a call of a tool failed.
type Failure struct {
	Exit string // its status, "" if none is known
	Said string // the text of the assistant that follows in the exchange, or ""
}

// Results are the answer to a query.
type Results struct {
	Hits    []Hit     // the best first
	Total   int       // without the limit; of a page of messages the exchanges with half of the query by rarity, and at least the hits
	InAll   int       // sessions with these exchanges; 0 if Total counts something else
	AtLeast bool      // Total is a lower bound: not all texts were read
	Phrase  string    // the phrase of the question by which the time was restricted
	AnyTime bool      // nothing was found at the time of Phrase: the hits are of any time
	Missing []Unknown // words of the query that are in no text of the projects
}

// An Unknown is a word that is in no text, with the words of texts that are nearest to it.
type Unknown struct {
	Word     string   `json:"word"`
	Near     []string `json:"near"`
	Searched string   `json:"searched,omitempty"` // what was searched for instead
	longer   bool     // it is an identifier, and a part of longer ones
}

// Notes says in sentences how the query was read: as a time, and without the words that are in no text of a place, such
// as "project shop".
func (r Results) Notes(place string) (out []string) {
	no := "no searched text"
	if place != "" {
		no += " of " + place
	}
	switch phrase := strconv.Quote(r.Phrase); {
	case r.AnyTime:
		out = append(out, "no match was written "+phrase+": searched any time")
	case r.Phrase != "" && len(r.Hits) == 0:
		out = append(out, "nothing was written "+phrase)
	case r.Phrase != "":
		out = append(out, "only what was written "+phrase)
	}
	for _, u := range r.Missing {
		text := no + " contains " + strconv.Quote(u.Word)
		for i, w := range u.Near {
			text += []string{" (nearest: ", ", "}[min(i, 1)] + strconv.Quote(w)
		}
		if len(u.Near) > 0 {
			text += ")"
		}
		if u.Searched != "" && len(r.Hits) > 0 {
			text += ": searched for " + u.Searched
		}
		out = append(out, text)
	}
	return out
}

// Time returns the time of the text; the zero time if its record has none, like a title.
func (h Hit) Time() time.Time {
	if h.Doc.Time <= 0 {
		return time.Time{}
	}
	return time.Unix(h.Doc.Time, 0)
}

// indexFold is strings.Index without regard to case, and treats every run of blanks as one.
func indexFold(s, sub string) int {
	return strings.Index(fold(s), fold(sub))
}

func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
