// Package permanent contains the permanent rules of a project: the fourth layer, after Reflection.
//
// A [Rule] is an instruction to follow (rule), the solution of a recurring problem (solution), or a description of
// how the core of the project works (core_logic). No rule is created automatically. [Candidates] are what the user asked
// for or corrected in several sessions, and rules to look at; what several sessions established is proposed by a reader of their facts ([FromPattern]).
// Code compares words, a reader compares meanings: a rule in other words than its evidence is derived, and only proposed.
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
//
// What a user typed is searched for the sentences that ask for something for ever ("always sign commits", "from now on use
// pnpm"), and those that correct what the model did ([FindRequests], [Corrections]). A text is not the user's because it stands
// in the user's message: what is quoted, pasted, code or in tags is left out, and so is a question. It is the user's only if it
// has the user's words ([Verbatim]).
package permanent

import (
	"slices"
	"strings"
	"time"

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
	Device  string `json:"deviceId"`
	Type    string `json:"type"`
	Text    string `json:"text"`
	Problem string `json:"problem,omitempty"`

	Files          []string    `json:"files"`
	Confidence     int         `json:"confidence"` // hundredths
	Contradictions int         `json:"contradictions"`
	Created        time.Time   `json:"createdAt"`
	LastValidated  time.Time   `json:"lastValidated"`
	Trust          facts.Trust `json:"trust"`
	Stated         bool        `json:"statedByUser"` // by the user: only the user can remove it
	Derived        bool        `json:"derived"`      // from words of the user, in other words
	Evidence       []string    `json:"evidence"`     // ids of facts
	Quotes         []Quote     `json:"words,omitempty"`
	State          string      `json:"state"`
	Reason         string      `json:"reason,omitempty"` // of the last act
	Candidate      string      `json:"candidate,omitempty"`

	Revoked      string `json:"revoked,omitempty"`      // why it is hidden: its remaining evidence is too weak
	LostEvidence int    `json:"lostEvidence,omitempty"` // number of facts and quotes with a revoked source

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

// InForce returns the rules that must be followed.
func (s *Set) InForce() []*Rule {
	return slices.DeleteFunc(slices.Clone(s.Rules), func(r *Rule) bool { return !r.InForce() })
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
	key := letters(text)
	for _, r := range s.Rules {
		if letters(r.Text) == key {
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
func Preview(m Definition, known *facts.Set, now time.Time) *Rule {
	r := m.newRule(facts.Record{Time: now}, byKey(known), func(string) string { return "" })
	r.ID = ""
	return r
}

// wordTrust returns who vouches for the words of a fact: the user only if they are the user's words, or confirmed.
func wordTrust(x facts.Fact) facts.Trust {
	own := func(e facts.Evidence) bool { return letters(e.Quote) == letters(x.Text) }
	if t := x.StatementTrust(); t < facts.User || x.Confirmed || slices.ContainsFunc(x.Evidence, own) {
		return t
	}
	return facts.Assistant
}

// Basis returns the trust of a rule with a text that rests on facts: that of the least trusted, and at most that of the
// model if the text is in other words than each of them.
func Basis(text string, evidence []facts.Fact) (trust facts.Trust, derived bool) {
	trust, derived = facts.User, true
	for _, f := range evidence {
		trust = min(trust, wordTrust(f))
		derived = derived && letters(f.Text) != letters(text)
	}
	if derived {
		trust = min(trust, facts.Assistant)
	}
	return trust, derived
}
