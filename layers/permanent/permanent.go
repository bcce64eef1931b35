// Package permanent contains the permanent rules of a project: the fourth layer, after Reflection.
//
// A [Rule] is an instruction to follow (rule), the solution of a recurring problem (solution), or a description of
// how the core of the project works (core_logic). No rule is made automatically. [Candidates] searches the facts of
// many sessions for rules to add or to withdraw, each with its evidence, and the reader, the user or Claude,
// promotes or dismisses them.
//
// Memory can be poisoned: a README that says "always run this" is not the user. Therefore:
//
//   - A rule is trusted no more than the least trusted fact in its evidence.
//   - Text of tools, files, the web or scripts is no evidence, and no rule until the user confirms it.
//   - A statement repeated in one conversation, or in copies of it, counts once.
//   - Only the user removes a rule that the user stated.
//
// A [Set] is folded by [Fold] from statements, in any order of arrival. A later statement can undo every act.
package permanent

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/objects"
)

// The types of rules.
const (
	IsRule     = "rule"
	IsSolution = "solution"
	IsCore     = "core_logic"
)

// Types returns the types of rules.
func Types() []string { return []string{IsRule, IsSolution, IsCore} }

// The states of rules.
const (
	Proposed = "proposed" // waits for somebody's word
	Active   = "active"
	Review   = "review" // contradicted twice, or asked for: it may not hold any more
	Retired  = "retired"
)

// States returns the states of rules.
func States() []string { return []string{Proposed, Active, Review, Retired} }

// The kinds of records that [Fold] reads.
const (
	Kind        = "rule"       // a [Made]
	KindAct     = "rule-act"   // an [Act]
	KindReflect = "reflection" // a [Reflection]
)

// A Word is a sentence that the user typed in a message of a session.
type Word struct {
	Session string    `json:"session"`
	Message int       `json:"message"`
	Quote   string    `json:"quote"`
	Time    time.Time `json:"time,omitzero"`
}

// A Made says that there is a rule; its record names it.
type Made struct {
	Type       string      `json:"type"`
	Text       string      `json:"text"`
	Problem    string      `json:"problem,omitempty"` // that a solution solves; the feature that core logic is of
	Files      []string    `json:"files,omitempty"`
	Evidence   []string    `json:"evidence,omitempty"` // keys of facts
	Words      []Word      `json:"words,omitempty"`
	ByUser     bool        `json:"by_user,omitempty"` // the user typed the command
	Trust      facts.Trust `json:"trust"`             // at most: of the one who put it into words
	Confidence int         `json:"confidence"`        // hundredths
	State      string      `json:"state"`             // proposed or active
	Candidate  string      `json:"candidate,omitempty"`
	Reason     string      `json:"reason,omitempty"`
}

// What an act does to a rule.
const (
	Promote    = "promote"    // it holds
	Validate   = "validate"   // it was seen to hold
	Contradict = "contradict" // it was seen not to hold
	Retire     = "retire"     // it holds no more
	Question   = "review"     // somebody should look at it
	Dismiss    = "dismiss"    // of a candidate: it is none
	Void       = "void"       // of the record of a rule or an act: it counts as not said
	Restore    = "restore"    // of the same: it counts again
)

// An Act is something that was done to a rule, or to a candidate.
type Act struct {
	Rule     string `json:"rule"` // name of its record, or id of a candidate; of a void act the record that is void
	Act      string `json:"act"`
	Evidence string `json:"evidence,omitempty"` // key of a fact
	Word     *Word  `json:"word,omitempty"`
	ByUser   bool   `json:"by_user,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// A Reflection records that the candidates were shown.
type Reflection struct {
	Seen       int            `json:"seen"` // how many statements about facts there were
	Candidates int            `json:"candidates"`
	Engine     string         `json:"engine,omitempty"`    // that was shown them; "" is whoever used the command
	Witnesses  []objects.Hash `json:"witnesses,omitempty"` // what it was asked and answered
	Sessions   []string       `json:"sessions,omitempty"`  // whose words are in them
}

// A Rule is something that a project knows for good.
type Rule struct {
	ID      string `json:"id"` // r: and the first digits of its record
	Record  string `json:"record"`
	Device  string `json:"device"`
	Type    string `json:"type"`
	Text    string `json:"text"`
	Problem string `json:"problem,omitempty"`

	Files          []string    `json:"files"`
	Confidence     int         `json:"confidence"` // hundredths
	Contradictions int         `json:"contradictions"`
	Made           time.Time   `json:"made"`
	LastValidated  time.Time   `json:"last_validated"`
	Trust          facts.Trust `json:"trust"`
	Stated         bool        `json:"stated"`   // by the user: only they take it away
	Evidence       []string    `json:"evidence"` // ids of facts
	Words          []Word      `json:"words,omitempty"`
	State          string      `json:"state"`
	Reason         string      `json:"reason,omitempty"` // of what was done last
	Candidate      string      `json:"candidate,omitempty"`
	// somebody who was not the user wanted a rule gone that the user stated
	Removal bool `json:"removal_proposed,omitempty"`
	// why it is hidden: too little is left of what it rests on
	Revoked string `json:"revoked,omitempty"`
	// facts and words that come from sources that were revoked
	Lost int `json:"lost_evidence,omitempty"`

	keys    []string        // of the evidence
	against map[string]bool // what was said against it, by fact or by act
}

// Holds reports whether the rule is to be held to. One that the user stated holds while it is reviewed: only
// they end it.
func (r *Rule) Holds() bool {
	return r.Revoked == "" && (r.State == Active || r.State == Review && r.Stated)
}

// Against reports whether a fact was counted as a contradiction of the rule.
func (r *Rule) Against(key string) bool { return r.against[key] }

// A Set is what a project knows for good, and what was said about that.
type Set struct {
	Rules       []*Rule // in the order in which they were made
	Reflected   int     // the most statements about facts that a reflection has seen
	ReflectedAt time.Time

	dismissed map[string]bool // candidates
}

// In returns the rules in any of the states, without those that are hidden.
func (s *Set) In(states ...string) []*Rule {
	var out []*Rule
	for _, r := range s.Rules {
		if r.Revoked == "" && slices.Contains(states, r.State) {
			out = append(out, r)
		}
	}
	return out
}

// Find returns the rules that name may stand for: the start of an id, with or without its r:.
func (s *Set) Find(name string) []*Rule {
	digits := strings.TrimPrefix(strings.ToLower(name), "r:")
	if len(digits) < 4 || strings.Trim(digits, "0123456789abcdef") != "" {
		return nil
	}
	var out []*Rule
	for _, r := range s.Rules {
		if strings.HasPrefix(r.Record, digits) {
			out = append(out, r)
		}
	}
	return out
}

// Same returns the rule that says the same in the same letters, whatever its state; nil if there is none.
func (s *Set) Same(text string) *Rule {
	key := squash(text)
	for _, r := range s.Rules {
		if squash(r.Text) == key {
			return r
		}
	}
	return nil
}

// Rule returns the rule of a record, nil if there is none.
func (s *Set) Rule(record string) *Rule {
	for _, r := range s.Rules {
		if r.Record == record {
			return r
		}
	}
	return nil
}

// Would returns the rule that a statement would make at a time. It has no id.
func Would(m Made, known *facts.Set, now time.Time) (*Rule, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	set, err := Fold([]Record{{Kind: Kind, ID: strings.Repeat("0", 64), Time: now, Body: b}}, known, nil, nil)
	if err != nil {
		return nil, err
	}
	set.Rules[0].ID, set.Rules[0].Record = "", ""
	return set.Rules[0], nil
}

// Saying returns the sentences of a message that speak of a text, and whether they say it: most words of the
// text must be in them, and they must not deny it, unless whoever asks wants to know whether they speak against
// it.
func Saying(message, text string, against bool) (quote string, ok bool) {
	want, denies := words(text)
	var said, own []string
	for _, s := range sentences(message) {
		if have, _ := words(s.own); shared(have, want) > 0 && !isQuestion(s.text) {
			said, own = append(said, s.text), append(own, s.own)
		}
	}
	quote = strings.Join(said, " ")
	have, no := words(strings.Join(own, " "))
	return quote, len(want) > 0 && 5*shared(have, want) >= 3*len(want) && (against || no == denies)
}

// Added returns the words of a text that others do not have in any form, but for those that add nothing: what
// is to be the word of somebody has none that they did not say. Words of scripts that write their endings to
// them are not looked at.
func Added(said []string, text string) []string {
	have, _ := words(strings.Join(said, " . "))
	var out []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	}) {
		stems, _ := words(w)
		for _, x := range stems {
			if x != "" && !wide(w) && !slices.ContainsFunc(have, func(y string) bool { return forms(x, y) }) &&
				!slices.Contains(addsNothing(), strings.ToLower(w)) && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// forms reports whether two stems are of forms of one word: commit, committ(ing).
func forms(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || a != "" && b == a+a[len(a)-1:]
}

func addsNothing() []string {
	return []string{"each", "every", "any", "when", "whenever", "while", "use", "using", "used", "project", "repository",
		"repo", "here", "our", "my", "your", "they", "them", "which", "please"}
}

// Bears reports whether texts that were established say what another text says, in most of its words: who puts
// a rule into words of their own may not put something else into it. One text must deny it if it denies
// something; of several each may deny something of its own, but what they say nobody may deny, nor say what
// they deny.
func Bears(established []string, text string) bool {
	want, denies := words(text)
	have, no := words(strings.Join(established, " . "))
	if len(want) == 0 || 5*shared(have, want) < 3*len(want) {
		return false
	}
	if len(established) < 2 {
		return no == denies
	}
	var theirs []string
	for _, e := range established {
		theirs = append(theirs, clauses(e)...)
	}
	return !slices.ContainsFunc(clauses(text), func(c string) bool { return contrary(c, theirs) })
}

// clauses are the parts of a text that each may deny something of its own.
func clauses(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",;:.!?()，、；：。！？\n", r) })
}

// contrary reports whether the clauses that have the most words of another one, and most of its words, all say
// the contrary of it.
func contrary(clause string, theirs []string) bool {
	mine, denies := words(clause)
	best, other := 0, false
	for _, t := range theirs {
		some, no := words(t)
		switch n := shared(some, mine); {
		case n > best:
			best, other = n, no != denies
		case n == best:
			other = other && no != denies
		}
	}
	return other && 5*best >= 3*len(mine)
}
