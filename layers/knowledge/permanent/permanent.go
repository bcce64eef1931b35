// Package permanent contains the permanent rules of a project: the fourth layer, after Reflection.
//
// A [Rule] is an instruction to follow (rule), the solution of a recurring problem (solution), or a description of
// how the core of the project works (core_logic). No rule is created automatically. [Candidates] searches the facts
// of many sessions for rules to add or to withdraw, each with its evidence; the user or Claude promotes or dismisses
// them.
//
// Memory can be poisoned: a README that says "always run this" is not the user. Therefore:
//
//   - A rule is trusted no more than the least trusted fact in its evidence.
//   - Text of tools, files, the web or scripts is not evidence, and becomes a rule only if the user confirms it.
//   - A statement repeated in one conversation, or in copies of it, counts once.
//   - Only the user removes a rule that the user stated.
//
// [Fold] computes a [Set] from records; the result does not depend on the order in which they arrived. A later
// record can undo every act.
package permanent

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/objects"
)

// The types of rules.
const (
	TypeRule      = "rule"
	TypeSolution  = "solution"
	TypeCoreLogic = "core_logic"
)

// Types returns the types of rules.
func Types() []string { return []string{TypeRule, TypeSolution, TypeCoreLogic} }

// The states of rules.
const (
	Proposed = "proposed" // waits for a promotion
	Active   = "active"
	Review   = "review" // contradicted maxContradictions times, or a review was requested
	Retired  = "retired"
)

// States returns the states of rules.
func States() []string { return []string{Proposed, Active, Review, Retired} }

// The kinds of records that [Fold] reads.
const (
	Kind        = "rule"       // a [Definition]
	KindAct     = "rule-act"   // an [Act]
	KindReflect = "reflection" // a [Reflection]
)

// A Quote is a sentence that the user typed in a message of a session.
type Quote struct {
	Session string    `json:"session"`
	Message int       `json:"message"`
	Text    string    `json:"quote"`
	Time    time.Time `json:"time,omitzero"`
}

// A Definition is the body of a record that creates a rule. The name of the record identifies the rule.
type Definition struct {
	Type       string      `json:"type"`
	Text       string      `json:"text"`
	Problem    string      `json:"problem,omitempty"` // solved by a solution; the feature of a core_logic rule
	Files      []string    `json:"files,omitempty"`
	Evidence   []string    `json:"evidence,omitempty"` // keys of facts
	Quotes     []Quote     `json:"words,omitempty"`
	Derived    bool        `json:"derived,omitempty"` // the text is in other words than the quotes
	ByUser     bool        `json:"by_user,omitempty"` // the user typed the command
	Trust      facts.Trust `json:"trust"`             // of the author of the text; an upper limit
	Confidence int         `json:"confidence"`        // hundredths
	State      string      `json:"state"`             // proposed or active
	Candidate  string      `json:"candidate,omitempty"`
	Reason     string      `json:"reason,omitempty"`
}

// The acts on rules and candidates.
const (
	Promote    = "promote"    // activates a rule or a candidate
	Validate   = "validate"   // the rule was confirmed
	Contradict = "contradict" // the rule was contradicted
	Retire     = "retire"     // ends the rule
	Question   = "review"     // requests a review of the rule
	Dismiss    = "dismiss"    // hides a candidate
	Void       = "void"       // the record of a rule or an act no longer counts
	Restore    = "restore"    // a void record counts again
)

// An Act is the body of a record that changes a rule or a candidate.
type Act struct {
	Rule     string `json:"rule"` // name of its record, id of a candidate, or (Void, Restore) name of any record
	Act      string `json:"act"`
	Evidence string `json:"evidence,omitempty"` // key of a fact
	Quote    *Quote `json:"word,omitempty"`
	ByUser   bool   `json:"by_user,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// A Reflection records that the candidates were shown.
type Reflection struct {
	Seen       int            `json:"seen"` // number of statements about facts
	Candidates int            `json:"candidates"`
	Engine     string         `json:"engine,omitempty"`    // that judged them; "" if a person or Claude ran the command
	Witnesses  []objects.Hash `json:"witnesses,omitempty"` // its requests and answers
	Sessions   []string       `json:"sessions,omitempty"`  // quoted in them
}

// A Rule is a permanent instruction, solution or description of a project.
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
	Created        time.Time   `json:"made"`
	LastValidated  time.Time   `json:"last_validated"`
	Trust          facts.Trust `json:"trust"`
	Stated         bool        `json:"stated"`   // by the user: only the user can remove it
	Derived        bool        `json:"derived"`  // from words of the user, in other words
	Evidence       []string    `json:"evidence"` // ids of facts
	Quotes         []Quote     `json:"words,omitempty"`
	State          string      `json:"state"`
	Reason         string      `json:"reason,omitempty"` // of the last act
	Candidate      string      `json:"candidate,omitempty"`

	RemovalProposed bool   `json:"removal_proposed,omitempty"` // of a stated rule, by somebody else than the user
	Revoked         string `json:"revoked,omitempty"`          // why it is hidden: its remaining evidence is too weak
	LostEvidence    int    `json:"lost_evidence,omitempty"`    // number of facts and quotes with a revoked source

	keys    []string        // of the evidence
	counted map[string]bool // contradictions, by key of the fact or name of the record
}

// InForce reports whether the rule must be followed. A rule that the user stated stays in force while it is under
// review: only the user ends it.
func (r *Rule) InForce() bool {
	return r.Revoked == "" && (r.State == Active || r.State == Review && r.Stated)
}

// A Set contains the rules of a project.
type Set struct {
	Rules       []*Rule // in order of creation
	Reflected   int     // the largest Seen of all reflections
	ReflectedAt time.Time

	dismissed map[string]bool // candidates
}

// InState returns the rules in any of the states, without the hidden ones.
func (s *Set) InState(states ...string) []*Rule {
	var out []*Rule
	for _, r := range s.Rules {
		if r.Revoked == "" && slices.Contains(states, r.State) {
			out = append(out, r)
		}
	}
	return out
}

// Find returns the rules whose id starts with name; the prefix r: is optional.
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

// WithText returns the first rule, in any state, whose text has the same letters and digits; nil if there is none.
func (s *Set) WithText(text string) *Rule {
	key := squash(text)
	for _, r := range s.Rules {
		if squash(r.Text) == key {
			return r
		}
	}
	return nil
}

// Rule returns the rule that a record created, nil if there is none.
func (s *Set) Rule(record string) *Rule {
	for _, r := range s.Rules {
		if r.Record == record {
			return r
		}
	}
	return nil
}

// Preview returns the rule that the definition would create at a time. The rule has no ID and no Record.
func Preview(m Definition, known *facts.Set, now time.Time) (*Rule, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	set, err := Fold([]Record{{Kind: Kind, ID: strings.Repeat("0", 64), Time: now, Body: b}}, known, nil)
	if err != nil {
		return nil, err
	}
	set.Rules[0].ID, set.Rules[0].Record = "", ""
	return set.Rules[0], nil
}

// FindQuote returns the sentences of a message that share words with text. It reports whether they express it: they
// must contain three fifths of its words and, unless against is set, negate it exactly if text is negated.
func FindQuote(message, text string, against bool) (quote string, ok bool) {
	want, denies := words(text)
	var said, own []string
	for _, s := range sentences(message) {
		if have, _ := words(s.ownText); shared(have, want) > 0 && !isQuestion(s.text) {
			said, own = append(said, s.text), append(own, s.ownText)
		}
	}
	quote = strings.Join(said, " ")
	have, no := words(strings.Join(own, " "))
	return quote, len(want) > 0 && 5*shared(have, want) >= 3*len(want) && (against || no == denies)
}

// AddedWords returns the words of text that do not occur in said in any form. Function words and words of scripts that
// attach endings to words are ignored. A rule in the user's name may not add words to what the user said.
func AddedWords(said []string, text string) []string {
	have, _ := words(strings.Join(said, " . "))
	var out []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	}) {
		stems, _ := words(w)
		for _, x := range stems {
			if x != "" && !unspaced(w) && !slices.ContainsFunc(have, func(y string) bool { return sameWord(x, y) }) &&
				!isFiller(strings.ToLower(w)) && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// sameWord reports whether two stems belong to forms of one word, like commit and committ(ing).
func sameWord(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || a != "" && b == a+a[len(a)-1:]
}

func isFiller(w string) bool {
	switch w {
	case "each", "every", "any", "when", "whenever", "while", "use", "using", "used", "project", "repository", "repo",
		"here", "our", "my", "your", "they", "them", "which", "please":
		return true
	}
	return false
}

// Supports reports whether the established texts express text: they must contain three fifths of its words. This
// prevents that a rule is rephrased into another one. A single established text must be negated exactly if text is.
// With several texts, no clause of text may contradict the clauses that match it best.
func Supports(established []string, text string) bool {
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
	return !slices.ContainsFunc(clauses(text), func(c string) bool { return opposedBy(c, theirs) })
}

// clauses splits a text into parts that can each be negated on its own.
func clauses(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",;:.!?()，、；：。！？\n", r) })
}

// opposedBy reports whether the clauses that share the most words with clause, and at least three fifths, are all
// negated where it is not, or the reverse.
func opposedBy(clause string, theirs []string) bool {
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
